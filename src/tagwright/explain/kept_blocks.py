"""Finished blocks of deletions in a folder, so that a killed run goes on; those of other texts are
thrown away.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from scipy.sparse import csr_array

from tagwright.arrays import Bools, Numbers
from tagwright.errors import ModelError
from tagwright.explain.deletion import Falls
from tagwright.inference.model import Model
from tagwright.settings.inference import choice_dict
from tagwright.storage.files import replaced, write_text
from tagwright.tokenizers.words_of import WordTokens

FORMAT = 1


class KeptBlocks:
    """Keeps what was found in `folder`, or nowhere if that is None. A fingerprint that differs
    starts anew.

    With `same` it is an error.
    """

    def __init__(self, folder: Path | None, fingerprint: str | None, *, same: bool = False) -> None:
        self.folder, self.taken_over = folder, 0
        if folder is None:
            return
        about = folder / "about.json"
        if about.exists() and about.read_text(encoding="utf-8") == str(fingerprint):
            return
        if about.exists() and same:
            raise ModelError(
                f"{folder} is of another model, other texts or settings; give those, or start over"
                " with --overwrite"
            )
        remove_blocks(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_text(about, str(fingerprint))

    def texts(self, look: Callable[[], tuple[Bools, csr_array]]) -> tuple[Bools, csr_array]:
        """What `look` finds, or found in the earlier run: a GPU need not give the same bits
        again.
        """
        if self.folder is None:
            return look()
        path = self.folder / "texts.npz"
        if not path.exists():
            selected, full = look()
            csr = {
                "data": full.data,
                "indices": full.indices,
                "indptr": full.indptr,
                "shape": np.array(full.shape),
            }
            _save(path, selected=selected, **csr)
        with np.load(path) as kept:
            parts = kept["data"], kept["indices"], kept["indptr"]
            return kept["selected"], csr_array(parts, shape=tuple(kept["shape"].tolist()))

    def finished(self, blocks: int) -> dict[int, Falls]:
        """The blocks that were kept, by their number."""
        found: dict[int, Falls] = {}
        for number in range(blocks if self.folder is not None else 0):
            path = self._path(number)
            if path.exists():
                with np.load(path) as kept:
                    arrays = [kept[name] for name in Falls._fields]
                found[number] = Falls(*arrays[:4], *(int(count) for count in arrays[4:]))
        self.taken_over = sum(part.copies for part in found.values())
        return found

    def keep(self, number: int, falls: Falls) -> None:
        """Write a block; it is there as a whole or not at all."""
        if self.folder is not None:
            _save(
                self._path(number),
                **{name: np.asarray(value) for name, value in falls._asdict().items()},
            )

    def _path(self, number: int) -> Path:
        return Path(str(self.folder)) / f"block-{number:06d}.npz"


def remove_blocks(folder: Path) -> None:
    """Remove what was kept, and the folder unless there is something else in it."""
    if not folder.is_dir():
        return
    for pattern in ("about.json", "texts.npz", "block-*.npz", "*.part"):
        for path in folder.glob(pattern):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def fingerprint(
    model: Model, words: WordTokens, labels: pa.ChunkedArray, about: Mapping[str, object]
) -> str:
    """A digest of the weights, the decision, the texts and what is asked."""
    device = next(model.network.parameters()).device.type
    stated = {
        **about,
        "device": device,
        "format": FORMAT,
        "model": [model.inference.as_dict(), choice_dict(model.primary.part)],
    }
    digest = hashlib.sha256(json.dumps(stated, sort_keys=True).encode())
    digest.update(repr(vars(model.primary.decision)).encode())
    for name, tensor in model.network.state_dict().items():
        digest.update(
            name.encode() + tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        )
    for array in (*words.tokens, words.word_of, words.place):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update("\0".join(words.words).encode())
    digest.update(json.dumps(labels.to_pylist()).encode())
    return digest.hexdigest()


def _save(path: Path, **arrays: Numbers) -> None:
    with replaced(path) as aside, aside.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]

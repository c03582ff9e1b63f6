"""The words that labels depend on, found in data by a model in a folder, and which labels they
excuse; as a file.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array

from tagwright.data import Data
from tagwright.data.split import split as split_data
from tagwright.errors import SettingsError
from tagwright.explain.dependencies import FoundElements, find_elements
from tagwright.explain.kept_blocks import remove_blocks
from tagwright.inference.data_for_model import known_rows, labelled_rows, read_for_model
from tagwright.inference.model import Model
from tagwright.labels.suggest import SimilarLabels
from tagwright.masks.dependencies import excused, write_elements
from tagwright.pipelines.groups import (
    ELEMENTS,
    GroupOptions,
    asked_model,
    check_out,
    checked_options,
)
from tagwright.storage.lock import holds_files, locked, require_free

THRESHOLD = 0.5
PAIRS = 20  # that JSON lists


@dataclass(frozen=True, kw_only=True)
class ElementGroups:
    """What was found where. Of a pair the left label is gold in `texts` texts that excuse the right
    one.
    """

    how: str
    split: str
    threshold: float
    select: str
    label_count: int
    found: FoundElements
    pairs: list[SimilarLabels]
    excusing: int  # texts that excuse a label
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        names = ("how", "split", "threshold", "select", "label_count", "excusing", "warnings")
        return {
            "by": ELEMENTS,
            **{name: getattr(self, name) for name in names},
            **self.found.as_dict(),
            "elements": [row._asdict() for row in self.found.elements],
            "pairs": [pair._asdict() for pair in self.pairs[:PAIRS]],
        }


def find_element_groups(
    source: str,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    options: Mapping[str, object],
    progress: Callable[[int, int], None] = lambda done, total: None,
    **columns: str | None,
) -> ElementGroups:
    """Find elements and write them to `out`, if given; until then what is done is kept beside it.
    None is an error.
    """
    given: GroupOptions = {
        "split": "train",
        "threshold": THRESHOLD,
        "select": "correct",
        **checked_options(ELEMENTS, options),
    }
    check_out(out, ".csv", overwrite=overwrite)
    resume = bool(given.get("resume"))
    blocks = _blocks(out, resume=resume, overwrite=overwrite)
    model = asked_model(given)
    data, warnings = _with_split(
        read_for_model(model, source, columns).alone(model.first), model, given["split"]
    )
    name, table = labelled_rows(data, given["split"])
    known_rows(model.primary.space, table, source)  # refuses a model of other labels
    threshold, select = given["threshold"], given["select"]
    with nullcontext() if blocks is None else locked(blocks):
        check_out(out, ".csv", overwrite=overwrite)  # another run may have ended since
        if blocks is not None and not resume:
            remove_blocks(blocks)
        found = find_elements(
            model,
            table,
            threshold=threshold,
            select=select,
            progress=progress,
            folder=blocks,
            same=resume,
        )
        if out is not None and len(found.elements):
            write_elements(out, found.elements)
        if blocks is not None:
            remove_blocks(blocks)
    _require_some(found, threshold)
    pairs, excusing = _pairs(model, table, found)
    return ElementGroups(
        how=(
            f"that fall by more than {threshold} without a word, by {given['model']} on"
            f" {name} of {source}"
        ),
        split=name,
        threshold=threshold,
        select=select,
        label_count=len(model.primary.space),
        found=found,
        pairs=pairs,
        excusing=excusing,
        warnings=warnings,
    )


def _require_some(found: FoundElements, threshold: float) -> None:
    if not len(found.elements):
        raise SettingsError(
            f"no label of the {found.selected:,} selected texts (of {found.texts:,}) falls by more"
            f" than {threshold} without a word; lower --threshold, or take --select all"
        )


def _blocks(out: Path | None, *, resume: bool, overwrite: bool) -> Path | None:
    """The folder for what is done so far; an unfinished run is gone on with, or replaced, only if
    that is asked for.
    """
    if out is None:
        if resume:
            raise SettingsError(
                "--resume goes on with a file that was under way; name it with --out"
            )
        return None
    folder = out.with_name(f".{out.name}.blocks")
    require_free(folder)
    if holds_files(folder) and not (resume or overwrite):
        raise SettingsError(
            f"an unfinished run stands in {folder}; go on with --resume, start over with"
            " --overwrite, or delete it"
        )
    return folder


def _with_split(data: Data, model: Model, split: str) -> tuple[Data, tuple[str, ...]]:
    """Where the data have no train or dev, that of the model's training."""
    if split not in ("train", "dev") or split in data.tables:
        return data, ()
    choice = model.record.split
    data = split_data(
        data, dev_share=choice.dev_share, test_share=choice.test_share, seed=choice.seed
    )
    return data, (
        (
            f"{data.source} has no {split}: split as in the model's training; --split takes other"
            " texts"
        ),
    )


def _pairs(model: Model, table: pa.Table, found: FoundElements) -> tuple[list[SimilarLabels], int]:
    """Gold labels and those that their texts excuse, the most frequent first; and how many texts
    excuse any.
    """
    space = model.primary.space
    target = space.encode(table["labels"]).matrix(len(space))
    others = excused(model.tokenizer.encode_words(table["text"]), found.elements, space, target)
    gold = (target > 0).astype(np.int64)
    counts = coo_array(gold.T @ others.astype(np.int64))
    texts = gold.sum(axis=0)
    pairs = [
        SimilarLabels(space.names[left], space.names[right], count, count / texts[left])
        for left, right, count in zip(*(c.tolist() for c in counts.coords), counts.data.tolist())
    ]
    pairs.sort(key=lambda pair: (-pair.texts, -pair.rate, pair.left, pair.right))
    return pairs, int((np.diff(others.indptr) > 0).sum())

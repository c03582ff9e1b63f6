"""The model folder: what inference needs, a folder per head, weights, tokenizer, and a record of
the training.

Loading reads what inference needs. The settings of the training, as given (`settings.toml`) and as
resolved (`resolved.toml`), are a record: shown and given back, never validated again. Nothing is
pickled. A folder may come from anybody: each file is checked against the manifest, nothing else is
read, and what does not fit is a `ModelError`.
"""

import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file
from torch import Tensor, nn

from tagwright import registry
from tagwright.arrays import Numbers
from tagwright.errors import ModelError
from tagwright.inference.migrate import Migrated, migrated
from tagwright.inference.model import Model, TrainedHead
from tagwright.inference.saved_head import load_head, load_space, save_head
from tagwright.labels.space import LabelSpace
from tagwright.models.build import trained_network
from tagwright.models.device import device_named
from tagwright.models.network import Network
from tagwright.settings.inference import InferenceSettings, Record, choice_of
from tagwright.settings.merge import settings_in
from tagwright.storage import toml
from tagwright.storage.checked import CURE, MANIFEST, SMALL, Sealed, opened, read_small, reason_of
from tagwright.storage.files import followed, left_over, value_of, write_readable_json
from tagwright.storage.folder import written
from tagwright.storage.tensors import Tensors, fill, require_fit
from tagwright.tokenizers import Tokenizer, read_tokenizer
from tagwright.tokenizers.pretrained import OwnPieces

FORMAT = 2
# bytes of what is learnt, for each byte of weights: an n-gram of `bow` has 12 and a weight, of 2
# bytes at least, for each label
LEARNED_SHARE = 8
CARD = "README.md"
WEIGHTS, LEARNED = "model.safetensors", "learned.safetensors"
OF_NETWORK = (WEIGHTS, LEARNED, "tokenizer/", "encoder/")  # what a decision does not change
KNOWN = re.compile(
    r"(inference\.json|(settings|resolved)\.toml|(model|learned)\.safetensors"
    r"|(tokenizer|encoder)/(?!.*\.safetensors$)[^/]+|heads/[^/]+/(head|labels|decision|metrics)\.json)"
)
# by some models only
WANTED = {
    "transformers": "transformers",
    "scikit-learn": "sklearn.linear_model",
}


def save(model: Model, folder: Path, *, card: str, overwrite: bool = False) -> None:
    """Write a model folder that is whole or not there."""
    with written(
        folder, about=_about(model), overwrite=overwrite, free=(CARD,), sealed=_sealed(model)
    ) as aside:
        weights = {
            name: tensor.detach().cpu().contiguous()
            for name, tensor in model.network.state_dict().items()
        }
        save_file(weights, aside / WEIGHTS)
        (aside / "tokenizer").mkdir()
        model.tokenizer.save(aside / "tokenizer")
        _save_learned(model.learned, aside)
        _save_rest(model, card, aside)


def rewrite(model: Model, folder: Path, *, card: str) -> None:
    """Write the folder of this model anew; the files of its network and tokenizer stay as they are.

    It must still be the folder that the network was last read from, or written to.
    """
    with written(
        folder,
        about=_about(model),
        overwrite=True,
        free=(CARD,),
        kept=OF_NETWORK,
        since=model.network.origin,
        sealed=_sealed(model),
    ) as aside:
        _save_rest(model, card, aside)


def load(folder: Path, *, device: str = "cpu", plugins: bool = False) -> Model:
    """Read a model folder onto a device; an altered or missing file is an error.

    A part of another package is imported only if the caller allows `plugins`: a folder that
    somebody else made could otherwise choose which installed code is run.
    """
    if not any(place.is_dir() for place in (folder, left_over(followed(folder)))):
        raise ModelError(f"no model folder {folder}; `tagwright fit DATA --out {folder}` makes one")
    place = device_named(device)
    with _opened(folder) as files:
        old = _old(files)
        inference = (
            old.inference if old else files.made("inference.json", InferenceSettings.from_dict)
        )
        with files.reading(MANIFEST):
            _require_parts(files, inference, plugins=plugins)
        learned, heads = _learned(files), _heads(files, old)
        tokenizer = read_tokenizer(
            lambda name: files.text(f"tokenizer/{name}"), files.folder / "tokenizer"
        )
        network = _network(files, inference, heads, tokenizer, learned)
        record = old.record if old else _record(files)
    return Model(
        inference=inference,
        tokenizer=tokenizer,
        network=network.to(place),
        heads=heads,
        learned=learned,
        record=record,
    )


def load_labels(folder: Path, head: str) -> LabelSpace:
    """The labels of a head of a model, of its first where it has none of this name, without the
    model.
    """
    with _opened(folder) as files:
        heads = files.manifest["heads"]
        return load_space(files, head if head in heads else heads[0])


def load_card(folder: Path) -> str:
    """The model card, which a person may have changed or removed."""
    folder = followed(folder)
    for place in (folder, left_over(folder), folder):
        with suppress(FileNotFoundError):
            return read_small(place / CARD).decode("utf-8", errors="replace")
    return ""


def versions() -> dict[str, str]:
    """What the figures of a model depend on."""
    found = {"python": platform.python_version()}
    used = [package for package, module in WANTED.items() if module in sys.modules]
    for package in ("tagwright", "torch", "numpy", "scipy", "tokenizers", "pyarrow", *used):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree
            continue
    return found


RECORD = {"given": "settings", "resolved": "resolved"}


def _sealed(model: Model) -> Callable[[str], None]:
    """What notes which folder the network belongs to, once that is written."""
    return lambda digest: setattr(model.network, "origin", digest)


def _about(model: Model) -> dict[str, object]:
    named = [("encoders", model.inference.encoder.name)]
    for head in model.heads.values():
        named += [("heads", head.part.name), ("decisions", head.rule)]
    packages = {
        f"{kind}.{name}": package
        for kind, name in named
        if (package := registry.third_party(kind, name))
    }
    about = {"format": FORMAT, "versions": versions(), "heads": list(model.heads)}
    return {**about, "packages": packages} if packages else about


def _save_rest(model: Model, card: str, folder: Path) -> None:
    """All but the network and its tokenizer."""
    write_readable_json(folder / "inference.json", model.inference.as_dict())
    for name, file in RECORD.items():
        values = toml.without_none(getattr(model.record, name))
        (folder / f"{file}.toml").write_text(toml.dumps(values), encoding="utf-8")
    (folder / CARD).write_text(card, encoding="utf-8")
    for name, head in model.heads.items():
        save_head(head, folder / "heads" / name)


def _save_learned(learned: Mapping[str, Numbers], folder: Path) -> None:
    """Arrays in one file; the bytes of what has a file's name, such as config.json, as that file in
    `encoder/`.
    """
    files = {name: array for name, array in learned.items() if "." in name}
    arrays = {name: array for name, array in learned.items() if name not in files}
    if arrays:
        save_arrays(arrays, folder / LEARNED)
    for name, array in files.items():
        (folder / "encoder").mkdir(exist_ok=True)
        (folder / "encoder" / name).write_bytes(array.tobytes())


@contextmanager
def _opened(folder: Path) -> Iterator[Sealed]:
    """The files of a model folder, after its manifest was looked at."""
    with opened(folder, known=lambda name: KNOWN.fullmatch(name) is not None) as files:
        number, heads = files.manifest.get("format"), files.manifest.get("heads")
        if type(number) is not int or number not in (1, FORMAT):
            raise ModelError(
                f"{folder} has format {number!r:.99}, this version reads {FORMAT}; update tagwright"
            )
        if number == 1 and "inference.json" in files.manifest["sha256"]:
            raise ModelError(
                f"{folder / MANIFEST} states format 1, but the folder has files of a later format;"
                " make the folder anew"
            )
        if (
            not isinstance(heads, list)
            or {type(name) for name in heads} != {str}
            or len(set(heads)) < len(heads)
        ):
            raise ModelError(
                f"{folder / MANIFEST} must name the heads of the model; make the folder anew"
            )
        yield files


def _old(files: Sealed) -> Migrated | None:
    """What a folder of format 1 does not say."""
    if files.manifest["format"] > 1:
        return None
    with files.reading("settings.toml"):
        return migrated(files.text("settings.toml"))


def _require_parts(files: Sealed, inference: InferenceSettings, *, plugins: bool) -> None:
    """Refuse parts that are not installed, and those of other packages unless allowed; nothing of
    them is imported.
    """
    folder, manifest = files.folder, files.manifest
    named = [("encoders", inference.encoder.name)]
    for head in manifest["heads"]:
        named.append(
            (
                "decisions",
                files.made(
                    f"heads/{head}/decision.json", lambda found: value_of(found, "rule", str)
                ),
            )
        )
        if manifest["format"] > 1:
            named.append(
                (
                    "heads",
                    files.made(
                        f"heads/{head}/head.json", lambda found: choice_of(found["part"])
                    ).name,
                )
            )
    for kind, name in named:
        what, package = f"{registry.kind_of(kind).title} {name!r}", registry.third_party(kind, name)
        if name not in registry.names(kind):
            whose = manifest.get("packages", {}).get(f"{kind}.{name}")
            cure = (
                f"of the package {whose}, which is not installed"
                if whose
                else "that this version does not have"
            )
            raise ModelError(f"{folder} needs the {what} {cure}")
        if package is not None and not plugins:
            raise ModelError(
                f"{folder} uses the {what} of the package {package}, and loading it runs that"
                " package's code; if you trust the folder, allow it with --allow-plugins, in"
                " Python with plugins=True"
            )


def _learned(files: Sealed) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    if LEARNED in files.tensors:
        tensors: Tensors[Numbers] = Tensors(files.opened(LEARNED), "np")
        size, most = files.size(LEARNED), SMALL + LEARNED_SHARE * files.size(WEIGHTS)
        if size > most:
            raise ModelError(
                f"{tensors.path} has {size:,} bytes, and no more than {most:,} belong beside these"
                f" weights; {CURE}"
            )
        files.check(LEARNED)
        found = tensors.content()
    named = {name: content for name, content in files.texts.items() if name.startswith("encoder/")}
    return found | {
        Path(name).name: np.frombuffer(content, np.uint8) for name, content in named.items()
    }


def _heads(files: Sealed, old: Migrated | None) -> dict[str, TrainedHead]:
    names: list[str] = files.manifest["heads"]
    if old is None:
        return {name: load_head(files, name, None) for name in names}
    return {
        name: load_head(files, name, old.head(name)) for name in sorted(names, key="main".__ne__)
    }


def _network(
    files: Sealed,
    inference: InferenceSettings,
    heads: Mapping[str, TrainedHead],
    tokenizer: Tokenizer,
    learned: Mapping[str, Numbers],
) -> Network:
    """The network with its weights. It is made only if these have room for it, and they are read
    only if they fit.
    """
    weights: Tensors[Tensor] = Tensors(files.opened(WEIGHTS), "pt")
    shapes = [form.shape for form in weights.forms.values()]
    try:
        made = {name: head.labelled() for name, head in heads.items()}
        network = trained_network(
            inference, made, sizes=tokenizer.sizes, learned=learned, shapes=shapes
        )
        _require_vectors(network, tokenizer)
    except Exception as error:  # whatever a part trips over
        raise ModelError(
            f"{files.folder} cannot be made from its settings: {reason_of(error)}"
        ) from error
    require_fit(network, weights)
    files.check(WEIGHTS)
    fill(network, weights)
    network.origin = files.digest
    return network


def _require_vectors(network: Network, tokenizer: Tokenizer) -> None:
    """Refuse the tokenizer of a pretrained encoder if the encoder has no vectors for some of its
    ids.
    """
    if not isinstance(tokenizer, OwnPieces):
        return
    vectors = network.encoder.word_vectors()
    known = vectors.num_embeddings if isinstance(vectors, nn.Embedding) else tokenizer.sizes[0]
    if tokenizer.largest >= known:
        said = f"ids up to {tokenizer.largest}, the encoder vectors for {known}"
        raise ValueError(f"the tokenizer has {said}; they do not belong together")


def _record(files: Sealed) -> Record:
    found = {}
    for name, file in RECORD.items():
        with files.reading(f"{file}.toml"):
            found[name] = settings_in(files.text(f"{file}.toml"))
    return Record(**found)

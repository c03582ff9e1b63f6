"""The model folder: what inference needs, a folder per head, weights, tokenizer, and a record of the training.

Loading reads what inference needs. The settings of the training, as given (`settings.toml`) and as resolved
(`resolved.toml`), are a record: shown and given back, never validated again. Nothing is pickled.
"""

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file

from tagwright import decide, parts, toml
from tagwright.assemble.device import device_named
from tagwright.assemble.network import trained_network
from tagwright.embed import load_tokeniser
from tagwright.errors import ModelError
from tagwright.folder import named, verified, written
from tagwright.inference import InferenceSettings, Record, choice_dict, choice_of
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, Calibration
from tagwright.merge import read_settings
from tagwright.migrate import migrated
from tagwright.model import Head, Model
from tagwright.plain import plain, without_none

FORMAT = 2
CARD = "README.md"
OF_NETWORK = ("model.safetensors", "learned.safetensors", "tokenizer/", "encoder/")  # what a decision does not change
WANTED = {"transformers": "transformers", "scikit-learn": "sklearn.linear_model"}  # by some models only


def save(model: Model, folder: Path, *, card: str, overwrite: bool = False) -> None:
    """Write a model folder that is whole or not there."""
    with written(folder, about=_about(model), overwrite=overwrite, free=(CARD,)) as aside:
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.network.state_dict().items()}
        save_file(weights, aside / "model.safetensors")
        (aside / "tokenizer").mkdir()
        model.tokeniser.save(aside / "tokenizer")
        _save_learned(model.learned, aside)
        _save_rest(model, card, aside)


def rewrite(model: Model, folder: Path, *, card: str) -> None:
    """Write the folder of this model anew; the files of its network and tokenizer stay as they are."""
    with written(folder, about=_about(model), overwrite=True, free=(CARD,), kept=OF_NETWORK) as aside:
        _save_rest(model, card, aside)


def load(folder: Path, *, device: str = "cpu", plugins: bool = False) -> Model:
    """Read a model folder onto a device; an altered or missing file is an error.

    A part of another package is imported only if the caller allows `plugins`: a folder that somebody else made could
    otherwise choose which installed code is run.
    """
    folder = named(folder)
    if not folder.is_dir() and not folder.with_name(f".{folder.name}.old").is_dir():
        raise ModelError(f"no model folder {folder}; `tagwright fit DATA --out {folder}` makes one")
    manifest, place = verified(folder), device_named(device)
    if manifest.get("format") not in (1, FORMAT):
        raise ModelError(f"{folder} has format {manifest.get('format')}, this version reads {FORMAT}; update tagwright")
    old = migrated(folder) if manifest["format"] == 1 else None
    inference = old.inference if old else InferenceSettings.from_dict(_json(folder / "inference.json"))
    _require_parts(folder, manifest, inference, plugins=plugins)
    learned = _load_learned(folder, manifest["sha256"])
    tokeniser = load_tokeniser(folder / "tokenizer")
    names = sorted(manifest["heads"], key="main".__ne__) if old else manifest["heads"]
    heads = {name: _load_head(folder / "heads" / name, old.head(name) if old else None) for name in names}
    network = trained_network(inference, heads, sizes=tokeniser.sizes, learned=learned)
    network.load_state_dict(load_file(folder / "model.safetensors"))
    return Model(
        inference=inference,
        tokeniser=tokeniser,
        network=network.to(place),
        heads=heads,
        learned=learned,
        record=old.record if old else _record(folder),
    )


def _require_parts(folder: Path, manifest: Mapping[str, Any], inference: InferenceSettings, *, plugins: bool) -> None:
    """Refuse parts that are not installed, and those of other packages unless allowed; nothing of them is imported."""
    named = [("encoders", inference.encoder.name)]
    for head in manifest["heads"]:
        named.append(("decide", _json(folder / "heads" / head / "decision.json")["rule"]))
        if manifest["format"] > 1:
            named.append(("heads", _json(folder / "heads" / head / "head.json")["part"]["name"]))
    for kind, name in named:
        what, package = f"{parts.kind_of(kind).title} {name!r}", parts.third_party(kind, name)
        if name not in parts.names(kind):
            whose = manifest.get("packages", {}).get(f"{kind}.{name}")
            cure = f"of the package {whose}, which is not installed" if whose else "that this version does not have"
            raise ModelError(f"{folder} needs the {what} {cure}")
        if package is not None and not plugins:
            raise ModelError(
                f"{folder} uses the {what} of the package {package}, and loading it runs that package's code; if you "
                "trust the folder, allow it with --allow-plugins, in Python with plugins=True"
            )


def load_labels(folder: Path, head: str) -> LabelSpace:
    """The labels of a head of a model, of its first where it has none of this name, without the model."""
    heads = verified(folder)["heads"]
    return LabelSpace.load(folder / "heads" / (head if head in heads else heads[0]) / "labels.json")


def load_card(folder: Path) -> str:
    """The model card, which a person may have changed or removed."""
    path = folder / CARD
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


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


def _about(model: Model) -> dict[str, Any]:
    named = [("encoders", model.inference.encoder.name)]
    for head in model.heads.values():
        named += [("heads", head.part.name), ("decide", head.rule)]
    packages = {f"{kind}.{name}": package for kind, name in named if (package := parts.third_party(kind, name))}
    about = {"format": FORMAT, "versions": versions(), "heads": list(model.heads)}
    return about | ({"packages": packages} if packages else {})


def _save_rest(model: Model, card: str, folder: Path) -> None:
    """All but the network and its tokenizer."""
    _write_json(folder / "inference.json", model.inference.as_dict())
    for name, file in RECORD.items():
        values = without_none(getattr(model.record, name))
        (folder / f"{file}.toml").write_text(toml.dumps(values), encoding="utf-8")
    (folder / CARD).write_text(card, encoding="utf-8")
    for name, head in model.heads.items():
        _save_head(head, folder / "heads" / name)


def _save_learned(learned: Mapping[str, np.ndarray], folder: Path) -> None:
    """Arrays in one file; the bytes of what has a file's name, such as config.json, as that file in `encoder/`."""
    files = {name: array for name, array in learned.items() if "." in name}
    arrays = {name: array for name, array in learned.items() if name not in files}
    if arrays:
        save_arrays(arrays, folder / "learned.safetensors")
    for name, array in files.items():
        (folder / "encoder").mkdir(exist_ok=True)
        (folder / "encoder" / name).write_bytes(array.tobytes())


def _load_learned(folder: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    files = [name for name in names if name.startswith("encoder/")]
    found = load_arrays(folder / "learned.safetensors") if "learned.safetensors" in names else {}
    return found | {Path(name).name: np.frombuffer((folder / name).read_bytes(), np.uint8) for name in files}


def _save_head(head: Head, folder: Path) -> None:
    folder.mkdir(parents=True)
    head.space.save(folder / "labels.json")
    line = {"calibration": list(head.calibration)} if head.calibration != IDENTITY else {}
    decision = {"rule": head.rule, "link": head.link, **line, **decide.as_dict(head.decision, head.space.names)}
    part = {"part": choice_dict(head.part), "extra_logits": head.extra_logits, "zero": head.zero}
    for name, content in {"head": part, "decision": decision, "metrics": head.metrics}.items():
        _write_json(folder / f"{name}.json", content)


def _load_head(folder: Path, part: Mapping[str, Any] | None) -> Head:
    """The head in a folder; `part` says what an older format does not write."""
    space = LabelSpace.load(folder / "labels.json")
    content, metrics = (_json(folder / f"{name}.json") for name in ("decision", "metrics"))
    rule, link = content.pop("rule"), content.pop("link")
    line = Calibration(*content.pop("calibration", ()))
    decision = decide.loaded(rule, content, space.names)
    if part is None:
        part = _json(folder / "head.json")
        part |= {"part": choice_of(part["part"])}
    return Head(space=space, link=link, rule=rule, decision=decision, metrics=metrics, calibration=line, **part)


def _record(folder: Path) -> Record:
    return Record(**{name: read_settings(folder / f"{file}.toml") for name, file in RECORD.items()})


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(plain(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

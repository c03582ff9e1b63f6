"""The model folder: manifest, resolved settings, a folder a head, weights, tokeniser, card. Nothing is pickled."""

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file

from tagwright import decide, parts
from tagwright.assemble.network import build_network
from tagwright.embed import load_tokeniser
from tagwright.errors import ModelError
from tagwright.folder import named, verified, written
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, Calibration
from tagwright.merge import read_settings
from tagwright.model import Head, Model
from tagwright.plain import plain
from tagwright.settings import resolve

FORMAT = 1
WANTED = {"transformers": "transformers", "scikit-learn": "sklearn.linear_model"}  # by some models only


def save(model: Model, folder: Path, *, card: str, overwrite: bool = False) -> None:
    """Write a model folder that is whole or not there."""
    about = {"format": FORMAT, "versions": versions(), "heads": sorted(model.heads)}
    with written(folder, about=about, overwrite=overwrite, free=("README.md",)) as aside:
        (aside / "settings.toml").write_text(model.settings.to_toml(), encoding="utf-8")
        (aside / "README.md").write_text(card, encoding="utf-8")
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.network.state_dict().items()}
        save_file(weights, aside / "model.safetensors")
        (aside / "tokenizer").mkdir()
        model.tokeniser.save(aside / "tokenizer")
        _save_learned(model.learned, aside)
        for name, head in model.heads.items():
            _save_head(head, aside / "heads" / name)


def load(folder: Path) -> Model:
    """Read a model folder; an altered or missing file is an error."""
    folder = named(folder)
    if not folder.is_dir() and not folder.with_name(f".{folder.name}.old").is_dir():
        raise ModelError(f"no model folder {folder}; `tagwright fit DATA --out {folder}` makes one")
    manifest = verified(folder)
    if manifest.get("format") != FORMAT:
        raise ModelError(f"{folder} has format {manifest.get('format')}, this version reads {FORMAT}; update tagwright")
    settings = resolve(read_settings(folder / "settings.toml"))
    learned = _load_learned(folder, manifest["sha256"])
    tokeniser = load_tokeniser(folder / "tokenizer")
    heads = {name: _load_head(folder / "heads" / name) for name in manifest["heads"]}
    network = build_network(settings, {n: h.space for n, h in heads.items()}, sizes=tokeniser.sizes, learned=learned)
    network.load_state_dict(load_file(folder / "model.safetensors"))
    return Model(settings=settings, tokeniser=tokeniser, network=network, heads=heads, learned=learned)


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
    for name, content in {"decision": decision, "metrics": head.metrics}.items():
        text = json.dumps(plain(content), indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _load_head(folder: Path) -> Head:
    space = LabelSpace.load(folder / "labels.json")
    content, metrics = (json.loads((folder / f"{n}.json").read_text("utf-8")) for n in ("decision", "metrics"))
    rule, link = content.pop("rule"), content.pop("link")
    line = Calibration(*content.pop("calibration", ()))
    options, arrays = decide.from_dict(content, space.names)
    decision = parts.build("decide", rule, options, label_names=space.names, **arrays)
    return Head(space=space, link=link, rule=rule, decision=decision, metrics=metrics, calibration=line)

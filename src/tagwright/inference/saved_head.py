"""A head's files in a model folder: `head.json`, `labels.json`, `decision.json` and
`metrics.json`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tagwright import decisions
from tagwright.errors import unknown
from tagwright.inference.model import TrainedHead
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, SCALES, Calibration
from tagwright.settings.inference import choice_dict, choice_of
from tagwright.storage.checked import Sealed
from tagwright.storage.files import value_of, write_readable_json

LINKS = ("softmax", *SCALES)


def save_head(head: TrainedHead, folder: Path) -> None:
    """Write a head into a folder of its own."""
    folder.mkdir(parents=True)
    head.space.save(folder / "labels.json")
    line = {"calibration": list(head.calibration)} if head.calibration != IDENTITY else {}
    decision = {
        "rule": head.rule,
        "link": head.link,
        **line,
        **decisions.as_dict(head.decision, head.space.names),
    }
    part = {"part": choice_dict(head.part), "extra_logits": head.extra_logits, "zero": head.zero}
    for name, content in {"head": part, "decision": decision, "metrics": head.metrics}.items():
        write_readable_json(folder / f"{name}.json", content)


def load_head(files: Sealed, name: str, part: Mapping[str, Any] | None) -> TrainedHead:
    """The head of this name; `part` says what an older format does not write."""
    folder = f"heads/{name}"
    space = load_space(files, name)
    decided = files.made(f"{folder}/decision.json", lambda content: _decided(content, space))
    metrics = files.made(f"{folder}/metrics.json", _metrics)
    part = files.made(f"{folder}/head.json", _part) if part is None else part
    return TrainedHead(space=space, metrics=metrics, **decided, **part)


def load_space(files: Sealed, name: str) -> LabelSpace:
    """The labels of a head."""
    return files.made(f"heads/{name}/labels.json", LabelSpace.from_dict)


def _decided(content: dict[str, Any], space: LabelSpace) -> dict[str, Any]:
    rule, link = value_of(content, "rule", str), value_of(content, "link", str)
    if link not in LINKS:
        raise ValueError(unknown("link", link, LINKS))
    line = value_of({"calibration": [], **content}, "calibration", list)
    calibration = Calibration(
        *(value_of({"calibration": number}, "calibration", float) for number in line)
    ).bounded()
    options = {
        key: value for key, value in content.items() if key not in ("rule", "link", "calibration")
    }
    decision = decisions.loaded(rule, options, space.names)
    return {"rule": rule, "link": link, "calibration": calibration, "decision": decision}


def _part(content: dict[str, Any]) -> dict[str, Any]:
    extra = value_of(content, "extra_logits", int)
    if extra < 0:
        raise ValueError(f"extra_logits must be at least 0, got {extra}")
    return {
        "part": choice_of(content["part"]),
        "extra_logits": extra,
        "zero": value_of(content, "zero", float),
    }


def _metrics(content: dict[str, Any]) -> dict[str, Any]:
    value_of({"metrics": {}, **content}, "metrics", dict)
    return content

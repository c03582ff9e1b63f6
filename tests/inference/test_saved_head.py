"""A head is written into files of its own, and comes back as it was."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tagwright.decisions.threshold import Threshold
from tagwright.decisions.zero import Zero
from tagwright.errors import ModelError
from tagwright.inference.model import TrainedHead
from tagwright.inference.saved_head import load_head, load_space, save_head
from tagwright.labels.space import LabelSpace
from tagwright.links import Calibration
from tagwright.settings.schema import Choice
from tagwright.storage.checked import Sealed

FILES = ("head.json", "labels.json", "decision.json", "metrics.json")


def head_of(**changes):
    space = LabelSpace(names=("a", "é"), counts=(3, 1))
    facts = {"space": space, "link": "sigmoid", "rule": "zero", "decision": Zero()}
    return TrainedHead(**{**facts, **changes})


def sealed(folder):
    """The files of a head called "topic", as a model folder hands them over."""
    texts = {f"heads/topic/{name}": (folder / name).read_bytes() for name in FILES}
    return Sealed(folder=folder, manifest={}, digest="", texts=texts, tensors={})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"calibration": Calibration(0.5, -1.0, 2.0)},
        {"part": Choice(name="cloze", options={"rounds": 3}), "extra_logits": 2, "zero": 0.5},
        {"metrics": {"metrics": {"lrap": 0.5}}},
        {"space": LabelSpace(names=("a", "é"), counts=(3, 1), exclusive=True), "link": "softmax"},
    ],
    ids=lambda value: "+".join(value) or "plain",
)
def test_a_head_comes_back_as_it_was(changes, tmp_path):
    head = head_of(**changes)
    save_head(head, tmp_path / "topic")
    assert sorted(path.name for path in (tmp_path / "topic").iterdir()) == sorted(FILES)
    again = load_head(sealed(tmp_path / "topic"), "topic", None)
    assert isinstance(again.decision, Zero)
    assert replace(again, decision=head.decision) == head
    assert load_space(sealed(tmp_path / "topic"), "topic") == head.space


def test_thresholds_come_back_beside_their_labels(tmp_path):
    head = head_of(rule="threshold", decision=Threshold(np.array([0.5, -1.0])))
    save_head(head, tmp_path / "topic")
    written = json.loads((tmp_path / "topic" / "decision.json").read_text(encoding="utf-8"))
    assert written["thresholds"] == {"a": 0.5, "é": -1.0}
    again = load_head(sealed(tmp_path / "topic"), "topic", None)
    assert again.decision.thresholds.tolist() == [0.5, -1.0]


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("decision.json", "link", "sigmiod"),
        ("decision.json", "rule", "unheard"),
        ("decision.json", "calibration", [1, 2, 3, 4]),
        ("head.json", "extra_logits", -1),
        ("metrics.json", "metrics", []),
        ("labels.json", "counts", [1]),
    ],
)
def test_a_value_without_sense_is_one_error_that_names_its_file(name, key, value, tmp_path):
    folder = tmp_path / "topic"
    save_head(head_of(), folder)
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    (folder / name).write_text(json.dumps({**content, key: value}), encoding="utf-8")
    with pytest.raises(ModelError, match=f"heads/topic/{name}"):
        load_head(sealed(folder), "topic", None)

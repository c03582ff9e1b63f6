"""What every decision keeps, whichever package it came from."""

import json

import numpy as np
import pytest

from tagwright import decisions, registry
from tagwright.decisions import Decision
from tagwright.inference.fit_decision import decide_on, rule_of
from tagwright.inference.model import TrainedHead
from tagwright.labels.space import LabelSpace
from tagwright.settings.schema import Choice, resolve

NAMES = registry.names("decisions")
TAGS = ("O", "B-X", "I-X")
OFFSETS = np.array([0, 7, 7, 20, 61])

pytestmark = pytest.mark.parametrize("name", NAMES)


def drawn(count: int = 61, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = np.eye(3, dtype=bool)[random.integers(0, 3, count)]
    return (2 * truth - 1 + random.normal(size=truth.shape)).astype(np.float32), truth


def rule(name: str) -> type[Decision]:
    return registry.find("decisions", name).factory


def head_of(name: str) -> tuple[TrainedHead, np.ndarray]:
    """The decision fitted on dev, as `fit` does it, and its choices there."""
    one = rule(name).exactly_one(**registry.find("decisions", name).settings)
    space = LabelSpace(names=TAGS, counts=(30, 20, 11), exclusive=one)
    settings = resolve({"objective": "bce", "decide": name})
    return decide_on(*drawn(), settings, space, OFFSETS if rule(name).about_tokens else None)


def texts(name: str, count: int = 61) -> dict[str, np.ndarray]:
    return {"offsets": np.array([0, count])} if rule(name).about_tokens else {}


def test_it_is_fitted_and_decides_new_rows(name: str):
    head, chosen = head_of(name)
    assert (chosen.dtype, chosen.shape) == (bool, (61, 3))
    for count in (0, 1, 9):
        logits, _ = drawn(count, seed=1)
        found = head.scores(logits, offsets=texts(name, count).get("offsets")).chosen
        assert (found.dtype, found.shape) == (bool, (count, 3))


def test_it_says_whether_it_chooses_exactly_one_label(name: str):
    head, chosen = head_of(name)
    if rule(name).exactly_one(**registry.find("decisions", name).settings):
        assert (chosen.sum(1) == 1).all()
        assert (head.scores(drawn(9, seed=1)[0]).chosen.sum(1) == 1).all()


def test_a_rule_that_does_not_choose_one_label_is_refused_for_exclusive_labels(name: str):
    choice = Choice(name=name, options=registry.find("decisions", name).settings)
    if rule(name).about_tokens:
        assert rule_of(choice, exclusive=True, tagged=True) == choice
    elif rule(name).exactly_one(**choice.options):
        assert rule_of(choice, exclusive=True) == choice
    else:
        with pytest.raises(registry.SettingsError, match=f"{name} may choose no label or several"):
            rule_of(choice, exclusive=True)


def test_it_changes_nothing_that_it_is_given(name: str):
    head, _ = head_of(name)
    logits, _ = drawn(9, seed=1)
    values = head.probabilities(logits)
    before = logits.copy(), values.copy()
    first = head.decision.choose(logits, values)
    assert (logits == before[0]).all()
    assert (values == before[1]).all()
    assert (head.decision.choose(logits, values) == first).all()


def test_a_text_is_decided_by_its_own_scores(name: str):
    if rule(name).about_tokens:
        return
    head, _ = head_of(name)
    logits, _ = drawn(23, seed=2)
    whole = head.scores(logits).chosen
    order = np.random.default_rng(3).permutation(23)
    assert (head.scores(logits[order]).chosen == whole[order]).all()
    assert all((head.scores(logits[[row]]).chosen[0] == whole[row]).all() for row in range(23))


def test_it_is_saved_as_json_and_loaded(name: str):
    head, _ = head_of(name)
    saved = json.loads(json.dumps(decisions.as_dict(head.decision, TAGS)))
    assert set(registry.find("decisions", name).settings) <= set(saved)
    again = decisions.loaded(name, saved, TAGS)
    logits, _ = drawn(23, seed=2)
    values = head.probabilities(logits)
    assert (again.choose(logits, values) == head.decision.choose(logits, values)).all()
    assert again.describe() == head.decision.describe()


def test_it_describes_itself_in_sentences(name: str):
    said = head_of(name)[0].decision.describe()
    assert said[0].isupper()
    assert said.endswith(".")
    assert "\n" not in said


def test_a_report_finds_what_it_asks_of_every_decision(name: str):
    decision = head_of(name)[0].decision
    assert decision.probability is None or 0 <= decision.probability <= 1
    assert decision.thresholds is None or np.shape(decision.thresholds) in ((), (3,))

"""The decision of a head, fitted on dev."""

import numpy as np
import pytest

from tagwright.errors import SettingsError
from tagwright.inference.fit_decision import decide_on, rule_of
from tagwright.labels.space import LabelSpace
from tagwright.links import Calibration, probabilities
from tagwright.settings.schema import Choice, resolve

MANY = LabelSpace(names=("a", "b", "c"), counts=(5, 5, 5))
ONE = LabelSpace(names=("a", "b", "c"), counts=(5, 5, 5), exclusive=True)


def drawn(count=61, seed=0):
    random = np.random.default_rng(seed)
    truth = random.random((count, 3)) < [0.5, 0.3, 0.1]
    return (2 * truth - 2 + random.normal(size=truth.shape)).astype(np.float32), truth


def test_exclusive_labels_are_decided_by_the_highest_score():
    logits, truth = drawn()
    head, chosen = decide_on(logits, truth, resolve({"objective": "cross_entropy"}), ONE)
    assert head.rule == "argmax"
    assert chosen.sum(1).tolist() == [1] * 61
    assert (chosen.argmax(1) == logits.argmax(1)).all()


def test_other_labels_get_thresholds():
    head, _ = decide_on(*drawn(), resolve({}), MANY)
    assert head.rule == "threshold"
    assert head.decision.thresholds.shape == (3,)


def test_a_text_has_no_say_in_its_own_decision():
    """Turning over one text's truth may move the thresholds of others, never the choice for that
    text.
    """
    logits, truth = drawn(23)
    # else all texts choose how far it shrinks
    settings = resolve({"decide": {"name": "threshold", "shrink": 2.0}})
    _, before = decide_on(logits, truth, settings, MANY)
    for row in range(0, 23, 5):
        turned = truth.copy()
        turned[row] = ~turned[row]
        _, after = decide_on(logits, turned, settings, MANY)
        assert (after[row] == before[row]).all()


def test_options_of_the_rule_are_used():
    logits, truth = drawn()
    strong, weak = (
        decide_on(logits, truth, resolve({"decide": {"name": "threshold", "shrink": s}}), MANY)[0]
        for s in (1e9, 0.0)
    )
    assert not np.allclose(strong.decision.thresholds, weak.decision.thresholds)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"name": "zero"}, lambda s: s > 0),
        (
            {"name": "fixed", "probability": 0.2},
            lambda s: 1 / (1 + np.exp(-s.astype(np.float64))) > 0.2,
        ),
        ({"name": "topk", "k": 1}, lambda s: s == s.max(1, keepdims=True)),
    ],
)
def test_a_rule_without_fitting_chooses_as_it_says(rule, expected):
    logits, truth = drawn()
    head, chosen = decide_on(logits, truth, resolve({"objective": "bce", "decide": rule}), MANY)
    assert head.rule == rule["name"]
    assert (chosen == expected(logits)).all()


def test_the_fitted_head_decides_new_texts():
    head, _ = decide_on(*drawn(), resolve({}), MANY)
    logits, _ = drawn(7, seed=1)
    assert (head.scores(logits).chosen == (logits > head.decision.thresholds)).all()


def test_auto_is_argmax_where_labels_exclude_each_other_else_threshold():
    assert rule_of(Choice(name="auto"), exclusive=True).name == "argmax"
    assert rule_of(Choice(name="auto", options={"shrink": 5.0}), exclusive=False) == Choice(
        name="threshold", options={"shrink": 5.0}
    )


@pytest.mark.parametrize("choice", [{"name": n} for n in ("threshold", "zero", "fixed", "topk")])
def test_a_rule_that_may_choose_none_or_several_does_not_fit_exclusive_labels(choice):
    with pytest.raises(SettingsError, match=f"{choice['name']} may choose.*take argmax"):
        rule_of(Choice(**choice), exclusive=True)


def test_the_one_highest_score_fits_exclusive_labels():
    choice = Choice(name="topk", options={"k": 1})
    assert rule_of(choice, exclusive=True) == choice


@pytest.mark.parametrize(
    ("loss", "gamma"), [("focal", 2.0), ({"name": "focal", "gamma": 0.5}, 0.5), ("bce", 0.0)]
)
@pytest.mark.parametrize("space", [MANY, ONE])
def test_probabilities_of_focal_loss_are_corrected_by_its_gamma(loss, gamma, space):
    logits, truth = drawn()
    head, _ = decide_on(logits, truth, resolve({"loss": loss}), space)
    expected = probabilities(
        logits, "sigmoid", exclusive=space.exclusive, calibration=Calibration(gamma=gamma)
    )
    np.testing.assert_array_equal(head.probabilities(logits), expected)
    assert head.calibration.gamma == gamma

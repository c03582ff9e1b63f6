"""LS-Distill: a teacher's probabilities, by its own link and at a temperature."""

import math

import numpy as np
import pytest

from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.targets.distil import TeacherScores, distil, nobody

NAMES = ("a", "b", "c")
ONE = LabelSpace(names=NAMES, counts=(1, 1, 1), exclusive=True)
MANY = LabelSpace(names=NAMES, counts=(1, 1, 1))
LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, 0.0], [80.0, -80.0, 3.0]], np.float32)


def said(link: str, logits: np.ndarray = LOGITS):
    return lambda model: TeacherScores(logits, link)


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_one_label_a_text_is_a_softmax_of_the_logits(temperature: float):
    soft = distil(ONE, said("softmax"), temperature=temperature)
    assert soft.dtype == np.float32
    for row, logits in zip(soft, LOGITS.tolist()):
        powers = [math.exp((value - max(logits)) / temperature) for value in logits]
        np.testing.assert_allclose(
            row, [power / sum(powers) for power in powers], rtol=1e-5, atol=1e-30
        )


@pytest.mark.parametrize(("link", "scale"), [("sigmoid", 1), ("sigmoid2", 2)])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_many_labels_are_sigmoids_by_the_link(link: str, scale: int, temperature: float):
    soft = distil(MANY, said(link), temperature=temperature)
    expected = [[sigmoid(scale * value / temperature) for value in row] for row in LOGITS.tolist()]
    np.testing.assert_allclose(soft, expected, rtol=1e-5, atol=1e-30)


def test_sigmoids_of_one_label_a_text_still_sum_to_one():
    np.testing.assert_allclose(distil(ONE, said("sigmoid")).sum(1), 1, rtol=1e-6)


def test_more_rows_than_are_made_at_once(monkeypatch: pytest.MonkeyPatch):
    logits = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
    whole = distil(ONE, said("softmax", logits))
    monkeypatch.setattr("tagwright.targets.distil.ROWS", 4)
    np.testing.assert_array_equal(distil(ONE, said("softmax", logits)), whole)


def test_the_folder_reaches_the_teacher():
    asked = []
    distil(
        MANY, lambda model: asked.append(model) or TeacherScores(LOGITS, "sigmoid"), model="base"
    )
    assert asked == ["base"]


def test_several_teachers_are_the_mean_of_their_probabilities():
    said = {"one": TeacherScores(LOGITS, "sigmoid"), "two": TeacherScores(-LOGITS / 3, "sigmoid2")}
    soft = distil(MANY, said.__getitem__, model="one, two", temperature=2.0)
    expected = [
        [(sigmoid(value / 2) + sigmoid(-value / 3)) / 2 for value in row] for row in LOGITS.tolist()
    ]
    np.testing.assert_allclose(soft, expected, rtol=1e-5)


@pytest.mark.parametrize("model", ["one,", ",", "one,,two"])
def test_a_teacher_without_a_name_among_several_is_refused(model: str):
    with pytest.raises(SettingsError, match=r"targets\.model names folders with commas"):
        distil(MANY, said("sigmoid"), model=model)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_a_temperature_without_a_meaning_is_refused_before_a_teacher_is_made(temperature: float):
    with pytest.raises(SettingsError, match=r"targets\.temperature must be above 0"):
        distil(MANY, nobody, temperature=temperature)


def test_where_nobody_teaches_it_is_refused():
    with pytest.raises(SettingsError, match="only `fit` and `compare` train or load"):
        distil(MANY, nobody)

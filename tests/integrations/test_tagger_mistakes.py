"""What the scikit-learn face says to input it cannot use."""

import numpy as np
import pytest

from tagwright import Tagger
from tagwright.errors import DataError, SettingsError, TagwrightError

KINDS = [n % 3 for n in range(75)]
TEXTS = [f"{['apple pear', 'hammer saw', 'paris rome'][k]} x{n}" for n, k in enumerate(KINDS)]
SINGLE = [["fruit", "tool", "city"][k] for k in KINDS]
LISTS = [[label] for label in SINGLE]
MATRIX = np.eye(3, dtype=int)[KINDS]
SMALL = {"encoder": {"name": "cnn", "width": 4, "filters": 2}}


def tagger(**options):
    return Tagger(**{"settings": SMALL, "epochs": 0.1, "dev_share": 0.2, **options})


@pytest.fixture(scope="module")
def single():
    return tagger().fit(TEXTS, SINGLE)


@pytest.mark.parametrize(
    "weights", [[1.0] * 74, [1.0] * 74 + [-1.0], [0.0] * 75, [1.0] * 74 + [float("nan")]]
)
def test_weights_that_cannot_be_are_a_clear_error(weights):
    with pytest.raises(DataError, match="weight"):
        tagger(epochs=0.1).fit(TEXTS, SINGLE, sample_weight=weights)


def test_one_string_instead_of_a_list_is_a_clear_error(single):
    for call in (
        lambda: single.predict("a tent"),
        lambda: single.predict_proba("a tent"),
        lambda: tagger().fit("ab", ["x", "y"]),
    ):
        with pytest.raises(DataError, match="one string; put it in a list"):
            call()


def test_one_string_of_labels_is_a_clear_error():
    with pytest.raises(DataError, match="label"):
        tagger(epochs=0.1).fit([f"text {n}" for n in range(40)], "xy" * 20)


@pytest.mark.parametrize("labels", [LISTS, MATRIX, KINDS], ids=["lists", "matrix", "numbers"])
def test_swapped_arguments_are_a_clear_error(labels):
    with pytest.raises(DataError, match="swapped"):
        tagger().fit(labels, TEXTS)


def test_texts_and_labels_of_different_lengths_are_an_error():
    with pytest.raises(DataError, match="75 and 74"):
        tagger().fit(TEXTS, SINGLE[:-1])


@pytest.mark.parametrize("labels", [[["a"], "b"] * 20, [None, "b"] * 20, [float("nan"), 1.0] * 20])
def test_labels_that_are_mixed_or_missing_are_a_clear_error(labels):
    with pytest.raises(TagwrightError, match="label"):
        tagger(epochs=0.1).fit([f"text {n}" for n in range(40)], labels)


def test_a_matrix_of_other_values_is_an_error():
    with pytest.raises(DataError, match="0 and 1"):
        tagger().fit(TEXTS, MATRIX * 2)


def test_an_unknown_setting_is_an_error_at_fit():
    with pytest.raises(SettingsError, match="did you mean 'cnn'"):
        tagger(encoder="cn", settings=None).fit(TEXTS, SINGLE)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_text_is_named_by_its_place(single, missing):
    for call in (
        lambda: single.predict(["a", missing]),
        lambda: tagger().fit([TEXTS[0], missing], ["x", "y"]),
    ):
        with pytest.raises(DataError, match=r"text 1 \(counted from 0\) is missing"):
            call()


def test_a_decision_that_may_leave_a_single_label_out_is_an_error():
    with pytest.raises(SettingsError, match="take argmax"):
        tagger(decide="zero", objective="bce").fit(TEXTS, SINGLE)

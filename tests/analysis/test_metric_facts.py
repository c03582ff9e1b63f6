"""What a report draws from metrics is what was measured."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.analysis.metric_facts import bands, calibration
from tagwright.analysis.run_facts import fit_facts
from tagwright.metrics.bands import band_masks
from tagwright.metrics.calibration import CalibrationErrors


def truth_of(prepared):
    return (
        prepared.space.encode(prepared.tables["dev"]["labels"])
        .matrix(len(prepared.space))
        .toarray()
        > 0
    )


def test_scores_of_labels_are_those_of_the_choices_on_dev(made):
    prepared, fitted = made
    expected = f1_score(truth_of(prepared), fitted.dev.chosen, average=None, zero_division=0)
    np.testing.assert_allclose(fit_facts(*made).per_label["f1"], expected)


def test_the_threshold_curve_is_the_f1_of_one_bar_for_all(made):
    prepared, fitted = made
    curve = fit_facts(*made).threshold_curve
    for place in (0, 7, 20):
        chosen = fitted.dev.probabilities > curve["thresholds"][place]
        for average in ("micro", "macro"):
            expected = f1_score(truth_of(prepared), chosen, average=average, zero_division=0)
            assert curve[f"{average}_f1"][place] == pytest.approx(expected)


def test_bands_hold_every_label_once(made):
    assert sum(band["labels"] for band in fit_facts(*made).bands) == len(made[0].space)


def test_a_band_has_the_scores_that_were_found_of_it_and_an_empty_one_is_left_out():
    counts = [40, 1, 1]
    found = {
        f"{name}_{average}_f1": place + share
        for place, name in enumerate(band_masks(np.array(counts)))
        for average, share in (("macro", 0.25), ("micro", 0.5))
    }
    made = bands(counts, found)
    assert [(band["band"], band["labels"]) for band in made] == [("head", 1), ("tail", 2)]
    for band in made:
        name = band["band"]
        inside = [counts[label] for label in np.flatnonzero(band_masks(np.array(counts))[name])]
        assert (band["from_count"], band["to_count"]) == (min(inside), max(inside))
        assert band["macro_f1"] == found[f"{name}_macro_f1"]
        assert band["micro_f1"] == found[f"{name}_micro_f1"]


@pytest.mark.parametrize("known", [True, False])
def test_calibration_is_told_without_its_empty_bins_where_all_probabilities_are_known(known):
    random = np.random.default_rng(0)
    values = random.choice([0.12, 0.87], (50, 4))
    state = CalibrationErrors.of(values, random.random((50, 4)) < values, values > 0.5)
    found = calibration(SimpleNamespace(states={"calibration": state} if known else {}))
    if known:
        assert found["counts"].sum() == 200
        assert (found["counts"] > 0).all()
        np.testing.assert_allclose(found["centers"], [0.12, 0.87], atol=1e-6)
    else:
        assert found is None

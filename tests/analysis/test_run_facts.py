"""What a report is told is what was measured."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.analysis.run_facts import card_facts, fit_facts
from tagwright.data.shop import shop
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.train import fit


@pytest.fixture(scope="module")
def made():
    settings = resolve({"encoder": "bow", "fit": {"epochs": 2}})
    prepared = prepare(shop(pages=400), settings)
    return prepared, fit(prepared, settings)


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


def test_the_card_is_told_no_text(made):
    texts = set(made[0].tables["dev"]["text"].to_pylist())
    said = repr(card_facts(*made))
    assert not any(text in said for text in texts)


def test_a_refitted_model_is_told_with_the_number_of_its_texts(made):
    prepared, fitted = made
    texts = prepared.tables["train"].num_rows + prepared.tables["dev"].num_rows
    assert fitted.settings.fit.refit
    assert fit_facts(*made).refitted_on == card_facts(*made).refitted_on == texts
    settings = replace(fitted.settings, fit=replace(fitted.settings.fit, refit=False))
    plain = replace(fitted, settings=settings)
    assert fit_facts(prepared, plain).refitted_on is None


def test_the_best_step_is_the_last_of_equals(made):
    prepared, fitted = made
    equal = [{**fitted.history[0], "step": step, "score": 1.0} for step in (3, 6, 9)]
    assert fit_facts(prepared, replace(fitted, history=equal)).best_step == 9

"""Metrics from shortlists are those of the whole, where a shortlist knows enough; the others are
left out.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.errors import SettingsError, ShapeError
from tagwright.labels.shortlist import Shortlist
from tagwright.metrics import measure
from tagwright.metrics.of_shortlists import GIVEN, TOP, measure_shortlist, require_given

ROWS, LABELS, KEPT = 37, 23, 9


@pytest.fixture(scope="module")
def made():
    """Scores with ties, truth with empty rows, and choices among the highest labels of each row."""
    draw = np.random.default_rng(0)
    scores = draw.normal(size=(ROWS, LABELS)).round(1)
    truth = draw.random((ROWS, LABELS)) < 0.1
    truth[3] = False
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :KEPT]
    picked = draw.random((ROWS, KEPT)) < 0.4
    chosen = np.zeros(truth.shape, bool)
    np.put_along_axis(chosen, ids, picked, axis=1)
    return scores, truth, chosen, ids


def short(made, rows):
    scores, truth, chosen, ids = (part[rows] for part in made)
    logits = np.take_along_axis(scores, ids, axis=1).astype(np.float32)
    shortlist = Shortlist(ids.astype(np.int32), logits, None, LABELS)
    return measure_shortlist(
        shortlist, csr_array(truth), csr_array(chosen), rows=np.arange(ROWS)[rows]
    )


@pytest.mark.parametrize("convention", ["sklearn", "paper"])
def test_equal_to_the_dense_families_however_they_are_batched(made, convention):
    counts = np.arange(1, LABELS + 1) ** 2
    scores, truth, chosen, _ = made
    expected = measure(scores, truth, chosen, rows=np.arange(ROWS)).results(
        convention=convention, label_counts=counts
    )
    whole = short(made, slice(None))
    parts = short(made, slice(0, 10)) + short(made, slice(10, 11)) + short(made, slice(11, None))
    for found in (whole, parts):
        results = found.results(convention=convention, label_counts=counts)
        assert results.keys() >= {
            *TOP,
            "micro_f1",
            "macro_f2",
            "tail_micro_f1",
            "subset_accuracy",
            "confused_share",
        }
        assert not results.keys() & {"lrap", "coverage", "ranking_loss", "micro_average_precision"}
        for name, value in results.items():
            assert value == pytest.approx(expected[name], abs=1e-12, nan_ok=True), name


def test_the_same_confused_pairs_with_their_rows(made):
    scores, truth, chosen, _ = made
    expected = measure(scores, truth, chosen, rows=np.arange(ROWS)).states["confusion"].top(10)
    assert short(made, slice(None)).states["confusion"].top(10) == expected


def test_only_what_is_asked_for_is_measured(made):
    scores, truth, chosen, ids = made
    shortlist = Shortlist(ids, np.take_along_axis(scores, ids, axis=1), None, LABELS)
    found = measure_shortlist(shortlist, csr_array(truth), csr_array(chosen), names=["ndcg_at_5"])
    assert set(found.states) == {"ranking"}


@pytest.mark.parametrize(
    "name", ["lrap", "macro_average_precision", "calibration_error", "coverage"]
)
def test_what_needs_all_scores_is_refused_and_others_are_named(name):
    assert name not in GIVEN
    with pytest.raises(SettingsError, match="ndcg_at_5"):
        require_given(name)


def test_an_unknown_metric_is_refused_as_elsewhere():
    with pytest.raises(SettingsError, match="did you mean 'ranking_loss'"):
        require_given("rankin_loss")


def test_other_rows_are_refused(made):
    _, truth, chosen, ids = made
    shortlist = Shortlist(ids[:5], ids[:5].astype(float), None, LABELS)
    with pytest.raises(ShapeError, match="5 texts"):
        measure_shortlist(shortlist, csr_array(truth), csr_array(chosen))

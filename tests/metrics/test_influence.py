"""Values of texts whose mean is F1: exact in the mean, right to first order when texts change."""

import numpy as np
import pytest

from tagwright.metrics import measure
from tagwright.metrics.influence import METRICS, influence


def drawn(rows=300, labels=7, seed=0):
    random = np.random.default_rng(seed)
    truth = random.random((rows, labels)) < np.linspace(0.02, 0.5, labels)
    return truth, truth ^ (random.random((rows, labels)) < 0.15)


def score(metric, truth, chosen):
    return measure(chosen.astype(float), truth, chosen, names=[metric]).results()[metric]


@pytest.mark.parametrize("metric", METRICS)
def test_their_mean_is_the_metric(metric):
    truth, chosen = drawn()
    assert influence(metric, truth, chosen).mean() == pytest.approx(
        score(metric, truth, chosen), abs=1e-12
    )


@pytest.mark.parametrize("metric", METRICS)
def test_they_say_what_leaving_a_text_out_does(metric):
    """The jackknife, to first order: F1 without text e is about F1 - (value - F1) / (n - 1)."""
    truth, chosen = drawn(rows=2000)
    values, whole = influence(metric, truth, chosen), score(metric, truth, chosen)
    for text in range(60):
        kept = np.arange(len(truth)) != text
        without = score(metric, truth[kept], chosen[kept])
        assert without - whole == pytest.approx(
            -(values[text] - whole) / (len(truth) - 1), rel=0.05, abs=3e-6
        )


@pytest.mark.parametrize("metric", METRICS)
def test_labels_and_sets_without_anything_count_nothing(metric):
    empty = np.zeros((4, 3), bool)
    assert influence(metric, empty, empty).tolist() == [0.0] * 4
    truth, chosen = drawn(labels=2)
    padded = [np.concatenate([part, np.zeros((len(part), 1), bool)], 1) for part in (truth, chosen)]
    share = 2 / 3 if metric == "macro_f1" else 1
    assert influence(metric, *padded) == pytest.approx(share * influence(metric, truth, chosen))


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="accuracy"):
        influence("accuracy", *drawn())

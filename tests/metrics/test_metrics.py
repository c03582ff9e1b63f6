"""All families at once: discovery, merging, limits, errors, and the reference values of ZLPR's
metrics.
"""

import subprocess
import sys
from functools import reduce
from operator import add

import numpy as np
import pytest

from tagwright import metrics
from tagwright.errors import SettingsError, ShapeError
from tagwright.metrics import descriptions, families, measure, metric
from tagwright.metrics.counts import Counts

# equations 25 to 30 of ZLPR, prediction s > 0; computed with 60 digits
LABELS = {
    "five_samples": [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 0, 0]],
    "unused_labels": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]],
}
SCORES = {
    "five_samples": [
        [1.2, -0.7, 0.3, 2.5],
        [-0.4, 2.0, -1.5, 0.1],
        [-1.0, -2.0, -3.0, -0.5],
        [0.6, -0.2, -0.9, 1.1],
        [0.2, 0.1, -0.3, -0.4],
    ],
    "unused_labels": [
        [1.2, -0.7, -0.3, -2.5],
        [-0.4, 2.0, -1.5, -0.1],
        [-1.0, -2.0, -3.0, -0.5],
        [0.6, -0.2, -0.9, -1.1],
        [0.2, 0.1, -0.3, -0.4],
    ],
}
NAMES = (
    "subset_accuracy", "example_f1", "macro_f1", "micro_f1", "lrap", "ranking_loss", "hamming_loss",
    "micro_jaccard",
)  # fmt: skip
EXPECTED = {
    ("five_samples", "paper"): [
        0.4,
        0.76,
        0.6,
        0.7058823529411765,
        0.7166666666666666,
        0.15,
        0.25,
        0.5454545454545454,
    ],
    ("five_samples", "sklearn"): [
        0.4,
        0.56,
        0.6,
        0.7058823529411765,
        0.9166666666666666,
        0.15,
        0.25,
        0.5454545454545454,
    ],
    ("unused_labels", "paper"): [
        0.8,
        0.8,
        0.9,
        0.8,
        0.7,
        0.06666666666666667,
        0.1,
        0.6666666666666666,
    ],
    ("unused_labels", "sklearn"): [
        0.8,
        0.6,
        0.4,
        0.8,
        0.9,
        0.06666666666666667,
        0.1,
        0.6666666666666666,
    ],
}


@pytest.mark.parametrize(("name", "convention"), EXPECTED)
def test_reference_values_of_both_conventions(name: str, convention: str):
    scores, truth = np.array(SCORES[name]), np.array(LABELS[name], bool)
    results = measure(scores, truth, scores > 0).results(convention=convention)
    np.testing.assert_allclose([results[n] for n in NAMES], EXPECTED[name, convention], rtol=1e-12)


def test_every_file_of_the_folder_is_a_family():
    assert sorted(families()) == [
        "average_precision", "bands", "calibration", "confusion", "counts", "examples", "ranking",
    ]  # fmt: skip


@pytest.mark.parametrize("convention", ["sklearn", "paper"])
def test_batches_of_any_size_give_the_same(cases, convention: str):
    rng = np.random.default_rng(6)
    for case in cases:
        counts = np.arange(case.truth.shape[1]) ** 2
        whole = measure(*case).results(convention=convention, label_counts=counts)
        order = rng.permutation(len(case.truth))
        chunks = np.split(order, np.sort(rng.integers(0, len(order) + 1, 4)))  # some are empty
        parts = [measure(*(part[rows] for part in case)) for rows in chunks]
        found = reduce(add, parts).results(convention=convention, label_counts=counts)
        assert found.keys() == whole.keys()
        for name, value in whole.items():
            assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-14), name


def test_more_rows_than_a_block_are_measured_whole():
    rng = np.random.default_rng(8)
    truth = rng.random((1301, 601)) < 0.01
    scores = rng.random(truth.shape)
    found = measure(scores, truth, scores > 0.98, rows=np.arange(1301))
    for name, family in families().items():
        expected = family.of(scores, truth, scores > 0.98).results()
        assert found.states[name].results() == pytest.approx(expected, rel=1e-12)
    pair = found.states["confusion"].top(1)[0]
    assert all(truth[row, pair.missed] and scores[row, pair.wrong] > 0.98 for row in pair.rows)


def test_single_precision_scores_give_the_same(cases):
    for case in cases:
        single = measure(case.scores.astype(np.float32), case.truth, case.chosen).results()
        assert single == pytest.approx(measure(*case).results(), rel=1e-6, abs=1e-9)


def test_names_limit_the_work_to_their_families(cases):
    found = measure(*cases[0], names=["lrap", "ranking_loss", "micro_f1"])
    assert set(found.states) == {"ranking", "counts"}


def test_unknown_metric_names_the_nearest(cases):
    with pytest.raises(SettingsError, match="unknown metric 'mirco_f1'; did you mean 'micro_f1'"):
        metric("mirco_f1")
    with pytest.raises(SettingsError, match="unknown metric 'lrapp'; did you mean 'lrap'"):
        measure(*cases[0], names=["lrapp"])


def test_unknown_convention_names_the_choices(cases):
    with pytest.raises(SettingsError, match="unknown convention 'sklern'; did you mean 'sklearn'"):
        measure(*cases[0], names=["macro_average_precision"]).results(convention="sklern")


def test_losses_and_errors_are_better_when_lower():
    assert {name for name, (_, higher) in descriptions().items() if not higher} == {
        "hamming_loss", "ranking_loss", "one_error", "coverage", "calibration_error",
        "top_calibration_error", "confused_share",
    }  # fmt: skip


def test_measures_of_other_labels_or_families_do_not_add(cases):
    two, seven = cases[0], cases[6]
    with pytest.raises(ShapeError, match="same labels and families"):
        measure(*two) + measure(*seven)
    with pytest.raises(ShapeError, match="same labels and families"):
        measure(*two) + measure(*two, names=["lrap"])


def test_measuring_needs_no_torch():
    code = (
        "import sys, tagwright.metrics, tagwright.metrics.statistics; sys.exit('torch' in"
        " sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_two_families_with_one_name_for_a_metric_are_refused(monkeypatch):
    double = type("Double", (Counts,), {})
    monkeypatch.setattr(metrics, "families", lambda: {"counts": Counts, "double": double})
    with pytest.raises(
        SettingsError, match="families of metrics counts and double both have micro_precision"
    ):
        metric("micro_f1")

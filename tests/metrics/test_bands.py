"""Frequency bands: the cut, and the scores of a band against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.errors import ShapeError
from tagwright.metrics.bands import Bands, band_masks


def names_of(label_counts: list[int]) -> list[str]:
    masks = band_masks(label_counts)
    return [next(band for band, mask in masks.items() if mask[i]) for i in range(len(label_counts))]


def test_every_label_is_in_one_band():
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 401):
        masks = band_masks(np.floor(rng.pareto(0.7, size) * 5).astype(int))
        assert (sum(mask.astype(int) for mask in masks.values()) == 1).all()


@pytest.mark.parametrize(
    "counts", [[100] * 4, [1000, 980, 1013], [5926, 5845, 4369, 4236], [1], [0, 0]]
)
def test_balanced_labels_are_all_head(counts: list[int]):
    assert set(names_of(counts)) == {"head"}


def test_long_tail_falls_into_three():
    assert names_of([800, 90, 40, 30, 20, 10, 9, 1]) == [
        "head", "head", "middle", "middle", "middle", "tail", "tail", "tail",
    ]  # fmt: skip


def test_bounds_are_half_and_an_eighth_of_the_mean():
    assert names_of([8, 1, 27, 4, 0]) == ["head", "middle", "head", "head", "tail"]  # mean 8


def test_labels_never_seen_in_train_are_tail():
    assert names_of([5, 0, 7]) == ["head", "tail", "head"]


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_scores_of_a_band_equal_scikit_learn(cases, average: str):
    rng = np.random.default_rng(1)
    for case in cases:
        counts = np.floor(rng.pareto(0.7, case.truth.shape[1]) * 5).astype(int)
        results = Bands.of(*case).results(label_counts=counts)
        for band, mask in band_masks(counts).items():
            assert results[f"{band}_labels"] == mask.sum()
            if mask.any():
                pair = case.truth, case.chosen
                expected = f1_score(
                    *pair, labels=np.flatnonzero(mask), average=average, zero_division=0
                )
                assert results[f"{band}_{average}_f1"] == pytest.approx(expected, rel=1e-12)
            else:
                assert f"{band}_{average}_f1" not in results


def test_paper_convention_gives_unused_labels_of_a_band_one():
    truth = np.array([[True, False, False]])
    results = Bands.of(np.zeros((1, 3)), truth, truth).results(
        label_counts=[30, 0, 0], convention="paper"
    )
    assert (results["tail_macro_f1"], results["tail_labels"]) == (1, 2)


def test_without_train_counts_there_are_no_bands(cases):
    assert Bands.of(*cases[0]).results() == {}


def test_counts_of_other_labels_are_refused(cases):
    with pytest.raises(ShapeError, match=r"shape \(2,\), got \(3,\)"):
        Bands.of(*cases[0]).results(label_counts=[1, 2, 3])

"""Pairs of labels that come together: those of a plain count, and bounded where a row has very many
labels.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.analysis import _cooccurrence as module
from tagwright.analysis._cooccurrence import together

NAMES = [f"l{n:02}" for n in range(30)]


def plain(marks: np.ndarray, labels: range, most: int) -> list[tuple[str, str, int]]:
    """The pairs above chance, by loops over rows and pairs."""
    found = []
    for a, b in combinations(labels, 2):
        both = sum(bool(row[a] and row[b]) for row in marks)
        if both * len(marks) > marks[:, a].sum() * marks[:, b].sum():
            found.append((NAMES[a], NAMES[b], both))
    return sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))[:most]


def drawn(seed: int) -> np.ndarray:
    """Marks (50, 30): the first labels are common, and one row has all of them."""
    marks = np.random.default_rng(seed).random((50, 30)) < np.linspace(0.5, 0.02, 30)
    marks[7] = True
    return marks


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_a_plain_count(seed: int) -> None:
    marks = drawn(seed)
    found = together(NAMES, csr_array(marks.astype(np.float32)), most=20)
    assert [(one.left, one.right, one.rows) for one in found] == plain(marks, range(30), 20)


@pytest.mark.parametrize(("pairs", "different"), [(10**9, 100), (600, 36), (10**9, 400), (1, 1)])
def test_common_labels_are_compared_where_all_would_be_too_many(
    monkeypatch: pytest.MonkeyPatch, pairs: int, different: int
) -> None:
    monkeypatch.setattr(module, "PAIRS", pairs)
    monkeypatch.setattr(module, "DIFFERENT", different)
    marks = drawn(0)
    # so that the common ones come first
    marks[:, :] = marks[:, np.argsort(-marks.sum(0), kind="stable")]
    sparse = csr_array(marks.astype(np.float32))
    held = [
        number for number in range(31) if np.square(marks[:, :number].sum(1)).sum() <= different
    ]
    many = [number for number in range(31) if np.square(marks[:, :number].sum(1)).sum() <= pairs]
    kept = max(held[-1], min(many[-1], int(different**0.5)))
    assert 0 <= kept < 30
    found = together(NAMES, sparse, most=1000)
    assert [(one.left, one.right, one.rows) for one in found] == plain(marks, range(kept), 1000)


def test_one_row_of_very_many_labels_makes_few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DIFFERENT", 1 << 12)
    rows, labels = np.repeat([0, 1, 2], [3000, 2, 2]), [*range(3000), 0, 1, 0, 1]
    marks = csr_array((np.ones(3004, np.float32), (rows, labels)), shape=(4, 3000))
    names = [f"l{n:04}" for n in range(3000)]
    assert (marks.T @ module._common(marks, np.bincount(labels))).nnz <= 3000 * 64
    assert together(names, marks, most=1)[0].rows == 3

"""Random cases for the metric tests: empty and full rows, labels without positives, ties, odd
sizes.
"""

from typing import NamedTuple

import numpy as np
import pytest


class Case(NamedTuple):
    scores: np.ndarray
    truth: np.ndarray
    chosen: np.ndarray


def case(rows: int, labels: int, *, seed: int, density: float = 0.3, ties: bool = False) -> Case:
    """Scores in (0, 1) that are exact in float32, so that no family may see other ties than the
    reference.
    """
    rng = np.random.default_rng(seed)
    truth = rng.random((rows, labels)) < density
    scores = 1 / (1 + np.exp(-rng.normal(size=truth.shape) - truth))
    scores = np.round(scores * 6) / 8 if ties else scores.astype(np.float32).astype(np.float64)
    chosen = scores > 0.55
    truth[:, rng.random(labels) < 0.15] = False  # labels without positives
    chosen[:, rng.random(labels) < 0.15] = False  # labels never chosen
    kind = rng.integers(0, 8, rows)
    truth[kind == 0], truth[kind == 1] = False, True  # empty rows, full rows
    chosen[kind == 2], chosen[rng.random(rows) < 0.1] = False, True
    # some rows have neither true nor chosen labels
    chosen[kind == 0] &= rng.random((rows, 1))[kind == 0] < 0.5
    return Case(scores, truth, chosen)


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    """All sizes, with and without ties, sparse and dense; nothing true, everything true."""
    sizes = ((1, 2), (1, 7), (41, 2), (41, 7), (401, 37))
    found = [
        case(rows, labels, seed=seed, density=(0.05, 0.3, 0.8)[seed % 3], ties=seed % 2 == 1)
        for rows, labels in sizes
        for seed in range(6 if rows < 100 else 2)
    ]
    flat, nothing, everything = np.full((3, 5), 0.5), np.zeros((3, 5), bool), np.ones((3, 5), bool)
    return [
        *found,
        Case(flat, nothing, nothing),
        Case(flat, everything, nothing),
        Case(flat, everything, everything),
    ]


@pytest.fixture(scope="session")
def exclusive() -> Case:
    """401 rows with one true and one chosen of 7 labels, scores that sum to 1."""
    rng = np.random.default_rng(1)
    truth = np.eye(7, dtype=bool)[rng.integers(0, 7, 401)]
    logits = rng.normal(size=truth.shape) + 2 * truth
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Case(scores, truth, np.eye(7, dtype=bool)[scores.argmax(axis=1)])

"""Every loss against slow loops over its paper's formula, which were written without a look at the
library.
"""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tagwright import registry
from tagwright.losses import SparseMask, SparseTarget, kl, symmetric_kl

from . import reference, reference_batch

VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"
NAMES = registry.names("losses")
# settings to draw from; "label" ones are drawn for each label
SETTINGS: dict[str, dict[str, list[Any]]] = {
    "focal": {"gamma": [0, 0.5, 2, 3]},
    "dice": {"smooth": [1, 0.3]},
    "batch_dice": {"smooth": [1, 0.3]},
    "asymmetric": {
        "gamma_positive": [0, 1, 0.5],
        "gamma_negative": [0, 0.5, 4],
        "clip": [0, 0.05, 0.2],
    },
    "squared_hinge": {"margin": [1, 0.25]},
    "ranking": {"margin": [1, 0.25]},
    "warp": {"margin": [1, 0.25], "weighting": ["linear", "harmonic"]},
    "cecl": {"gamma": [0, 0.5, 2], "positive_scale": [1, 12]},
    "pbp": {"gamma": [0, 0.5, 2], "positive_scale": [1, 12]},
    "sigmoid_f1": {"slope": [1, 9], "offset": [0, 1.5]},
    "two_way": {"positive_temperature": [4, 1], "negative_temperature": [1, 2]},
    "squared_error": {"link": ["softmax", "sigmoid"]},
    "logit_adjusted": {"tau": [0, 1, 1.5]},
    "distribution_balanced": {
        "alpha": [0.1, 0.5],
        "beta": [10, 2],
        "mu": [0.2, 0.5],
        "kappa": [0.05, 1],
        "scale": [2, 5],
    },
}


def drawn(name: str, seed: int) -> SimpleNamespace:
    """A random case of odd size, as numpy arrays."""
    rng, module = (
        np.random.default_rng([seed, *name.encode()]),
        registry.find("losses", name).factory,
    )
    rows, labels = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    case = SimpleNamespace(
        module=module, exclusive="many" not in module.tasks or name == "squared_error"
    )
    case.logits = rng.normal(0, rng.choice([0.1, 2, 30, 1e4]), (rows, labels + module.extra_logits))
    if rng.random() < 0.2:
        case.logits = case.logits.round()  # ties
    if case.exclusive:
        case.target = np.eye(labels)[rng.integers(labels, size=rows)]
        if rng.random() < 0.5:
            case.target = rng.dirichlet(np.full(labels, 0.5), rows)
    else:
        case.target = (rng.random((rows, labels)) < rng.choice([0.1, 0.5, 1.0])) * 1.0
        if module.soft and rng.random() < 0.5:
            case.target = rng.random((rows, labels))
    case.mask = rng.random((rows, labels)) < 0.75
    if case.exclusive:  # a lone label under a softmax has no rival: the library's own convention
        case.mask |= (case.target == 1) | (case.mask.sum(1, keepdims=True) < 2)
        case.mask[:, : min(2, labels)] = True
    case.positive, case.negative = rng.exponential(size=(2, rows, labels)) * (
        rng.random((2, rows, labels)) < 0.9
    )
    case.example = rng.exponential(size=rows)
    case.settings = {
        key: rng.choice(np.array(values, object)) for key, values in SETTINGS.get(name, {}).items()
    }
    case.counts = rng.integers(0, 30, labels)
    return case


def ours(name: str, case: SimpleNamespace, *, sparse: bool) -> torch.Tensor:
    function = getattr(import_module(f"tagwright.losses.{name}"), name)
    logits, target, mask, positive, negative = map(
        torch.as_tensor, (case.logits, case.target, case.mask, case.positive, case.negative)
    )
    settings = dict(case.settings)
    if name == "logit_adjusted":
        settings["prior"] = torch.as_tensor((case.counts + 1) / (case.counts + 1).sum())
    if name == "distribution_balanced":
        settings |= {"label_counts": torch.as_tensor(case.counts), "row_count": 30}
    if name == "two_way":
        settings["example_weight"] = torch.as_tensor(case.example)
    elif case.module.batchwise:
        positive, negative = (
            weight * torch.as_tensor(case.example)[:, None] for weight in (positive, negative)
        )
    if sparse:
        target, mask = sparse_target(target), sparse_mask(mask)
    return function(
        logits, target, mask=mask, positive_weight=positive, negative_weight=negative, **settings
    )


def sparse_target(target: torch.Tensor) -> SparseTarget:
    rows, ids = target.nonzero(as_tuple=True)
    ends = torch.bincount(rows, minlength=len(target)).cumsum(0)
    return SparseTarget(
        ids, torch.cat([torch.zeros(1, dtype=torch.int64), ends]), target[rows, ids]
    )


def sparse_mask(mask: torch.Tensor) -> SparseMask:
    return SparseMask(*sparse_target((~mask).double())[:2])


def theirs(name: str, case: SimpleNamespace) -> list[float]:
    arrays = [
        a.tolist() for a in (case.logits, case.target, case.mask, case.positive, case.negative)
    ]
    settings = dict(case.settings)
    if case.module.batchwise:
        return getattr(reference_batch, name)(*arrays, case.example.tolist(), **settings)
    if name == "logit_adjusted":
        settings["prior"] = ((case.counts + 1) / (case.counts + 1).sum()).tolist()
    if name == "distribution_balanced":
        settings |= {"counts": case.counts.tolist(), "rows": 30}
    return [getattr(reference, name)(*row, **settings) for row in zip(*arrays)]


def agree(name: str, cases: range) -> None:
    for seed in cases:
        case = drawn(name, seed)
        if case.exclusive and case.target.shape[1] < 2 and case.target.min() < 1:
            continue
        expected = theirs(name, case)
        scale = max(1.0, *map(abs, expected))
        for sparse in (False, True)[: 1 + getattr(case.module, "sparse", True)]:
            found = ours(name, case, sparse=sparse)
            np.testing.assert_allclose(
                found, expected, rtol=1e-10, atol=1e-10 * scale, err_msg=f"seed {seed} {case}"
            )


@pytest.mark.parametrize("name", NAMES)
def test_hundred_random_cases_agree(name: str):
    agree(name, range(100))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_three_hundred_other_random_cases_agree(name: str):
    agree(name, range(100, 400))


@pytest.mark.parametrize("link", ["sigmoid", "sigmoid2", "softmax", "threshold_class"])
def test_divergences_agree(link: str):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = int(rng.integers(2, 12))
        one, two = rng.normal(
            0, rng.choice([0.1, 3, 30, 300]), (2, 1, labels + (link == "threshold_class"))
        )
        mask = rng.random((1, labels)) < 0.7
        for function, loops in ((kl, reference.kl), (symmetric_kl, reference.symmetric_kl)):
            found = function(
                torch.as_tensor(one), torch.as_tensor(two), link=link, mask=torch.as_tensor(mask)
            )
            expected = loops(one[0].tolist(), two[0].tolist(), mask[0].tolist(), link)
            assert found.item() == pytest.approx(expected, rel=1e-10, abs=1e-10), (seed, link)

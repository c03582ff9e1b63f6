"""The embedded pages are hard enough to tell objectives apart."""

import numpy as np
import pytest

from tagwright.data.shop import shop
from tagwright.inference.score import score
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.train import fit

SEEDS = 2
CHOICES = {
    "bce at 0.5": {"objective": "bce", "decide": {"name": "fixed", "probability": 0.5}},
    "bce": {"objective": "bce"},
    "zlpr": {"objective": "zlpr"},
    "zlpr above 0": {"objective": "zlpr", "decide": "zero"},
}


@pytest.fixture(scope="module")
def macro_f1() -> dict[str, np.ndarray]:
    data = shop()
    prepared = prepare(data, resolve({"encoder": "bow"}))
    found: dict[str, list[float]] = {name: [] for name in CHOICES}
    for name, given in CHOICES.items():
        for seed in range(SEEDS):
            fitted = fit(prepared, resolve({"encoder": "bow", "fit": {"seed": seed}, **given}))
            found[name].append(
                score(fitted.model, data, split="test").as_dict()["metrics"]["macro_f1"]
            )
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.slow
def test_the_best_macro_f1_leaves_room_above_and_below(macro_f1):
    best = max(values.mean() for values in macro_f1.values())
    assert 0.6 <= best <= 0.9, macro_f1


@pytest.mark.slow
def test_bce_at_a_half_is_three_points_behind_the_best(macro_f1):
    best = max((values for name, values in macro_f1.items() if name != "bce at 0.5"), key=np.mean)
    assert (best - macro_f1["bce at 0.5"]).mean() >= 0.03, macro_f1

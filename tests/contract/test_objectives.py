"""Every objective that `--objective` takes trains, decides, is saved and is read back, on a task
that it fits.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tagwright import registry
from tagwright.data import Data
from tagwright.inference import model_folder
from tagwright.settings import presets
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.train import fit

from ..tiny_encoders import write_encoder

TEXTS = [
    f"{color} {thing} {n}"
    for n in range(30)
    for color in ("red", "blue")
    for thing in ("tent", "knife", "rope")
]


def data(task: str) -> Data:
    """Texts that tell their labels: their thing, with several labels also their color."""
    groups = {"tent": "camp:tent", "rope": "camp:rope", "knife": "cook:knife"}
    colors = [[f"color:{text.split()[0]}"] if task == "many" else [] for text in TEXTS]
    labels = [[groups[text.split()[1]], *color] for text, color in zip(TEXTS, colors)]
    return Data(
        tables={"all": pa.table({"text": TEXTS, "labels": labels})}, task=task, source="test"
    )


def tasks(name: str) -> list[str]:
    chosen = resolve({"objective": name})
    taken = registry.find("losses", chosen.loss.name).factory.tasks
    only_one = chosen.weights.name == "array" or chosen.loss.name == "squared_error"
    left_out = {"many"} if only_one else {"one"} if chosen.head.name == "chain" else set()
    return [task for task in ("one", "many") if task in taken and task not in left_out]


CASES = [(name, task) for name in presets.names() for task in tasks(name)]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_objective_trains_and_its_model_is_read_back(name: str, task: str, tmp_path: Path):
    encoder, choice = (
        {"name": "cnn", "width": 16, "filters": 16},
        {"epochs": 12, "learning_rate": 0.01},
    )
    chosen = resolve({"objective": name})
    if chosen.fit.optimizer == "exact":
        encoder = {"name": "bow"}
    if chosen.head.name == "cloze":
        encoder = {
            "name": "pretrained",
            "path": str(write_encoder(tmp_path / "encoder")),
            "dropout": 0.0,
        }
        choice = {"epochs": 12, "learning_rate": 0.01, "batch": 8, "limit": 12, "evaluations": 0.2}
    given = {"objective": name, "encoder": encoder, "fit": choice}
    settings = resolve(given, task)
    fitted = fit(prepare(data(task), settings), settings)
    assert fitted.measures.results(label_counts=None)["lrap"] > 0.8
    model_folder.save(fitted.model, tmp_path / "model", card="")
    again = model_folder.load(tmp_path / "model").scores(TEXTS[:20])
    np.testing.assert_allclose(
        again.logits, fitted.model.scores(TEXTS[:20]).logits, rtol=1e-5, atol=1e-6
    )
    assert again.logits.shape[1] == (3 if task == "one" else 5)
    assert ((again.probabilities >= 0) & (again.probabilities <= 1)).all()
    if task == "one":
        np.testing.assert_allclose(again.probabilities.sum(1), 1, rtol=1e-5)
        assert (again.chosen.sum(1) == 1).all()

"""Every regularizer trains with every kind of loss and of encoder, from the seed alone, stopped or
not.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from tagwright import registry
from tagwright.data import Data, read_data
from tagwright.data.shop import shop
from tagwright.data.source import BOTH_OF_SHOP
from tagwright.inference import model_folder
from tagwright.losses import LossModule
from tagwright.settings.schema import resolve
from tagwright.training import steps as loops
from tagwright.training.check import check
from tagwright.training.learner import learner_of
from tagwright.training.prepare import prepare
from tagwright.training.state import Run
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import fit

from ..tiny_encoders import write_encoder
from ..training.regularizers import tiny

TEXTS = [
    f"{c} {t} {n}" for n in range(25) for c in ("red", "blue") for t in ("tent", "knife", "rope")
]
SMALL = {"width": 8, "hidden": 8, "dropout": 0.2}
ENCODERS = {
    "cnn": {"width": 8, "filters": 8, "dropout": 0.2},
    "lstm": {**SMALL, "layers": 2},
    "bat": {**SMALL, "layers": 1, "heads": 2, "feed": 16},
}
# (objective, task): a loss of every link, one that is a mean over labels, one of a whole batch,
# soft labels
OBJECTIVES = [
    ("zlpr", "many"),
    ("bce", "many"),
    ("adaptive_threshold", "many"),
    ("maskloss-label", "many"),
    ("batch_dice", "many"),
    ("cross_entropy", "one"),
    ("kwls", "one"),
]
# that ask for no kind of encoder
NAMES = [name for name in registry.names(registry.REGULARIZERS) if name in ("rdrop", "vat")]
CHOSEN = {**{name: (name,) for name in NAMES}, "both": tuple(NAMES)}
# each alone with the quickest encoder, both with every one
PAIRS = [*((name, "cnn") for name in NAMES), *(("both", encoder) for encoder in ENCODERS)]


def data(task):
    """Texts that tell their labels: their thing, with several labels also their color."""
    groups = {"tent": "camp:tent", "rope": "camp:rope", "knife": "cook:knife"}
    colors = [[f"color:{text.split()[0]}"] if task == "many" else [] for text in TEXTS]
    labels = [[groups[text.split()[1]], *color] for text, color in zip(TEXTS, colors)]
    return Data(
        tables={"all": pa.table({"text": TEXTS, "labels": labels})}, task=task, source="test"
    )


def made(task, chosen, **given):
    fast = {
        "epochs": 2.0,
        "batch": 16,
        "learning_rate": 0.01,
        "device": "cpu",
        **given.pop("fit", {}),
    }
    settings = resolve({**{name: {} for name in chosen}, **given, "fit": fast}, task)
    return prepare(data(task), settings), settings


def weights(fitted):
    return fitted.model.network.state_dict()


def same_bits(one, other):
    return all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize(("which", "encoder"), PAIRS)
def test_it_trains_and_the_model_is_one_like_any_other(which, encoder, tmp_path):
    chosen = CHOSEN[which]
    given = {
        "objective": "zlpr",
        "encoder": {"name": encoder, **ENCODERS[encoder]},
        "fit": {"epochs": 8},
    }
    prepared, settings = made("many", chosen, **given)
    check(prepared, settings)
    fitted, bare = (
        fit(prepared, one)
        for one in (settings, resolve({**settings.as_dict(), **dict.fromkeys(chosen, "none")}))
    )
    assert fitted.measures.results(label_counts=None)["lrap"] > 0.8
    assert not same_bits(weights(fitted), weights(bare))
    assert weights(fitted).keys() == weights(bare).keys()
    model_folder.save(fitted.model, tmp_path / "model", card="")
    again = model_folder.load(tmp_path / "model")
    assert set(chosen) <= again.record.resolved.keys()
    np.testing.assert_allclose(
        again.scores(TEXTS[:9]).logits, fitted.model.scores(TEXTS[:9]).logits, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(("objective", "task"), OBJECTIVES)
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_loss(name, objective, task):
    prepared, settings = made(
        task, (name,), objective=objective, encoder={"name": "cnn", **ENCODERS["cnn"]}
    )
    check(prepared, settings)
    seen = []
    fit(
        prepared,
        settings,
        Run(progress=lambda stream, *_: (seen.append(step) or step for step in stream)),
    )
    losses = [step.loss for step in seen]
    assert np.isfinite(losses).all()
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("task", ["tokens", "both"])
def test_tags_of_tokens_alone_and_beside_labels(name, task):
    given = {"data": {"task": task}, "encoder": {"name": "bat", **ENCODERS["bat"]}, name: {}}
    settings = resolve(
        {**given, "fit": {"epochs": 4.0, "device": "cpu", "learning_rate": 0.01}}, task
    )
    heads = BOTH_OF_SHOP if task == "both" else {}
    prepared, seen = prepare(replace(shop(pages=200), task=task, heads=heads), settings), []
    check(prepared, settings)
    fit(
        prepared,
        settings,
        Run(progress=lambda stream, *_: (seen.append(step) or step for step in stream)),
    )
    losses = [step.loss for step in seen]
    assert np.isfinite(losses).all()
    assert np.mean(losses[-9:]) < np.mean(losses[:9])  # an epoch has nine steps


@pytest.mark.parametrize("which", CHOSEN)
def test_heads_of_texts_beside_each_other_of_which_some_have_no_answer(which, tmp_path):
    source = tmp_path / "texts.csv"
    lines = [
        f"{text},{text.split()[1]},{text.split()[0] if n % 3 else ''}"
        for n, text in enumerate(TEXTS)
    ]
    source.write_text("\n".join(["text,thing,color", *lines]))
    heads = {
        "thing": {"objective": "cross_entropy", "task": "one"},
        "color": {"objective": "zlpr", "task": "many"},
    }
    fast = {"epochs": 8, "batch": 16, "learning_rate": 0.01, "device": "cpu"}
    given = {"encoder": {"name": "cnn", **ENCODERS["cnn"]}, "fit": fast, "heads": heads}
    settings = resolve({**given, **{name: {} for name in CHOSEN[which]}})
    prepared = prepare(
        read_data(source, heads={name: {"task": one["task"]} for name, one in heads.items()}),
        settings,
    )
    check(prepared, settings)
    fitted, bare = (fit(prepared, one) for one in (settings, resolve(given)))
    assert fitted.history[-1]["loss"] < fitted.history[0]["loss"]
    assert fitted.history[-1]["score"] > 0.9
    assert not same_bits(weights(fitted), weights(bare))
    assert weights(fitted).keys() == weights(bare).keys()


@pytest.mark.parametrize("long", ["head", "windows"])
def test_pretrained_encoders_whole_and_in_windows(long, tmp_path):
    path = str(write_encoder(tmp_path))
    encoder = {"name": "pretrained", "path": path, "long": long, "overlap": 1}
    prepared, settings = made(
        "many", NAMES, objective="zlpr", encoder=encoder, fit={"limit": 5, "epochs": 3}
    )
    fitted = fit(prepared, settings)
    assert np.isfinite([row["loss"] for row in fitted.history]).all()
    assert fitted.history[-1]["loss"] < fitted.history[0]["loss"]


@pytest.mark.parametrize(("which", "encoder"), PAIRS)
def test_stopped_and_resumed_equals_never_stopped(which, encoder, tmp_path):
    chosen = CHOSEN[which]
    given = {
        "objective": "zlpr",
        "encoder": {"name": encoder, **ENCODERS[encoder]},
        "fit": {"save_seconds": 0.0},
    }
    prepared, settings = made("many", chosen, **given)
    whole, asked = fit(prepared, settings), iter([False] * 4 + [True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(asked, True)))
    assert same_bits(weights(fit(prepared, settings, Run(folder=tmp_path))), weights(whole))


@pytest.mark.parametrize("chosen", CHOSEN.values(), ids=CHOSEN)
def test_captured_and_stopped_goes_on_to_the_same_bits(chosen, tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "against_capture", lambda *given: None)
    given = {
        "objective": "zlpr",
        "encoder": {"name": "cnn", **ENCODERS["cnn"]},
        "fit": {"save_seconds": 0.0},
    }
    prepared, settings = made("many", chosen, **given)
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(asked, True)))
    assert same_bits(
        weights(fit(prepared, settings, Run(folder=tmp_path))), weights(fit(prepared, settings))
    )


class Squares(LossModule):
    """A loss that looks at no value; those of ours do on a CPU."""

    batchwise = False

    def forward(self, logits, target, *, example_weight, **others):
        return ((logits - target).square().sum(-1) * example_weight).sum()


@pytest.mark.parametrize("tags", [None, tiny.TAGS], ids=["labels", "tags_beside"])
@pytest.mark.parametrize("chosen", CHOSEN.values(), ids=CHOSEN)
def test_no_step_asks_the_device_for_a_value(chosen, tags):
    """Fake tensors have shapes and no values: `.item()` or a shape that depends on values is an
    error of theirs.
    """
    network = tiny.network_of(
        {"main": (5,), **({} if tags is None else {"tags": (3, True)})}, nn.Dropout(0.3)
    )
    objectives = {"main": tiny.objective_of(Squares(), "sigmoid2")}
    if tags is not None:
        objectives["tags"] = tiny.objective_of(Squares(), "softmax", tagged=True, weight=0.3)
    learn = learner_of(network, objectives, resolve({name: {} for name in chosen}))
    batch = tiny.batch_of(weight=torch.ones(4, dtype=torch.float64), tags=tags)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        value = learn(tiny.each(batch, mode.from_tensor), torch.Generator()).value
        value.backward()
        with pytest.raises(DataDependentOutputException):
            value.item()

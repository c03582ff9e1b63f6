"""The whole road with masked-language modelling: what is refused, trained, saved, stopped and gone
on with.
"""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tagwright.batches.resident import Resident
from tagwright.data import read_data
from tagwright.data.shop import shop
from tagwright.data.source import BOTH_OF_SHOP
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.models.build import build_network
from tagwright.models.heads.mlm import MASKED
from tagwright.objective import build_objective
from tagwright.pipelines.fit import fit_folder
from tagwright.settings.schema import resolve
from tagwright.training import steps as loops
from tagwright.training.captured import CapturedStep, captured_steps
from tagwright.training.check import check
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import BatchLoss, learner_of
from tagwright.training.loop import Course, steps
from tagwright.training.mlm_head import mlm_heads
from tagwright.training.prepare import prepare
from tagwright.training.regularizers.mlm import MaskedModelling
from tagwright.training.step_stream import Interrupted
from tagwright.training.steps import batch_loss
from tagwright.training.train import Run, fit

from ..tiny_encoders import FAMILIES, write_encoder

LABELS = {"labels": "labels"}  # a head that reads that column
QUICK = {"epochs": 2, "batch": 16, "learning_rate": 0.01, "limit": 24}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoders") / "bert", "bert", masked=True)


def given(encoder, fit=None, mlm=None, **options):
    sections = {
        "encoder": {"name": "pretrained", "path": str(encoder), **options},
        "fit": {**QUICK, **(fit or {})},
    }
    return {**sections, "mlm": {} if mlm is None else mlm}


def digest(network):
    tensors = network.state_dict().values()
    return hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in tensors)).hexdigest()


def network_of(prepared, settings):
    facts = {"sizes": prepared.tokenizer.sizes, "learned": prepared.learned, "fresh": True}
    network = build_network(
        settings, {"main": (prepared.space, prepared.heads["main"].examples)}, **facts
    )
    network.heads.update(mlm_heads(prepared, settings, network.encoder))
    return network


def main_of(prepared, settings, row_count):
    return {
        "main": HeadObjective(
            build_objective(settings, prepared.space, row_count=row_count), link=settings.link
        )
    }


def test_saved_model_is_of_the_same_form_as_without(encoder, split_source, tmp_path):
    said = []
    for name, settings in {
        "with": given(encoder),
        "without": {**given(encoder), "mlm": "none"},
    }.items():
        fit_folder(str(split_source), settings, out=tmp_path / name, say=said.append)
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("with", "without"))
    assert {name: t.shape for name, t in one.items()} == {
        name: t.shape for name, t in other.items()
    }
    assert not [sentence for sentence in said if "mlm" in sentence]
    assert any(not torch.equal(tensor, other[name]) for name, tensor in one.items())
    model = model_folder.load(tmp_path / "with")
    assert "mlm" in model.record.resolved
    assert set(model.network.heads) == {"main"}


@pytest.mark.parametrize("options", [{}, {"lora": 2}, {"freeze": 1}, {"freeze": "all"}], ids=str)
def test_stopped_and_resumed_equals_never_stopped(options, encoder, source, tmp_path):
    settings = resolve(
        given(encoder, {"save_seconds": 0.0, "refit": True}, {"weight": 0.5}, **options)
    )
    prepared = prepare(read_data(str(source)), settings)
    whole = fit(prepared, settings)
    asked = iter([False] * 4 + [True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(asked)))
    kept = next((tmp_path / "fit").glob("step-*"))
    assert f"heads.{MASKED}.dense.weight" in load_file(kept / "weights.safetensors")
    resumed = fit(prepared, settings, Run(folder=tmp_path))
    assert digest(resumed.model.network) == digest(whole.model.network)
    assert resumed.history == whole.history


def test_windows_tags_and_tags_beside_labels_are_trained_with_it(encoder, source, token_source):
    settings = resolve({**given(encoder, {"epochs": 1}), "data": {"task": "both"}}, "both")
    prepared = prepare(replace(shop(pages=120), task="both", heads=BOTH_OF_SHOP), settings)
    check(prepared, settings)
    assert fit(prepared, settings).model.network.heads.keys() == {"main", "tags"}
    settings = resolve(given(encoder, {"limit": 9, "epochs": 1}, long="windows", overlap=2))
    prepared = prepare(read_data(str(source)), settings)
    check(prepared, settings)
    assert fit(prepared, settings).history
    settings = resolve(given(encoder, {"epochs": 8, "learning_rate": 0.02}), "tokens")
    prepared = prepare(read_data(str(token_source)), settings)
    check(prepared, settings)
    assert fit(prepared, settings).history[-1]["score"] > 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_takes_a_step_that_moves_the_head(family, source, tmp_path):
    folder = write_encoder(tmp_path / "encoder", family)
    settings = resolve(given(folder, {"epochs": 0.1, "refit": False}))
    prepared = prepare(read_data(str(source)), settings)
    network = network_of(prepared, settings)
    learn = learner_of(network, main_of(prepared, settings, 9), settings)
    rows = prepared.rows("train", network, settings)
    value = learn(rows.batch(np.arange(16), "cpu"), torch.Generator().manual_seed(0)).value
    value.backward()
    assert torch.isfinite(value)
    assert all(parameter.grad.abs().sum() > 0 for parameter in network.heads[MASKED].parameters())
    assert fit(prepared, settings).model.network.heads.keys() == {"main"}


class Loops:
    """A network without dropout, and rows of which every batch has the same shape in both loops."""

    def __init__(self, encoder, source):
        calm = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        folder = write_encoder(encoder, "bert", masked=True, **calm)
        self.settings = resolve(
            given(folder, {"batch": 6, "limit": 16}, {"weight": 0.5, "share": 0.3}, dropout=0.0)
        )
        self.prepared = prepare(read_data(str(source)), self.settings)
        self.network = network_of(self.prepared, self.settings)
        learn = learner_of(self.network, main_of(self.prepared, self.settings, 90), self.settings)
        self.rows = self.prepared.rows("train", self.network, self.settings)
        self.loss_of = lambda batch, generator: batch_loss(self.network, learn, batch, generator)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=0.01, eps=1e-2, fused=True)
        long = np.flatnonzero(self.rows.inputs.lengths == 16)
        short = np.flatnonzero(self.rows.inputs.lengths < 16)
        batches = [np.append(short[5 * n : 5 * n + 5], long[n]) for n in range(4)]
        self.course = Course(plan=lambda epoch: batches, per_epoch=4, total=9)

    def plain(self, **options):
        def of_rows(index, generator):
            return self.loss_of(self.rows.batch(index, "cpu"), generator)

        return list(
            steps(
                self.network,
                self.optimizer,
                self.course,
                of_rows,
                lambda step: 1 - step / 20,
                **options,
            )
        )

    def captured(self, **options):
        resident = Resident(self.rows, torch.device("cpu"))
        step = CapturedStep(
            resident, self.network, self.optimizer, self.loss_of, batch=6, **options
        )
        return list(captured_steps(step, self.course, lambda step: 1 - step / 20))


def test_captured_steps_are_those_of_the_plain_loop(source, tmp_path):
    one, other = (Loops(tmp_path / name, source) for name in ("one", "other"))
    plain, found = one.plain(), other.captured()
    assert [step.loss for step in found] == pytest.approx([step.loss for step in plain], rel=1e-4)
    torch.testing.assert_close(
        other.network.state_dict(), one.network.state_dict(), rtol=1e-3, atol=1e-4
    )
    assert not np.isclose(plain[0].loss, plain[4].loss, rtol=1e-3)  # other draws for the same rows


def test_pieces_are_learnt_beside_the_task(source, tmp_path):
    """What the head says of hidden pieces becomes better, measured without the task."""
    case = Loops(tmp_path / "encoder", source)
    alone = MaskedModelling(
        lambda batch, _: BatchLoss(torch.zeros(()), {}, case.network.run(*batch.inputs)[0]),
        case.network,
    )
    batch, found = case.rows.batch(np.arange(60), "cpu"), []
    for _ in range(2):
        with torch.no_grad():
            found.append(
                float(alone(batch, torch.Generator().manual_seed(0)).value) / 60 / alone.weight
            )
        case.plain()
    assert found[1] < found[0] - 0.5


def test_captured_steps_train_through_fit(encoder, source, monkeypatch):
    monkeypatch.setattr(loops, "against_capture", lambda *given: None)
    settings = resolve(given(encoder, {"epochs": 8}))
    prepared = prepare(read_data(str(source)), settings)
    assert fit(prepared, settings).history[-1]["score"] > 0.6


@pytest.mark.parametrize(
    ("sections", "match"),
    [
        ({"mlm": {"share": 0.0}}, r"mlm\.share must be above 0 and at most 1, got 0\.0"),
        ({"mlm": {"share": 1.5}}, r"mlm\.share must be"),
        ({"mlm": {"weight": -0.1}}, r"mlm\.weight must be"),
        ({"encoder": "cnn"}, "mlm needs a pretrained encoder, got cnn"),
        ({"encoder": "bow"}, "mlm needs a pretrained encoder, got bow"),
        ({"encoder": "bat"}, "mlm needs a pretrained encoder, got bat"),
        ({"encoder": "lstm", "embed": "word"}, "mlm needs a pretrained encoder, got lstm"),
        ({"head": {"chunk": 2}}, "mlm does not go with labels in chunks"),
        (
            {"heads": {"one": LABELS, "two": {**LABELS, "head": {"chunk": 2}}}},
            "mlm does not go with labels in chunks",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    sections, match, encoder, source, tmp_path
):
    with pytest.raises(SettingsError, match=match):
        fit_folder(str(source), {**given(encoder), **sections}, out=tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_without_a_mask_is_refused(source, tmp_path):
    from transformers import AutoTokenizer

    folder = write_encoder(tmp_path / "encoder", "bert")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    content = tokenizer.backend_tokenizer.to_str().replace("[MASK]", "[HIDE]")
    settings = resolve(given(folder))
    prepared = prepare(read_data(str(source)), settings)
    prepared.tokenizer.tokenizer = type(tokenizer.backend_tokenizer).from_str(content)
    with pytest.raises(
        SettingsError, match=r"hides pieces behind a mask token, and the tokenizer of .* has none"
    ):
        check(prepared, settings)


def test_a_head_that_starts_anew_is_told(source, tmp_path):
    folder, said = write_encoder(tmp_path / "encoder", "bert"), []
    fit_folder(str(source), given(folder, {"epochs": 1}), out=tmp_path / "model", say=said.append)
    assert sum("brings no head for masked pieces" in sentence for sentence in said) == 1

"""What holds on a CPU holds on a GPU: every loss and encoder, and a run that was stopped and resumed."""

import hashlib
from pathlib import Path

import pytest
import torch

from tagwright import parts
from tagwright.assemble.network import build_network
from tagwright.assemble.prepare import prepare
from tagwright.assemble.train import Run, fit
from tagwright.embed._source import NAMED
from tagwright.fit.evaluate import logits_of
from tagwright.fit.pipes import Interrupted
from tagwright.model import inputs_of
from tagwright.read.shop import shop
from tagwright.settings import resolve

from ..tiny_encoders import FAMILIES, write_encoder

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="GPU tests want a CUDA device"),
]


ROOM = 120 * 2**20  # bytes for a small encoder: enough for some of a batch, not for all
WAITING = {"deberta-v2"}  # families that copy numbers from the host at every step

# those by name are `pretrained` with a source of their own
ENCODERS = [name for name in parts.names("encoders") if name not in NAMED]


def encoder(name: str, folder: Path) -> dict[str, str]:
    """The choice of an encoder; a tiny one where it wants weights."""
    return {"name": name} | ({"path": str(write_encoder(folder))} if name == "pretrained" else {})


@pytest.mark.parametrize("name", parts.names("losses"))
def test_loss_and_gradient_agree_with_the_cpu(name):
    torch.manual_seed(0)
    factory = parts.find("losses", name).factory
    logits, target = torch.randn(41, 37 + factory.extra_logits), (torch.rand(41, 37) < 0.1).float()
    target[:, 0] = 1 - target[:, 1:].amax(1)
    loss = parts.build("losses", name, {}, label_counts=target.sum(0).numpy(), row_count=41)
    found = {}
    for device in ("cpu", "cuda"):
        moved = logits.to(device, copy=True).requires_grad_()
        value = loss.to(device)(moved, target.to(device))
        value.backward()
        found[device] = (value.detach().cpu(), moved.grad.cpu())
    torch.testing.assert_close(found["cuda"], found["cpu"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ENCODERS)
def test_network_agrees_with_the_cpu(name, tmp_path: Path):
    settings = resolve({"encoder": encoder(name, tmp_path), "fit": {"limit": 40, "precision": "float32"}})
    prepared = prepare(shop(pages=200), settings)
    facts = {"sizes": prepared.tokeniser.sizes, "learned": prepared.learned}
    network = build_network(settings, {"main": prepared.space}, **facts)
    inputs = inputs_of(network, prepared.tokens["dev"], limit=settings.fit.limit)
    torch.nn.init.normal_(network.heads["main"].linear.weight)
    on_cpu = logits_of(network, inputs)
    on_gpu = logits_of(network.cuda(), inputs)
    torch.testing.assert_close(torch.tensor(on_gpu), torch.tensor(on_cpu), rtol=1e-3, atol=1e-3)


def digest(tensors: dict[str, torch.Tensor]) -> str:
    return hashlib.sha256(b"".join(t.cpu().numpy().tobytes() for t in tensors.values())).hexdigest()


@pytest.mark.parametrize("name", ENCODERS)
def test_stopped_and_resumed_equals_never_stopped(name, tmp_path: Path):
    fixed = {"epochs": 2, "deterministic": True, "device": "cuda", "save_seconds": 0.0, "limit": 40, "evaluations": 3}
    settings = resolve({"objective": "zlpr", "encoder": encoder(name, tmp_path / "source"), "fit": fixed})
    prepared = prepare(shop(pages=400), settings)
    whole = fit(prepared, settings)
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path / "run", asked=lambda: next(asked, True)))
    resumed = fit(prepared, settings, Run(folder=tmp_path / "run"))
    assert digest(resumed.model.network.state_dict()) == digest(whole.model.network.state_dict())


@pytest.mark.parametrize(
    ("name", "more", "tolerance"),
    [
        ("cnn", {"mask": {"name": "groups"}}, 2e-3),
        ("pretrained", {"weights": "inverse"}, 2e-3),
        ("pretrained", {"fit": {"accumulate": 2}}, 5e-3),  # cut elsewhere, and Adam makes a step of a rounding
        ("pretrained", {"fit": {"layer_decay": 0.9}}, 2e-3),
    ],
)
def test_captured_steps_are_those_of_the_plain_loop(name, more, tolerance, tmp_path: Path):
    """Without draws, for a batch's shape decides what is drawn."""
    chosen = encoder(name, tmp_path) | {"dropout": 0.0} | ({"attention_dropout": 0.0} if name == "pretrained" else {})
    common = {"epochs": 1.5, "device": "cuda", "limit": 40, "precision": "float32", **more.get("fit", {})}
    given = {"objective": "zlpr", "encoder": chosen, **more}
    losses, said = {}, []
    for capture in (True, False):
        settings = resolve({**given, "fit": {**common, "capture": capture}})
        prepared = prepare(shop(pages=420), settings)
        seen = []
        watching = Run(progress=lambda stream, *_, seen=seen: (seen.append(s) or s for s in stream), say=said.append)
        fit(prepared, settings, watching)
        losses[capture] = [step.loss for step in seen if step.loss]
        assert {step.settled for step in seen} == ({True, False} if capture else {True})
    assert said == []
    assert losses[True] == pytest.approx(losses[False], rel=tolerance)


def test_captured_steps_excuse_what_words_excuse(tmp_path: Path):
    """One frequent word speaks for all labels; a draw for every step, from the run's generator on the device."""
    given = {"objective": "zlpr", "encoder": {"name": "cnn", "dropout": 0.0}}
    prepared = prepare(shop(pages=420), resolve(given))
    path = tmp_path / "words.csv"
    path.write_text("word,label\n" + "".join(f'and,"{label}"\n' for label in prepared.space.names))
    losses = {}
    for capture in (True, False):
        choice = {"epochs": 1.5, "device": "cuda", "limit": 40, "capture": capture}
        settings = resolve({**given, "mask": {"name": "elements", "words": str(path)}, "fit": choice})
        seen = []
        fit(prepared, settings, Run(progress=lambda stream, *_, seen=seen: (seen.append(s) or s for s in stream)))
        losses[capture] = [step.loss for step in seen]
        assert {step.settled for step in seen} == ({True, False} if capture else {True})
    assert losses[True] == pytest.approx(losses[False], rel=2e-3)


def test_an_encoder_that_waits_for_the_host_is_trained_step_by_step():
    settings = resolve({"encoder": {"name": "lstm"}, "fit": {"epochs": 1, "device": "cuda"}})
    said = []
    fit(prepare(shop(pages=200), settings), settings, Run(say=said.append))
    assert [text.partition(":")[0] for text in said] == ["steps run one by one, not as captured graphs"]


def test_memory_that_runs_out_cuts_batches_in_parts(tmp_path: Path):
    path = str(write_encoder(tmp_path, hidden_size=128, intermediate_size=512))
    chosen = {"name": "pretrained", "path": path}
    settings = resolve({"encoder": chosen, "fit": {"epochs": 1, "device": "cuda", "batch": 256, "limit": 40}})
    prepared, said = prepare(shop(pages=600), settings), []
    whole = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    try:
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + ROOM) / whole)
        fit(prepared, settings, Run(say=said.append))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert any("a whole step does not fit" in text for text in said)
    assert any("parts from here on" in text for text in said)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_captured_or_says_why_not(family, tmp_path: Path):
    chosen = {"name": "pretrained", "path": str(write_encoder(tmp_path, family))}
    settings = resolve({"encoder": chosen, "fit": {"epochs": 1, "device": "cuda", "limit": 40}})
    said = []
    fit(prepare(shop(pages=200), settings), settings, Run(say=said.append))
    assert len(said) == (family in WAITING), said

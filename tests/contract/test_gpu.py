"""What holds on a CPU holds on a GPU: every loss and encoder, and a run that was stopped and
resumed.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tagwright import registry
from tagwright.data.shop import shop
from tagwright.data.source import BOTH_OF_SHOP
from tagwright.inference.model import inputs_of
from tagwright.models.build import build_network
from tagwright.models.encoders import _unpadded
from tagwright.models.evaluate import logits_of
from tagwright.models.heads import mlm
from tagwright.settings.schema import resolve
from tagwright.tokenizers.source import NAMED
from tagwright.training.prepare import prepare
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import Run, fit

from ..tiny_encoders import FAMILIES, write_encoder

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="GPU tests want a CUDA device"),
]


ROOM = 120 * 2**20  # bytes for a small encoder: enough for some of a batch, not for all
WAITING = {"deberta-v2"}  # families that copy numbers from the host at every step

# those by name are `pretrained` with a source of their own
ENCODERS = [name for name in registry.names("encoders") if name not in NAMED]


def encoder(name: str, folder: Path, **more: float) -> dict[str, str]:
    """The choice of an encoder; a tiny one where it wants weights, with `more` in its config."""
    return {"name": name} | (
        {"path": str(write_encoder(folder, **more))} if name == "pretrained" else {}
    )


def heads_of(prepared):
    return {name: (head.space, head.examples) for name, head in prepared.heads.items()}


@pytest.mark.parametrize("name", registry.names("losses"))
def test_loss_and_gradient_agree_with_the_cpu(name):
    torch.manual_seed(0)
    factory = registry.find("losses", name).factory
    logits, target = torch.randn(41, 37 + factory.extra_logits), (torch.rand(41, 37) < 0.1).float()
    target[:, 0] = 1 - target[:, 1:].amax(1)
    loss = registry.build("losses", name, {}, label_counts=target.sum(0).numpy(), row_count=41)
    found = {}
    for device in ("cpu", "cuda"):
        moved = logits.to(device, copy=True).requires_grad_()
        value = loss.to(device)(moved, target.to(device))
        value.backward()
        found[device] = (value.detach().cpu(), moved.grad.cpu())
    torch.testing.assert_close(found["cuda"], found["cpu"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ENCODERS)
def test_network_agrees_with_the_cpu(name, tmp_path: Path):
    settings = resolve(
        {"encoder": encoder(name, tmp_path), "fit": {"limit": 40, "precision": "float32"}}
    )
    prepared = prepare(shop(pages=200), settings)
    facts = {"sizes": prepared.tokenizer.sizes, "learned": prepared.learned}
    network = build_network(settings, heads_of(prepared), **facts)
    inputs = inputs_of(network, prepared.tokens["dev"], limit=settings.fit.limit)
    torch.nn.init.normal_(network.heads["main"].linear.weight)
    on_cpu = logits_of(network, inputs)
    on_gpu = logits_of(network.cuda(), inputs)
    torch.testing.assert_close(torch.tensor(on_gpu), torch.tensor(on_cpu), rtol=1e-3, atol=1e-3)


def digest(tensors: dict[str, torch.Tensor]) -> str:
    return hashlib.sha256(b"".join(t.cpu().numpy().tobytes() for t in tensors.values())).hexdigest()


@pytest.mark.parametrize("name", ENCODERS)
def test_stopped_and_resumed_equals_never_stopped(name, tmp_path: Path):
    fixed = {
        "epochs": 2,
        "deterministic": True,
        "device": "cuda",
        "save_seconds": 0.0,
        "limit": 40,
        "evaluations": 3,
    }
    settings = resolve(
        {"objective": "zlpr", "encoder": encoder(name, tmp_path / "source"), "fit": fixed}
    )
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
        # cut elsewhere, and Adam makes a step of a rounding
        (
            "pretrained",
            {"fit": {"accumulate": 2}},
            5e-3,
        ),
        ("pretrained", {"fit": {"layer_decay": 0.9}}, 2e-3),
        (
            "pretrained",
            {"head": {"name": "cloze", "slot_positions": "shared"}, "fit": {"limit": 24}},
            2e-3,
        ),
        (
            "pretrained",
            {"head": {"name": "cloze", "text_sees_slots": False, "chunks": 9}, "fit": {"limit": 8}},
            2e-3,
        ),
    ],
)
def test_captured_steps_are_those_of_the_plain_loop(name, more, tolerance, tmp_path: Path):
    """Without draws, for a batch's shape decides what is drawn."""
    chosen = encoder(name, tmp_path, hidden_dropout_prob=0.0) | {"dropout": 0.0}
    chosen |= {"attention_dropout": 0.0} if name == "pretrained" else {}
    common = {
        "epochs": 1.5,
        "device": "cuda",
        "limit": 40,
        "precision": "float32",
        **more.get("fit", {}),
    }
    given = {"objective": "zlpr", "encoder": chosen, **more}
    losses, said = {}, []
    for capture in (True, False):
        settings = resolve({**given, "fit": {**common, "capture": capture}})
        prepared = prepare(shop(pages=420), settings)
        seen = []
        watching = Run(
            progress=lambda stream, *_, seen=seen: (seen.append(s) or s for s in stream),
            say=said.append,
        )
        fit(prepared, settings, watching)
        losses[capture] = [step.loss for step in seen if step.loss]
        assert {step.settled for step in seen} == ({True, False} if capture else {True})
    assert said == []
    assert losses[True] == pytest.approx(losses[False], rel=tolerance)


@pytest.mark.parametrize(("regularize", "tolerance"), [({"rdrop": {}}, 2e-3), ({"vat": {}}, 5e-2)])
@pytest.mark.parametrize("name", ["cnn", "bat", "pretrained"])
def test_steps_with_regularizers_are_captured(name, regularize, tolerance, tmp_path: Path):
    """What VAT draws goes by the shape of a batch, which a captured step fills up: its term is only
    about the same.
    """
    common, losses, said = (
        {"epochs": 1.5, "device": "cuda", "limit": 40, "precision": "float32"},
        {},
        [],
    )
    calm = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    source = {"path": str(write_encoder(tmp_path, **calm))} if name == "pretrained" else {}
    given = {"objective": "zlpr", "encoder": {"name": name, "dropout": 0.0, **source}, **regularize}
    for capture in (True, False):
        settings = resolve({**given, "fit": {**common, "capture": capture}})
        seen = []
        watching = Run(
            progress=lambda stream, *_, seen=seen: (seen.append(s) or s for s in stream),
            say=said.append,
        )
        fit(prepare(shop(pages=420), settings), settings, watching)
        losses[capture] = [step.loss for step in seen]
        assert {step.settled for step in seen} == ({True, False} if capture else {True})
    assert said == []
    assert losses[True] == pytest.approx(losses[False], rel=tolerance)


def test_a_recurrent_network_gives_virtual_adversarial_training_its_gradients():
    """cuDNN makes none of a network that does not train."""
    settings = resolve(
        {"objective": "zlpr", "encoder": "lstm", "vat": {}, "fit": {"epochs": 1, "device": "cuda"}}
    )
    fitted = fit(prepare(shop(pages=200), settings), settings)
    assert all(np.isfinite(row["loss"]) for row in fitted.history)


def test_captured_steps_excuse_what_words_excuse(tmp_path: Path):
    """One frequent word speaks for all labels; a draw for every step, from the run's generator on
    the device.
    """
    given = {"objective": "zlpr", "encoder": {"name": "cnn", "dropout": 0.0}}
    prepared = prepare(shop(pages=420), resolve(given))
    path = tmp_path / "words.csv"
    path.write_text("word,label\n" + "".join(f'and,"{label}"\n' for label in prepared.space.names))
    losses = {}
    for capture in (True, False):
        choice = {"epochs": 1.5, "device": "cuda", "limit": 40, "capture": capture}
        settings = resolve(
            {**given, "mask": {"name": "elements", "words": str(path)}, "fit": choice}
        )
        seen = []
        fit(
            prepared,
            settings,
            Run(progress=lambda stream, *_, seen=seen: (seen.append(s) or s for s in stream)),
        )
        losses[capture] = [step.loss for step in seen]
        assert {step.settled for step in seen} == ({True, False} if capture else {True})
    assert losses[True] == pytest.approx(losses[False], rel=2e-3)


def test_an_encoder_that_waits_for_the_host_is_trained_step_by_step():
    settings = resolve({"encoder": {"name": "lstm"}, "fit": {"epochs": 1, "device": "cuda"}})
    said = []
    fit(prepare(shop(pages=200), settings), settings, Run(say=said.append))
    assert [text.partition(":")[0] for text in said] == [
        "steps run one by one, not as captured graphs"
    ]


def test_memory_that_runs_out_cuts_batches_in_parts(tmp_path: Path):
    path = str(write_encoder(tmp_path, hidden_size=128, intermediate_size=512))
    chosen = {"name": "pretrained", "path": path}
    settings = resolve(
        {"encoder": chosen, "fit": {"epochs": 1, "device": "cuda", "batch": 256, "limit": 40}}
    )
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


@pytest.mark.parametrize("cells", [mlm.CELLS, 1], ids=["whole", "in parts"])
@pytest.mark.parametrize("family", FAMILIES)
def test_masked_language_modelling_is_captured_and_goes_on_to_the_same_bits(
    family, cells, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(mlm, "CELLS", cells)
    chosen = {
        "name": "pretrained",
        "path": str(write_encoder(tmp_path / "source", family, masked=True)),
    }
    fixed = {
        "epochs": 2,
        "device": "cuda",
        "limit": 40,
        "deterministic": True,
        "save_seconds": 0.0,
        "evaluations": 3,
    }
    settings = resolve({"encoder": chosen, "mlm": {}, "fit": fixed})
    prepared, said = prepare(shop(pages=200), settings), []
    whole = fit(prepared, settings, Run(say=said.append))
    assert len(said) == (family in WAITING), said
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        fit(prepared, settings, Run(folder=tmp_path / "run", asked=lambda: next(asked, True)))
    resumed = fit(prepared, settings, Run(folder=tmp_path / "run"))
    assert digest(resumed.model.network.state_dict()) == digest(whole.model.network.state_dict())


# those that draw no state from the host: the shell's, and not `lstm`
TAGGERS = ["admin", "bat", "informer", "muse", "performer", "switch", "transformer"]


@pytest.mark.parametrize("task", ["tokens", "both"])
@pytest.mark.parametrize("name", TAGGERS)
def test_taggers_are_captured_and_learn_what_the_plain_loop_does(name, task):
    data = replace(shop(pages=420), task=task, heads=BOTH_OF_SHOP if task == "both" else {})
    losses, said = {}, []
    for capture in (True, False):
        choice = {"epochs": 1.5, "device": "cuda", "limit": 40, "capture": capture, "batch": 16}
        settings = resolve({"encoder": {"name": name, "dropout": 0.0}, "fit": choice}, task)
        seen = []
        watching = Run(
            progress=lambda stream, *_, seen=seen: (seen.append(s) or s for s in stream),
            say=said.append,
        )
        fit(prepare(data, settings), settings, watching)
        losses[capture] = [step.loss for step in seen if step.loss]
        assert {step.settled for step in seen} == ({True, False} if capture else {True})
    assert said == []
    assert losses[True] == pytest.approx(losses[False], rel=2e-2)


@pytest.mark.parametrize("family", sorted(_unpadded.FAMILIES & set(FAMILIES)))
def test_attention_without_padding_says_what_a_mask_says(family, tmp_path: Path, monkeypatch):
    """The kernel wants heads of 8 numbers at least, and half precision; both ways round alike
    then.
    """
    path = str(
        write_encoder(tmp_path, family, hidden_size=32, num_attention_heads=2, intermediate_size=64)
    )
    settings = resolve(
        {
            "encoder": {"name": "pretrained", "path": path},
            "fit": {"limit": 40, "precision": "bfloat16"},
        }
    )
    prepared = prepare(shop(pages=200), settings)
    facts = {"sizes": prepared.tokenizer.sizes, "learned": prepared.learned, "fresh": True}
    network = build_network(settings, heads_of(prepared), **facts).cuda().eval()
    inputs = inputs_of(network, prepared.tokens["dev"], limit=40)
    tensors = [tensor.cuda() for tensor in inputs.batch(np.arange(16))]
    found, gradients = [], []
    for narrowest in (1, 10**6):
        monkeypatch.setattr(_unpadded, "NARROWEST", narrowest)
        network.zero_grad()
        pooled = network.encoder(*tensors).pooled
        pooled.float().square().sum().backward()
        found.append(pooled.detach().float())
        gradients.append(network.encoder.model.get_input_embeddings().weight.grad.clone())
    torch.testing.assert_close(*found, rtol=0.05, atol=0.05)
    torch.testing.assert_close(*gradients, rtol=0.1, atol=0.1 * float(gradients[1].abs().max()))

"""The head of every family that comes with its weights says what transformers says."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from tagwright.data import read_data
from tagwright.errors import ModelError
from tagwright.models.build import build_network
from tagwright.models.heads.mlm import MASKED
from tagwright.models.heads.mlm_weights import FORMS, form_in
from tagwright.settings.schema import resolve
from tagwright.training.mlm_head import check_mlm, mlm_heads
from tagwright.training.prepare import prepare

from ...tiny_encoders import FAMILIES, write_encoder

TEXTS = [
    "a tent for the kitchen in paris, very red",
    "iron",
    "some letters xyz and rome of the very blue golf",
]
KINDS = [(family, {}) for family in FAMILIES]
KINDS += [
    ("deberta-v2", {"legacy": False}),
    ("bert", {"hidden_act": "relu"}),
    ("roberta", {"hidden_act": "relu"}),
]
KINDS += [
    ("albert", {"hidden_act": "gelu_new"}),
    ("modernbert", {"classifier_bias": True, "norm_bias": True}),
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "texts.csv"
    lines = [f'{number},"{TEXTS[number % 3]} {number}",{"ab"[number % 2]}' for number in range(30)]
    path.write_text("id,text,labels\n" + "\n".join(lines), encoding="utf-8")
    return path


def made(folder, rows):
    """The data, the encoder of a folder and its head beside the others."""
    settings = resolve(
        {"encoder": {"name": "pretrained", "path": str(folder)}, "mlm": {}, "fit": {"limit": 32}}
    )
    prepared = prepare(read_data(str(rows)), settings)
    facts = {"sizes": prepared.tokenizer.sizes, "learned": prepared.learned, "fresh": True}
    network = build_network(
        settings, {"main": (prepared.space, prepared.heads["main"].examples)}, **facts
    ).eval()
    return (
        prepared,
        settings,
        network.encoder,
        mlm_heads(prepared, settings, network.encoder)[MASKED],
    )


@pytest.mark.parametrize(("family", "more"), KINDS, ids=str)
def test_logits_are_those_of_transformers(family, more, rows, tmp_path):
    from transformers import AutoModelForMaskedLM

    folder = write_encoder(tmp_path / "encoder", family, masked=True, **more)
    prepared, settings, encoder, head = made(folder, rows)
    assert check_mlm(prepared, settings) == ()
    theirs = AutoModelForMaskedLM.from_pretrained(folder).eval()
    for text in TEXTS:
        ids = torch.from_numpy(prepared.tokenizer.encode([text]).ids).long()[None]
        expected = theirs(input_ids=ids).logits[0]
        states = encoder(ids, torch.tensor([ids.shape[1]])).states[0]
        torch.testing.assert_close(
            head(states, encoder.words.weight), expected, rtol=1e-5, atol=1e-5
        )


def test_every_form_is_some_familys(tmp_path):
    found = set()
    for number, (family, more) in enumerate(KINDS):
        folder = write_encoder(tmp_path / str(number), family, masked=True, **more)
        found.add(form_in(folder, json.loads((folder / "config.json").read_text())))
    assert found == set(FORMS)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_encoder_without_one_starts_from_its_word_vectors(family, rows, tmp_path):
    prepared, settings, encoder, head = made(write_encoder(tmp_path / "encoder", family), rows)
    assert [
        sentence
        for sentence in check_mlm(prepared, settings)
        if "starts from its word vectors" in sentence
    ]
    own = encoder.words.weight.shape[1]
    assert head.dense.weight.shape == (own, encoder.width_out)
    assert head.bias.shape == encoder.words.weight.shape[:1]
    if own == encoder.width_out:
        assert torch.equal(head.dense.weight, torch.eye(own))
    else:
        wider = next(p for p in encoder.model.parameters() if p.shape == (encoder.width_out, own))
        torch.testing.assert_close(head.dense.weight @ wider, torch.eye(own), rtol=1e-4, atol=1e-4)


def rewritten(folder, changed):
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    return changed(tensors)


def test_old_names_of_a_norm_are_known(rows, tmp_path):
    folder = write_encoder(tmp_path / "encoder", "bert", masked=True)
    expected = made(folder, rows)[-1].state_dict()
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

    def renamed(name):
        return next(
            (name.replace(new, own) for new, own in old.items() if name.endswith(new)), name
        )

    tensors = rewritten(
        folder, lambda found: {renamed(name): tensor for name, tensor in found.items()}
    )
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    found = made(folder, rows)[-1].state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in found.items())


def test_weights_in_several_files_are_found(rows, tmp_path):
    folder = write_encoder(tmp_path / "encoder", "roberta", masked=True)
    expected = made(folder, rows)[-1].state_dict()
    tensors = rewritten(folder, dict)
    places = {}
    for part in range(2):
        own = {name: tensors[name] for name in sorted(tensors)[part::2]}
        save_file(
            own, folder / f"model-{part + 1:05d}-of-00002.safetensors", metadata={"format": "pt"}
        )
        places |= dict.fromkeys(own, f"model-{part + 1:05d}-of-00002.safetensors")
    index = {"metadata": {"total_size": 0}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    found = made(folder, rows)[-1].state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in found.items())


def test_a_head_that_does_not_end_in_the_word_vectors_is_not_taken(tmp_path):
    folder = write_encoder(tmp_path / "encoder", "bert", masked=True)
    config = json.loads((folder / "config.json").read_text())
    assert form_in(folder, config) is not None
    assert form_in(folder, {**config, "tie_word_embeddings": False}) is None


@pytest.mark.parametrize(
    ("name", "tensor", "match"),
    [
        (
            "lm_head.bias",
            torch.zeros(3),
            r"lm_head\.bias in .* does not fit the encoder beside it: it is \(3,\)",
        ),
        (
            "lm_head.layer_norm.weight",
            None,
            r"has lm_head\.dense, but not lm_head\.layer_norm\.weight",
        ),
    ],
)
def test_a_head_that_does_not_fit_is_refused(name, tensor, match, rows, tmp_path):
    folder = write_encoder(tmp_path / "encoder", "roberta", masked=True)
    tensors = rewritten(folder, lambda found: {**found, name: tensor})
    kept = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=match):
        made(folder, rows)

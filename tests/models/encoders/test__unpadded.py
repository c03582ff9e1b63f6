"""Attention without padding: a family that takes it says what it says with a mask. The kernel is a
plain loop here.
"""

import itertools

import numpy as np
import pytest
import torch

from tagwright.models.encoders import _unpadded
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.tokenizers.pretrained import read_pieces

from ...tiny_encoders import write_encoder

TEXTS = ["a tent for the kitchen in paris, very red", "iron", "", "zinc gold", "the city of rome"]


def text_by_text(query, key, value, ends, longest, dropout, scale):
    """What the GPU's kernel computes, of one text after the other."""
    found, ends = torch.zeros_like(query), ends.tolist()
    assert ends[0] == 0
    assert ends[-1] == len(query)
    assert max(np.diff(ends)) <= longest
    for start, end in itertools.pairwise(ends):
        scores = torch.einsum("qhd,khd->hqk", query[start:end], key[start:end]) * scale
        found[start:end] = torch.einsum("hqk,khd->qhd", scores.softmax(-1), value[start:end])
    return found


@pytest.fixture
def plain_kernel(monkeypatch):
    """The loop in the kernel's stead, wherever a family could use it; counts how often it was
    asked.
    """
    asked = []

    def kernel(*states):
        asked.append(len(states[0]))
        return text_by_text(*states)

    monkeypatch.setattr(
        _unpadded, "serves", lambda model, *_, **__: model.config.model_type in _unpadded.FAMILIES
    )
    monkeypatch.setattr(_unpadded, "flash", kernel)
    return asked


def encoder_of(folder):
    tokenizer = read_pieces(folder)
    tokens = tokenizer.encode(TEXTS)
    encoder = Pretrained(
        Pretrained.learn(tokens, tokenizer, path=str(folder)), True, 32, "float32", path=str(folder)
    )
    return encoder.eval(), encoder.inputs_of(tokens, limit=32).batch(np.arange(5))


@pytest.mark.parametrize("family", sorted(_unpadded.FAMILIES - {"camembert"}))
def test_tokens_get_the_states_that_a_mask_gives(family, tmp_path, plain_kernel, monkeypatch):
    encoder, (ids, lengths) = encoder_of(write_encoder(tmp_path / family, family))
    made = encoder(ids, lengths)
    assert plain_kernel == [ids.numel()] * 2  # a call a layer
    assert encoder.model.config._attn_implementation == "sdpa"  # and only inside
    monkeypatch.setattr(_unpadded, "serves", lambda *_, **__: False)
    expected = encoder(ids, lengths)
    torch.testing.assert_close(made.pooled, expected.pooled, rtol=1e-5, atol=1e-6)
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(
            made.states[row, :length], expected.states[row, :length], rtol=1e-5, atol=1e-6
        )


def test_padding_has_no_say(tmp_path, plain_kernel):
    encoder, (ids, lengths) = encoder_of(write_encoder(tmp_path / "bert", "bert"))
    wide = torch.nn.functional.pad(ids, (0, 3), value=7)
    torch.testing.assert_close(
        encoder(wide, lengths).pooled, encoder(ids, lengths).pooled, rtol=1e-5, atol=1e-6
    )


def test_it_serves_wide_batches_on_a_gpu_in_half_precision_alone(tmp_path):
    model = encoder_of(write_encoder(tmp_path / "bert", "bert"))[0].model
    gpu = torch.device("cuda")
    assert _unpadded.serves(model, _unpadded.NARROWEST, gpu, half=True)
    assert not _unpadded.serves(model, _unpadded.NARROWEST - 1, gpu, half=True)
    assert not _unpadded.serves(model, 512, gpu, half=False)
    assert not _unpadded.serves(model, 512, torch.device("cpu"), half=True)
    torch.use_deterministic_algorithms(True)
    try:
        assert not _unpadded.serves(model, 512, gpu, half=True)
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_family_that_adds_to_its_scores_keeps_its_own(tmp_path):
    model = encoder_of(write_encoder(tmp_path / "mpnet", "mpnet"))[0].model
    assert not _unpadded.serves(model, 512, torch.device("cuda"), half=True)

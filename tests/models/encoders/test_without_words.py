"""The strongest windows of texts without some tokens, against the copies themselves, one by one."""

import pytest
import torch

from tagwright.models.encoders import without_words
from tagwright.models.encoders.cnn import CNN
from tagwright.models.encoders.without_words import Removals

WINDOWS = [(3, 4, 5), (1,), (2,), (5, 2), (1, 7, 3)]
TEXTS = [
    [3, 4, 5, 6, 7, 3, 4, 5, 8],
    [9],
    [3, 3, 3, 3, 3, 3],
    [22, 1, 8, 13],
    [11, 12],
    [],
    [5, 6, 7],
]


def model_of(windows, sizes=(23,)):
    torch.manual_seed(0)
    model = CNN(sizes, width=7, filters=5, windows=windows).double().eval()
    torch.nn.init.normal_(model.bias)
    return model


def every_gap(texts):
    """Every run of tokens of every text: one token, several, all."""
    return [
        (i, a, b)
        for i, text in enumerate(texts)
        for a in range(len(text))
        for b in range(a + 1, len(text) + 1)
    ]


def padded(texts, length, filling=0):
    rows = [text + [filling] * (length - len(text)) for text in texts]
    return torch.tensor(rows), torch.tensor([len(text) for text in texts])


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("chunk", [1024, 7])
@torch.inference_mode()
def test_copies_are_as_if_each_stood_alone(windows, chunk, monkeypatch):
    monkeypatch.setitem(without_words.CHUNK, "cpu", chunk)
    model, gaps = model_of(windows), every_gap(TEXTS)
    parts = model.without(*padded(TEXTS, 9, filling=17), Removals(*torch.tensor(gaps).T))
    found = torch.cat([part.pooled for part in parts])
    for row, (owner, start, stop) in zip(found, gaps, strict=True):
        left = TEXTS[owner][:start] + TEXTS[owner][stop:]
        alone = model(*padded([left], max(len(left), 1))).pooled[0]
        torch.testing.assert_close(row, alone, rtol=1e-10, atol=1e-12)


@torch.inference_mode()
def test_tokens_of_several_features_are_left_out_whole():
    model = model_of((2, 3), sizes=(23, 5))
    ids = torch.tensor([[[3, 1], [4, 2], [5, 3], [6, 4]]])
    (found,) = model.without(ids, torch.tensor([4]), Removals(*torch.tensor([[0, 1, 3]]).T))
    expected = model(ids[:, [0, 3]], torch.tensor([2])).pooled
    torch.testing.assert_close(found.pooled, expected, rtol=1e-10, atol=1e-12)

"""Logits of many rows come back in the rows' own order."""

import numpy as np
import torch
from torch import nn

from tagwright.batches.inputs import TokenInputs
from tagwright.batches.tokens import Tokens
from tagwright.fit.evaluate import logits_of, shortlist_of


class Counting(nn.Module):
    """Logits: the sum of a text's ids, and its length. `batches` are the sizes it saw."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.dropout = nn.Dropout(0.9)
        self.batches = []

    def of_labels(self, ids, lengths):
        self.batches.append(tuple(ids.shape))
        return {"main": self.dropout(torch.stack([ids.sum(1).float(), lengths.float()], 1) * self.weight)}


def tokens_of(lengths):
    ids = np.arange(1, sum(lengths) + 1, dtype=np.int32)
    return Tokens(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def test_every_row_gets_its_own_logits_whatever_the_batch():
    lengths = [3, 0, 7, 1, 1, 12, 2]
    tokens = tokens_of(lengths)
    expected = [[tokens.ids[a:b].sum(), b - a] for a, b in zip(tokens.offsets, tokens.offsets[1:])]
    for batch in (1, 2, 3, 100):
        np.testing.assert_array_equal(logits_of(Counting(), TokenInputs(tokens), batch=batch), expected)


def test_evaluation_drops_nothing_out_and_takes_no_gradient():
    network = Counting().train()
    logits_of(network, TokenInputs(tokens_of([2, 2])))
    assert not network.training
    assert network.weight.grad is None
    assert torch.is_grad_enabled()


def test_rows_of_like_length_share_a_batch_so_that_little_is_padded():
    network = Counting()
    logits_of(network, TokenInputs(tokens_of([50, 1, 50, 1, 1, 50])), batch=3)
    assert sorted(network.batches) == [(3, 1), (3, 50)]


def test_a_long_text_is_cut_at_the_limit():
    network = Counting()
    assert logits_of(network, TokenInputs(tokens_of([9]), limit=4))[0].tolist() == [10.0, 4.0]


def test_logits_are_float32_and_no_rows_give_none():
    assert logits_of(Counting(), TokenInputs(tokens_of([1]))).dtype == np.float32
    assert len(logits_of(Counting(), TokenInputs(tokens_of([])))) == 0


def test_shortlists_are_the_highest_of_the_logits_in_the_rows_order():
    from tagwright.assemble.network import build_network
    from tagwright.labels.space import LabelSpace
    from tagwright.settings import resolve

    given = {"objective": "zlpr", "loss": {"name": "zlpr", "threshold": 0.5}, "head": {"chunk": 4, "shortlist": 5}}
    space = LabelSpace(names=tuple("abcdefghijk"), counts=(1,) * 11)
    network = build_network(resolve(given), {"main": space}, sizes=(100,), learned={})
    inputs = TokenInputs(tokens_of([3, 0, 7, 1, 1, 12, 2]))
    logits = logits_of(network, inputs)
    for batch in (2, 100):
        found = shortlist_of(network, inputs, batch=batch, log_terms=lambda logits: logits)
        order = np.argsort(-logits, axis=1)[:, :5]
        np.testing.assert_array_equal(found.ids, order)
        np.testing.assert_allclose(found.logits, np.take_along_axis(logits, order, axis=1), atol=1e-5)
        np.testing.assert_allclose(found.log_sum, np.log(np.exp(logits).sum(1)), rtol=1e-5)
    assert shortlist_of(network, inputs).log_sum is None

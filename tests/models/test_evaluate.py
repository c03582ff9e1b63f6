"""Logits of many rows come back in the rows' own order."""

import numpy as np
import pytest
import torch
from torch import nn

from tagwright.batches.bucket import ROOMS
from tagwright.batches.inputs import TokenInputs
from tagwright.batches.token_windows import TagInputs, placed
from tagwright.models.evaluate import (
    logits_of,
    logits_of_heads,
    shortlist_of,
    token_logits_of,
    token_logits_of_heads,
)
from tagwright.models.heads import Head
from tagwright.models.heads.document import Document
from tagwright.models.network import Network
from tagwright.tokenizers.tokens import Tokens

from ..cloze_cases import inputs_of, network_of


class Labels(Head):
    """So many labels."""

    def __init__(self, count):
        super().__init__()
        self.label_count = count


class Slotted(Labels):
    """A head whose slots cost tokens."""

    has_slots = True

    def tokens_of(self, lengths, windows=1):
        return 2 * lengths + 50


class Counting(nn.Module):
    """Logits: the sum of a text's ids, and its length. `batches` are the sizes it saw."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.dropout = nn.Dropout(0.9)
        self.heads = {"main": Labels(2), "other": Labels(1)}
        self.batches = []

    slotted = Network.slotted

    def of_labels(self, ids, lengths, *, heads=None):
        self.batches.append(tuple(ids.shape))
        main = self.dropout(torch.stack([ids.sum(1).float(), lengths.float()], 1) * self.weight)
        return {"main": main, "other": -lengths[:, None]}


class Roomy(TokenInputs):
    """Inputs that say how many tokens a batch may have."""

    rooms = ROOMS


def tokens_of(lengths):
    ids = np.arange(1, sum(lengths) + 1, dtype=np.int32)
    return Tokens(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def test_every_row_gets_its_own_logits_whatever_the_batch():
    lengths = [3, 0, 7, 1, 1, 12, 2]
    tokens = tokens_of(lengths)
    expected = [[tokens.ids[a:b].sum(), b - a] for a, b in zip(tokens.offsets, tokens.offsets[1:])]
    for batch in (1, 2, 3, 100):
        np.testing.assert_array_equal(
            logits_of(Counting(), TokenInputs(tokens), batch=batch), expected
        )


def test_all_heads_come_of_one_pass_and_each_is_as_alone():
    inputs, network = TokenInputs(tokens_of([3, 0, 7, 1, 1, 12, 2])), Counting()
    found = logits_of_heads(network, inputs, ["other", "main"], batch=3)
    assert list(found) == ["other", "main"]
    assert sum(rows for rows, _ in network.batches) == 7
    assert found["other"].tolist() == [[-3], [0], [-7], [-1], [-1], [-12], [-2]]
    assert found["other"].dtype == np.float32
    for name, logits in found.items():
        np.testing.assert_array_equal(logits, logits_of(Counting(), inputs, head=name, batch=3))
    # the first, where none is named
    np.testing.assert_array_equal(found["main"], logits_of(Counting(), inputs, batch=3))


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


@pytest.mark.parametrize("names", [["main"], ["main", "other"], ["other"]], ids="+".join)
@pytest.mark.parametrize("slotted", ["main", "other"])
def test_a_head_with_slots_makes_batches_smaller_by_what_they_cost(slotted, names):
    lengths = np.random.default_rng(0).integers(1, 30, 200)
    network = Counting()
    # its slots are read for whatever is asked
    network.heads[slotted] = Slotted(network.heads[slotted].label_count)
    inputs = Roomy(tokens_of(lengths), 64)
    found = logits_of_heads(network, inputs, names)
    expected = {"main": lengths, "other": -lengths}
    assert {name: logits[:, -1].tolist() for name, logits in found.items()} == {
        n: expected[n].tolist() for n in names
    }
    assert sum(rows for rows, _ in network.batches) == 200
    assert max(rows * (2 * width + 50) for rows, width in network.batches) <= 1024
    # and not smaller than that
    assert len(network.batches) <= 1.3 * (2 * lengths + 50).sum() / 1024 + 1


@pytest.mark.parametrize(
    "options", [{"chunks": 2}, {"chunks": 2, "text_sees_slots": False}], ids=str
)
def test_windows_with_their_slots_and_passes_stay_within_the_room(options):
    network, read = (
        network_of("bert", 5, limit=9, encoder={"long": "windows", "overlap": 2}, **options),
        [],
    )
    network.encoder._states = lambda given, lengths, width, allowed=None: (
        read.append(len(lengths) * width)
        or torch.zeros(len(lengths), width, network.encoder.width_out).double()
    )
    many = tokens_of(np.arange(3, 60).repeat(4) % 40 + 2)
    inputs = network.encoder.inputs_of(Tokens(many.ids % 30, many.offsets), limit=9)
    logits_of(network, inputs)
    assert max(read) <= 1024
    assert sum(read) / len(read) > 512


def test_a_long_text_is_cut_at_the_limit():
    network = Counting()
    assert logits_of(network, TokenInputs(tokens_of([9]), limit=4))[0].tolist() == [10.0, 4.0]


def test_logits_are_float32_and_no_rows_give_none():
    assert logits_of(Counting(), TokenInputs(tokens_of([1]))).dtype == np.float32
    assert logits_of(Counting(), TokenInputs(tokens_of([]))).shape == (0, 2)
    none = logits_of_heads(Counting(), TokenInputs(tokens_of([])), ["main", "other"])
    assert {name: logits.shape for name, logits in none.items()} == {
        "main": (0, 2),
        "other": (0, 1),
    }


def test_shortlists_are_the_highest_of_the_logits_in_the_rows_order():
    from tagwright.labels.space import LabelSpace
    from tagwright.models.build import build_network
    from tagwright.settings.schema import resolve

    given = {
        "objective": "zlpr",
        "loss": {"name": "zlpr", "threshold": 0.5},
        "head": {"chunk": 4, "shortlist": 5},
    }
    space = LabelSpace(names=tuple("abcdefghijk"), counts=(1,) * 11)
    network = build_network(resolve(given), {"main": (space, 0)}, sizes=(100,), learned={})
    inputs = TokenInputs(tokens_of([3, 0, 7, 1, 1, 12, 2]))
    logits = logits_of(network, inputs)
    for batch in (2, 100):
        found = shortlist_of(network, inputs, batch=batch, log_terms=lambda logits: logits)
        order = np.argsort(-logits, axis=1)[:, :5]
        np.testing.assert_array_equal(found.ids, order)
        np.testing.assert_allclose(
            found.logits, np.take_along_axis(logits, order, axis=1), atol=1e-5
        )
        np.testing.assert_allclose(found.log_sum, np.log(np.exp(logits).sum(1)), rtol=1e-5)
    assert shortlist_of(network, inputs).log_sum is None


def test_a_shortlist_beside_a_head_with_slots_is_of_texts_that_stand_behind_them():
    network = network_of("bert", 5)
    torch.manual_seed(3)
    short = Document(
        network.encoder.width_out, 9, False, torch.randn(9), 0, 0.0, chunk=4, shortlist=5
    )
    network.heads["many"] = short.double()
    inputs = inputs_of(network)
    with torch.no_grad():
        logits = network(*inputs.batch(np.arange(5)))["many"].numpy()
    found = shortlist_of(network, inputs, head="many")
    np.testing.assert_array_equal(found.ids, np.argsort(-logits, axis=1)[:, :5])
    np.testing.assert_allclose(found.logits, -np.sort(-logits, axis=1)[:, :5], rtol=1e-5)


class Echo(nn.Module):
    """Logits of a position: its id, and how many positions stand before it in its window."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.heads = {"main": Labels(2), "other": Labels(1)}
        self.batches = []

    def of_labels(self, ids, lengths, *, heads=None):
        self.batches.append(tuple(ids.shape))
        places = torch.arange(ids.shape[1]).expand_as(ids)
        main = torch.stack([ids.float(), places.float()], -1) * self.weight
        return {"main": main, "other": -ids[..., None]}


@pytest.mark.parametrize("batch", [1, 3, 256])
def test_every_token_gets_the_logits_of_its_first_piece_where_it_lies_deepest(batch):
    pieces = tokens_of(np.random.default_rng(0).integers(1, 4, 60))
    offsets = np.array([0, 0, 41, 42, 60])
    made = placed(pieces, offsets, limit=12, overlap=6, around=((77,), (78,)))
    network = Echo()
    found = token_logits_of(network, TagInputs(made, 12), batch=batch)
    assert found.shape == (60, 2)
    np.testing.assert_array_equal(found[:, 0], pieces.ids[pieces.offsets[:-1]])
    for token in range(60):
        at = np.flatnonzero(made.owner == token)[0]
        window = np.searchsorted(made.tokens.offsets, at, side="right") - 1
        assert found[token, 1] == at - made.tokens.offsets[window]
    assert not network.training


def test_tokens_of_all_heads_come_of_one_pass():
    pieces, network = tokens_of(np.random.default_rng(0).integers(1, 4, 60)), Echo()
    inputs = TagInputs(placed(pieces, np.array([0, 0, 41, 42, 60]), limit=12, overlap=6), 12)
    found = token_logits_of_heads(network, inputs, ["other", "main"], batch=3)
    assert sum(rows for rows, _ in network.batches) == len(inputs.lengths)
    np.testing.assert_array_equal(found["other"], -pieces.ids[pieces.offsets[:-1], None])
    np.testing.assert_array_equal(found["main"], token_logits_of(Echo(), inputs, batch=3))
    np.testing.assert_array_equal(
        found["other"], token_logits_of(Echo(), inputs, head="other", batch=3)
    )


def test_a_long_page_is_read_in_windows_and_no_batch_is_wider():
    pieces, network = tokens_of([1] * 100_000), Echo()
    found = token_logits_of(
        network, TagInputs(placed(pieces, np.array([0, 100_000]), limit=512), 512)
    )
    np.testing.assert_array_equal(found[:, 0], pieces.ids)
    assert max(width for _, width in network.batches) == 512
    assert max(rows * width for rows, width in network.batches) <= 4096
    assert sum(rows * width for rows, width in network.batches) < 1.2 * 100_000


def test_no_token_at_all_gives_no_logits():
    inputs = TagInputs(placed(tokens_of([]), np.array([0, 0, 0]), limit=5), 5)
    assert token_logits_of(Echo(), inputs).shape == (0, 2)

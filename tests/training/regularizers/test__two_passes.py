"""A batch twice over, and its halves."""

from typing import NamedTuple

import torch
from torch import Tensor

from tagwright.batches.rows import Batch, HeadBatch
from tagwright.models.hidden import Windows
from tagwright.training.regularizers._two_passes import doubled, first_half, second_half


class Wider(NamedTuple):
    """A `Hidden` with a field that nobody knows."""

    states: Tensor | None
    pooled: Tensor
    windows: Windows | None
    slots: Tensor


def test_every_tensor_of_a_batch_is_there_twice():
    counts, flags = torch.tensor([2, 1]), torch.tensor([[True], [False]])
    labels = HeadBatch(
        torch.rand(2, 1), None, torch.tensor([1.0, 0.0]), shown=torch.tensor([[2], [0]])
    )
    heads = {"topic": labels, "words": HeadBatch(torch.zeros(2, 0), tags=flags)}
    batch = Batch(
        (torch.arange(6).view(3, 2), torch.tensor([2, 1, 2]), counts),
        heads,
        torch.tensor([0.5, 2.0]),
    )
    found = doubled(batch)
    assert type(found) is Batch
    assert found.inputs[0].tolist() == [[0, 1], [2, 3], [4, 5]] * 2
    assert found.inputs[2].tolist() == [2, 1, 2, 1]
    assert found.weight.tolist() == [0.5, 2.0, 0.5, 2.0]
    topic, words = found.heads["topic"], found.heads["words"]
    assert [type(head) for head in found.heads.values()] == [HeadBatch, HeadBatch]
    assert torch.equal(topic.target, torch.cat([labels.target, labels.target]))
    assert topic.known is None
    assert topic.weight.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert found.shown.tolist() == [[2], [0], [2], [0]]
    assert words.tags.tolist() == [[True], [False]] * 2


def test_halves_are_what_was_doubled():
    windows = Windows(torch.tensor([2, 1]), "mean")
    hidden = Wider(None, torch.rand(3, 4), windows, torch.rand(6, 2, 4))
    twice = doubled(hidden)
    assert twice.slots.shape == (12, 2, 4)
    assert twice.windows.pooling == "mean"
    for half in (first_half(twice), second_half(twice)):
        assert half.states is None
        assert half.windows.counts.tolist() == [2, 1]
        assert torch.equal(half.slots, hidden.slots)
    assert first_half({"main": torch.arange(4)})["main"].tolist() == [0, 1]
    assert second_half({"main": torch.arange(4)})["main"].tolist() == [2, 3]

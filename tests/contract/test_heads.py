"""What every head keeps, whichever package it came from."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright import registry
from tagwright.batches.sparse import SparseRows
from tagwright.errors import SettingsError
from tagwright.models.heads import Head
from tagwright.models.hidden import Hidden

LABELS, WIDTH, ROWS, PLACES = 4, 6, 5, 7
FACTS: dict[str, Any] = {
    "width": WIDTH,
    "whole_texts": False,
    "label_count": LABELS,
    "label_names": ("a", "b", "c", "d"),
    "bias": torch.tensor([0.5, -1.0, 2.0, 0.0]),
    "extra_logits": 0,
    "zero": 0.0,
    "link": "sigmoid",
    "reads_slots": True,
    "slot_room": None,
    "family": "bert",
    "word_width": WIDTH,
    "name_vectors": None,
}

pytestmark = pytest.mark.parametrize("name", registry.names("heads"))


def made(name: str) -> tuple[Head, Hidden]:
    """A head, and what an encoder of the kind that it takes gives it."""
    torch.manual_seed(1)
    random = torch.Generator().manual_seed(2)
    try:
        head = registry.build("heads", name, {}, sparse=False, **FACTS)
    except SettingsError:  # for sparse features alone
        matrix = csr_array(torch.rand(ROWS, WIDTH, generator=random).numpy())
        head = registry.build("heads", name, {}, sparse=True, **FACTS)
        return head, Hidden(None, SparseRows.of(matrix, np.arange(ROWS)))
    states, pooled = (
        torch.randn(ROWS, PLACES, WIDTH, generator=random),
        torch.randn(ROWS, WIDTH, generator=random),
    )
    slots = torch.randn(ROWS, LABELS * 3, WIDTH, generator=random) if head.has_slots else None
    return head, Hidden(states, pooled, slots=slots)


def test_there_is_a_logit_for_every_label(name: str):
    head, hidden = made(name)
    logits = head(hidden)
    assert head.label_count == LABELS
    assert logits.shape == ((ROWS, PLACES, LABELS) if head.tags_tokens else (ROWS, LABELS))
    assert logits.isfinite().all()
    assert head.of_labels(logits).shape == logits.shape


def test_logits_start_at_the_labels_own(name: str):
    """With nothing to see, a logit is the bias that the label was given."""
    head, hidden = made(name)
    if hidden.states is None or head.has_slots:
        return
    nothing = Hidden(torch.zeros_like(hidden.states), torch.zeros_like(hidden.pooled))
    found = head(nothing).detach()
    torch.testing.assert_close(found, FACTS["bias"].expand_as(found))


def test_gradient_reaches_the_parameters(name: str):
    head, hidden = made(name)
    head(hidden).square().sum().backward()
    used = [parameter for parameter in head.parameters() if parameter.grad is not None]
    assert used
    assert all(parameter.grad.to_dense().isfinite().all() for parameter in used)


def test_what_slots_need_is_there_with_them_alone(name: str):
    head, _ = made(name)
    ids, lengths = torch.ones(ROWS, PLACES, dtype=torch.long), torch.full((ROWS,), PLACES)
    slots = head.slots_of((ids, lengths), None)
    assert (slots is not None) == head.has_slots
    read = head.tokens_of(lengths.numpy())
    assert (read > PLACES).all() if head.has_slots else (read == PLACES).all()
    assert head.rounds >= 1


def test_labels_that_a_label_looks_at_are_others(name: str):
    head, _ = made(name)
    assert all(label not in head.before(label) for label in range(LABELS))

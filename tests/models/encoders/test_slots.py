"""What a model reads before a text: as though slots were words of its vocabulary, which is the
paper's way.
"""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.models.encoders import slots as _slots
from tagwright.models.hidden import Slots

from ...cloze_cases import (
    BY_POSITION,
    MASK,
    NO,
    TEMPLATES,
    YES,
    batch_of,
    encoder_of,
    folder_of,
    network_of,
    shown_of,
)
from ...cloze_reference import states_of, template_tokens
from ...tiny_encoders import FAMILIES

LABELS = 5
NAMES = {NO: "NO", YES: "YES", MASK: "MASK"}
# the position of a row's first token, where it is not 0
BEHIND = {
    "roberta": 2,
    "xlm-roberta": 2,
    "mpnet": 2,
}


def vector_of(head, token):
    """The vector of a token by its name in the template."""
    name, _, number = token.partition("-")
    label = int(number or 1) - 1
    if name in ("LS", "LE"):
        return head.edges[label, ("LS", "LE").index(name)]
    return head.middle[label, {name: value for value, name in NAMES.items()}[name]]


def rows_of(network, shown, inputs, template):
    """Every text as the paper would write it: its tokens, and what stands where its slots are."""
    head, (ids, lengths) = network.heads["main"], inputs
    for row, length in zip(range(len(ids)), lengths.tolist(), strict=True):
        slots = template_tokens([NAMES[int(value)] for value in shown[row]], template)
        yield (
            ids[row, :length],
            slots,
            torch.stack([vector_of(head, token) for token in slots]).detach(),
        )


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("family", FAMILIES)
def test_states_are_those_of_a_model_with_the_slots_in_its_vocabulary(family, template):
    network, shown = network_of(family, LABELS, template=template), shown_of(LABELS)
    inputs = batch_of(network, family)
    hidden, _ = network.run(*inputs, shown=shown)
    for row, (pieces, slots, vectors) in enumerate(rows_of(network, shown, inputs, template)):
        of_slots, of_text = states_of(folder_of(family), pieces, vectors)
        assert len(slots) == LABELS * (1 if template == "short" else 3)
        torch.testing.assert_close(hidden.slots[row], of_slots, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(hidden.states[row, : len(pieces)], of_text, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_float32_says_the_same(family):
    network = network_of(family, LABELS).float()
    inputs, shown = batch_of(network, family), shown_of(LABELS)
    hidden, _ = network.run(*inputs, shown=shown)
    for row, (pieces, _, vectors) in enumerate(rows_of(network, shown, inputs, "diff")):
        of_slots, _ = states_of(folder_of(family), pieces, vectors)
        torch.testing.assert_close(hidden.slots[row], of_slots, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("template", ["diff", "short"])
@pytest.mark.parametrize("family", [family for family in BY_POSITION if family != "mpnet"])
def test_shared_positions_are_those_of_one_slot(family, template):
    network, shown = (
        network_of(family, LABELS, template=template, slot_positions="shared"),
        shown_of(LABELS),
    )
    inputs, size = batch_of(network, family), 1 if template == "short" else 3
    hidden, _ = network.run(*inputs, shown=shown)
    for row, (pieces, _, vectors) in enumerate(rows_of(network, shown, inputs, template)):
        one = list(range(1, 1 + size))
        places = torch.tensor(
            [0, *one * LABELS, *range(1 + size, size + len(pieces))]
        ) + BEHIND.get(family, 0)
        of_slots, of_text = states_of(folder_of(family), pieces, vectors, places)
        torch.testing.assert_close(hidden.slots[row], of_slots, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(hidden.states[row, : len(pieces)], of_text, rtol=1e-9, atol=1e-9)


def test_mpnet_with_one_label_stands_where_it_would_in_a_row():
    shared, sequential = (
        network_of("mpnet", 1, slot_positions=how) for how in ("shared", "sequential")
    )
    found, expected = (
        network(*batch_of(network, "mpnet"))["main"] for network in (shared, sequential)
    )
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_reaches_every_vector_that_is_shown_and_no_other(family):
    network = network_of(family, 3)
    shown = torch.tensor([[MASK, YES, NO]]).expand(5, -1)
    weight = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (network.run(*batch_of(network, family), shown=shown)[1]["main"] * weight).sum().backward()
    moved = network.heads["main"].middle.grad.abs().sum(-1) > 0
    assert moved.tolist() == [[False, False, True], [False, True, False], [True, False, False]]
    assert (network.heads["main"].edges.grad.abs().sum(-1) > 0).all()
    assert network.encoder.words.weight.grad.abs().sum() > 0


def test_who_may_look_at_whom():
    slots = Slots(torch.zeros(2, 6, 4), torch.arange(3).repeat(2), 3, groups=2, one_way=True)
    # [CLS], two groups of three slots, two pieces
    inside = torch.arange(9) < torch.tensor([9, 8])[:, None]
    allowed = _slots.one_way(slots, inside, before=1)
    group = ["text", *"aaa", *"bbb", "text", "text"]
    for row in range(2):
        for looks in range(9):
            for at in range(9):
                expected = bool(inside[row, at]) and group[at] in ("text", group[looks])
                assert bool(allowed[row, 0, looks, at]) is expected


@pytest.mark.parametrize("family", BY_POSITION)
def test_one_way_text_reads_as_though_no_slots_were_there(family):
    network = network_of(family, LABELS, text_sees_slots=False, chunks=2)
    inputs = batch_of(network, family)
    before, _ = network.run(*inputs)
    with torch.no_grad():
        network.heads["main"].middle.normal_(generator=torch.Generator().manual_seed(99))
    after, _ = network.run(*inputs, shown=shown_of(LABELS))
    assert not torch.allclose(before.slots, after.slots, atol=0.1)
    torch.testing.assert_close(after.states, before.states, rtol=1e-12, atol=1e-12)
    if family != "mpnet":  # whose bias goes by distances, and none can be given to it from outside
        none = before.states.new_zeros(0, network.encoder.words.embedding_dim)
        for row, length in enumerate(inputs[1].tolist()):
            # 3 labels of 3 tokens
            places = torch.tensor([0, *range(1 + 9, 9 + length)]) + BEHIND.get(family, 0)
            _, expected = states_of(folder_of(family), inputs[0][row, :length], none, places)
            torch.testing.assert_close(before.states[row, :length], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_takes_vectors_and_positions(family):
    assert encoder_of(family).reads_slots


def test_a_model_that_knows_neither_is_not_readable():
    assert not _slots.readable(torch.nn.Linear(2, 3))


@pytest.mark.parametrize("option", ["shared", "one_way"])
@pytest.mark.parametrize("family", ["deberta-v2", "modernbert"])
def test_families_that_go_by_distance_are_refused_by_name(family, option):
    named = {"shared": "slot_positions=shared", "one_way": "text_sees_slots=false"}[option]
    with pytest.raises(
        SettingsError, match=f"head.{named} is not possible with {family}.*take an encoder of"
    ):
        _slots.check(family, **{"shared": False, "one_way": False, option: True})
    _slots.check(family, shared=False, one_way=False)

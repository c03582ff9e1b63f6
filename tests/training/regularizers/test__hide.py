"""What is chosen and put where pieces of texts are hidden."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from tagwright.models.heads.mlm import MaskedPieces
from tagwright.training.regularizers._hide import hide, room_for

COUNT, MASK, SPECIAL = 97, 4, (0, 2, 3, 4, 60)


@pytest.fixture
def head():
    pieces = torch.tensor([i for i in range(COUNT) if i not in SPECIAL])
    return MaskedPieces(6, torch.zeros(COUNT, 6), pieces, mask=MASK)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def random_texts(head, rows, width):
    """Ids with special tokens all over, and lengths down to 0."""
    ids = torch.randint(len(head.maskable), (rows, width), generator=seeded(9))
    return ids, torch.randint(width + 1, (rows,), generator=seeded(8))


def test_special_tokens_and_padding_are_never_chosen(head):
    ids, lengths = random_texts(head, 31, 17)
    for seed in range(20):
        asked = hide(ids, lengths, head, share=1.0, generator=seeded(seed))
        places = asked.places[asked.chosen]
        inside = torch.arange(17) < lengths[:, None]
        expected = (inside & head.maskable[ids]).flatten().nonzero().flatten()
        assert places.sort().values.tolist() == expected.tolist()
        untouched = torch.ones(ids.numel(), dtype=torch.bool).scatter(0, places, False)
        assert torch.equal(asked.ids.flatten()[untouched], ids.flatten()[untouched])
        assert torch.equal(asked.gold, ids.flatten()[asked.places])


def test_what_is_put_is_never_a_special_token_but_the_mask(head):
    ids, lengths = random_texts(head, 31, 17)
    asked = hide(ids, lengths, head, share=1.0, generator=seeded())
    put = Counter(asked.ids.flatten()[asked.places[asked.chosen]].tolist())
    assert set(put) & set(SPECIAL) == {MASK}
    assert len(put) > 30


@pytest.mark.parametrize("share", [0.15, 0.5, 1.0])
def test_shares_are_those_of_the_settings(share, head):
    """Over many draws, within five standard deviations; what stays and what is swapped for itself
    look alike.
    """
    rounds = 60
    ids = head.pieces[torch.randint(len(head.pieces), (40, 50), generator=seeded(7))]
    lengths, kinds = torch.full((40,), 50), Counter()
    for seed in range(rounds):
        asked = hide(ids, lengths, head, share=share, generator=seeded(seed))
        put = asked.ids.flatten()[asked.places[asked.chosen]]
        same = put == asked.gold[asked.chosen]
        kinds.update(mask=int((put == head.mask).sum()), same=int(same.sum()), all=len(put))
    near(kinds["all"], rounds * ids.numel(), share)
    near(kinds["mask"], kinds["all"], 0.8)
    near(kinds["same"], kinds["all"], 0.1 + 0.1 / len(head.pieces))


def near(found, count, share):
    assert abs(found - count * share) <= 5 * math.sqrt(count * share * (1 - share))


def test_every_place_is_chosen_alike(head):
    ids, lengths, hits = (
        torch.full((7, 11), int(head.pieces[3])),
        torch.full((7,), 11),
        torch.zeros(77),
    )
    for seed in range(400):
        asked = hide(ids, lengths, head, share=0.3, generator=seeded(seed))
        hits[asked.places[asked.chosen]] += 1
    for found in hits.tolist():
        near(found, 400, 0.3)


def test_what_is_drawn_depends_on_the_generator_alone(head):
    ids, lengths = random_texts(head, 9, 12)
    first, same, other = (
        hide(ids, lengths, head, share=0.4, generator=seeded(seed)).ids for seed in (1, 1, 2)
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(
    ("count", "share"), [(1, 0.15), (640, 0.15), (640, 0.999), (5, 1.0), (9000, 0.001)]
)
def test_room_is_a_matter_of_the_shape_and_enough(count, share):
    room = room_for(count, share)
    assert 1 <= room <= count
    draws = np.random.default_rng(0).binomial(count, share, 20000)
    assert (draws > room).mean() < 0.002  # of few pieces, the tail is longer than a normal one's

"""Windows of positions: every token is spoken for once, at its first piece, with context on both
sides.
"""

import numpy as np
import pytest

from tagwright.batches.token_windows import TagInputs, laid_out, placed
from tagwright.errors import SettingsError
from tagwright.tokenizers.tokens import Tokens

AROUND = ((101,), (102, 103))


def pieces_of(sizes):
    """Tokens of so many pieces each; ids count up, so that each tells where it came from."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Tokens(np.arange(1000, 1000 + offsets[-1], dtype=np.int32), offsets)


def random_texts(seed, *, texts=12, most=40, pieces=3):
    random = np.random.default_rng(seed)
    lengths = random.integers(0, most, texts)
    return pieces_of(random.integers(1, pieces + 1, lengths.sum())), np.concatenate(
        [[0], np.cumsum(lengths)]
    )


@pytest.mark.parametrize("around", [((), ()), AROUND])
@pytest.mark.parametrize("overlap", [0, 2, 5])
@pytest.mark.parametrize("limit", [6, 11, 64])
def test_every_token_is_spoken_for_once_at_its_first_piece(limit, overlap, around):
    pieces, offsets = random_texts(limit + overlap)
    made = placed(pieces, offsets, limit=limit, overlap=overlap, around=around)
    assert sorted(made.owner[made.owner >= 0].tolist()) == list(range(len(pieces)))
    at = np.flatnonzero(made.owner >= 0)
    assert (made.tokens.ids[at] == pieces.ids[pieces.offsets[made.owner[at]]]).all()
    assert made.tokens.lengths.max() <= limit


@pytest.mark.parametrize("around", [((), ()), AROUND])
def test_windows_are_runs_of_their_text_with_special_ids_around(around):
    pieces, offsets = random_texts(3)
    made = placed(pieces, offsets, limit=9, overlap=3, around=around)
    before, behind = (list(one) for one in around)
    for window, text in enumerate(made.text.tolist()):
        ids = made.tokens.ids[
            made.tokens.offsets[window] : made.tokens.offsets[window + 1]
        ].tolist()
        inner = ids[len(before) : len(ids) - len(behind)]
        assert ids == before + inner + behind
        own = pieces.ids[pieces.offsets[offsets[text]] : pieces.offsets[offsets[text + 1]]].tolist()
        if inner:
            start = own.index(inner[0])
            assert own[start : start + len(inner)] == inner
        else:
            assert not own  # an empty text is one empty window


def test_a_token_speaks_where_it_lies_deepest():
    made = placed(pieces_of([1] * 100), np.array([0, 100]), limit=20, overlap=10)
    for window in range(len(made.text)):
        own = made.owner[made.tokens.offsets[window] : made.tokens.offsets[window + 1]]
        inside = np.flatnonzero(own >= 0)
        assert inside[0] in ((0,) if window == 0 else (5,)) or window == len(made.text) - 1
        assert (np.diff(inside) == 1).all()
        if 0 < window < len(made.text) - 1:
            assert inside[0] >= 5 - 1
            assert len(own) - 1 - inside[-1] >= 5 - 1


def test_a_short_text_is_one_window_as_it_is():
    pieces = pieces_of([1, 2, 1])
    made = placed(pieces, np.array([0, 3]), limit=4)
    assert made.tokens.ids.tolist() == pieces.ids.tolist()
    assert made.owner.tolist() == [0, 1, -1, 2]


def test_memory_grows_with_the_text_and_no_faster():
    sizes = {
        length: len(placed(pieces_of([1] * length), np.array([0, length]), limit=512).owner)
        for length in (10**4, 10**5)
    }
    assert sizes[10**5] < 11 * sizes[10**4]
    assert sizes[10**5] < 1.2 * 10**5


def test_features_of_several_channels_stay_together():
    ids = np.arange(24, dtype=np.int32).reshape(12, 2)
    made = placed(
        Tokens(ids, np.arange(13)), np.array([0, 12]), limit=7, overlap=2, around=((1,), ())
    )
    assert made.tokens.ids.shape[1] == 2
    inside = made.owner >= 0
    assert (made.tokens.ids[inside] == ids[made.owner[inside]]).all()


def test_a_limit_without_room_is_refused():
    with pytest.raises(SettingsError, match="no room"):
        placed(pieces_of([1]), np.array([0, 1]), limit=3, around=AROUND)


def test_joined_rows_are_those_of_both():
    parts = [random_texts(seed) for seed in (1, 2)]
    first, second = (TagInputs(placed(*part, limit=8, overlap=2), 8) for part in parts)
    both = first.joined(second)
    assert len(both.lengths) == len(first.lengths) + len(second.lengths)
    last = np.array([len(both.lengths) - 1])
    moved = second.owners(last - len(first.lengths))
    assert (both.owners(last) == np.where(moved < 0, -1, moved + first.places.token_count)).all()
    assert both.places.text[-1] == len(parts[0][1]) - 1 + second.places.text[-1]


def test_rows_of_a_batch_are_filled_with_none():
    assert laid_out(np.array([0, -1, 4]), np.array([0, 2, 2, 3]), np.array([2, 1, 0])).tolist() == [
        [4, -1],
        [-1, -1],
        [0, -1],
    ]

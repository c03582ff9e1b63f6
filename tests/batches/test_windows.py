"""Long texts: what is kept of them, piece by piece."""

import numpy as np
import pytest

from tagwright.batches.windows import LONG, PieceInputs
from tagwright.errors import SettingsError
from tagwright.tokenizers.tokens import Tokens

LENGTHS = [0, 3, 6, 7, 8, 19, 50]  # pieces between [101] and [102]
TEXTS = [[101, *range(1, n + 1), 102] for n in LENGTHS]


def inputs_of(*, specials=(1, 1), **options):
    ids = np.concatenate([np.array(text, np.int32) for text in TEXTS])
    tokens = Tokens(ids, np.cumsum([0, *map(len, TEXTS)]))
    return PieceInputs(tokens=tokens, specials=specials, **{"limit": 8, "overlap": 2, **options})


def windows(inputs, index):
    ids, lengths, *counts = inputs.batch(np.array(index))
    rows = [row[:length] for row, length in zip(ids.tolist(), lengths.tolist())]
    # padded with 0
    assert all(not any(row[length:]) for row, length in zip(ids.tolist(), lengths.tolist()))
    return rows, [count.tolist() for count in counts]


def kept(pieces):
    """What six places hold of pieces 1 … n, by slow lists."""
    n = len(pieces)
    return {
        "head": pieces[:6],
        "tail": pieces[-6:] if n else [],
        "both": pieces if n <= 6 else pieces[:3] + pieces[-3:],
    }


@pytest.mark.parametrize("long", ["head", "tail", "both"])
def test_specials_stay_and_the_rest_is_cut(long):
    order = [6, 0, 3, 1, 5, 2, 4]
    rows, counts = windows(inputs_of(long=long), order)
    assert rows == [[101, *kept(TEXTS[i][1:-1])[long], 102] for i in order]
    assert counts == []


def test_uneven_room_gives_the_head_one_more():
    rows, _ = windows(inputs_of(long="both", limit=7), [6])
    assert rows == [[101, 1, 2, 3, 49, 50, 102]]


def test_windows_overlap_and_the_last_ends_with_the_text():
    rows, counts = windows(inputs_of(long="windows"), [5, 1, 3])
    assert counts == [[5, 1, 2]]
    starts = [0, 4, 8, 12, 13]  # steps of 6 - 2; the last is moved back to be full
    assert rows[:5] == [[101, *range(start + 1, start + 7), 102] for start in starts]
    assert rows[5:] == [TEXTS[1], [101, 1, 2, 3, 4, 5, 6, 102], [101, 2, 3, 4, 5, 6, 7, 102]]


def test_every_piece_is_in_some_window():
    for overlap in (0, 1, 5):
        for index, text in enumerate(TEXTS):
            rows, _ = windows(inputs_of(long="windows", overlap=overlap, most=99), [index])
            assert {piece for row in rows for piece in row} == set(text)


def test_too_many_windows_leave_out_the_end():
    rows, counts = windows(inputs_of(long="windows", most=3), [6])
    assert counts == [[3]]
    assert rows[-1] == [101, *range(9, 15), 102]


def test_specials_may_be_missing_on_a_side():
    rows, _ = windows(inputs_of(long="tail", specials=(0, 1)), [5])
    assert rows == [[*range(13, 20), 102]]


def test_cost_counts_every_window():
    assert inputs_of(long="head").lengths.tolist() == [2, 5, 8, 8, 8, 8, 8]
    assert inputs_of(long="windows").lengths.tolist() == [2, 5, 8, 16, 16, 40, 96]


def test_joined_rows_follow():
    one = inputs_of(long="windows")
    both = one.joined(one)
    assert windows(both, [12, 3]) == windows(one, [5, 3])


def test_what_is_left_out_is_said():
    assert (
        inputs_of(long="head")
        .said()
        .startswith("57 % of texts are longer than 8 word pieces; their end is left out")
    )
    assert "beginning" in inputs_of(long="tail").said()
    assert "middle" in inputs_of(long="both").said()
    assert (
        inputs_of(long="windows")
        .said()
        .endswith("read in windows, up to 12 a text, whose scores are pooled")
    )
    assert "of 1 the end is left out (encoder.windows)" in inputs_of(long="windows", most=5).said()
    assert inputs_of(limit=60).said() is None


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"long": "hed"}, "did you mean 'head'"),
        ({"long": "windows", "overlap": 6}, "fit.limit must be at least 9"),
        ({"limit": 2}, "fit.limit must be at least 3"),
        ({"overlap": -1}, "encoder.overlap"),
        ({"most": 0}, "encoder.windows"),
    ],
)
def test_windows_that_cannot_move_on_are_refused(options, match):
    with pytest.raises(SettingsError, match=match):
        inputs_of(**options)


@pytest.mark.parametrize("limit", [8, 7])
@pytest.mark.parametrize("long", LONG)
def test_ends_of_a_text_are_all_that_is_read_of_it(long, limit, monkeypatch):
    whole = inputs_of(long=long, limit=limit, most=3)
    first, last = whole.ends
    cut = [
        text if len(text) <= first + last else text[:first] + text[len(text) - last :]
        for text in TEXTS
    ]
    assert len(cut[-1]) < len(TEXTS[-1])
    before = windows(whole, range(7))
    monkeypatch.setitem(globals(), "TEXTS", cut)
    assert windows(inputs_of(long=long, limit=limit, most=3), range(7)) == before

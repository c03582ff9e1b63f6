"""Sheets: tokens with their pieces and tags, and windows that bear each tag once."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.assemble.sheets import flat, sheet_of, tag_inputs, tag_rows, tag_space, tags_of, truth_of_tags
from tagwright.embed.char import Char
from tagwright.embed.hashes import Hashes
from tagwright.settings import resolve

from ..tagged_pages import tagged_rows

TOKENS = [["a", "bc", "def"], [], ["a"], None, ["bc", "a"]]
TAGS = [["O", "B-X", "I-X"], [], ["B-Y"], None, ["O", "O"]]
TABLE = pa.table({"tokens": pa.array(TOKENS, pa.list_(pa.string())), "tags": pa.array(TAGS, pa.list_(pa.string()))})


def settings_of(limit, overlap=64):
    return resolve({"fit": {"limit": limit}, "head": {"overlap": overlap}}, "tokens")


def tokenisers():
    words = [word for row in TOKENS if row for word in row]
    return {"hashes": Hashes().train([]), "char": Char().train(words)}


@pytest.mark.parametrize("kind", ["hashes", "char"])
def test_a_sheet_knows_the_text_pieces_and_tag_of_every_token(kind):
    tokeniser, space = tokenisers()[kind], tag_space(TABLE)
    sheet, unseen = sheet_of(TABLE, tokeniser, space)
    assert not unseen
    assert sheet.offsets.tolist() == [0, 3, 3, 4, 4, 6]
    assert [space.names[tag] for tag in sheet.tags] == ["O", "B-X", "I-X", "B-Y", "O", "O"]
    for token, word in enumerate(["a", "bc", "def", "a", "bc", "a"]):
        own = sheet.pieces.ids[sheet.pieces.offsets[token] : sheet.pieces.offsets[token + 1]]
        alone = tokeniser.encode_tokens(pa.array([word]))
        assert own.tolist() == alone.ids.tolist()
        assert len(own) == (len(word) if kind == "char" else 1)
    assert sheet.tokens.lengths.tolist() == ([6, 0, 1, 0, 3] if kind == "char" else [3, 0, 1, 0, 2])


def test_chunks_of_a_column_are_one():
    both = pa.concat_tables([TABLE, TABLE.slice(2)])
    assert both["tokens"].num_chunks == 2
    assert flat(both["tokens"]).to_pylist() == [w for row in TOKENS + TOKENS[2:] if row for w in row]


def test_the_space_counts_tokens_not_texts():
    space = tag_space(TABLE)
    assert dict(zip(space.names, space.counts)) == {"O": 3, "B-X": 1, "I-X": 1, "B-Y": 1}
    assert space.exclusive


def test_a_tag_that_the_space_does_not_have_is_outside_and_counted():
    space = tag_space(TABLE)
    other = pa.table({"tags": [["B-X", "B-Z"], ["B-Z", "NEW"]]})
    ids, unseen = tags_of(other, space)
    outside = space.names.index("O")
    assert ids.tolist() == [space.names.index("B-X"), outside, outside, outside]
    assert unseen == {"B-Z": 2, "NEW": 1}


def test_without_an_outside_a_strange_tag_is_none():
    space = tag_space(pa.table({"tags": [["NOUN", "VERB"]]}))
    ids, _ = tags_of(pa.table({"tags": [["VERB", "X"]]}), space)
    assert ids.tolist() == [space.names.index("VERB"), -1]
    assert truth_of_tags(ids, 2).sum(1).tolist() == [1, 0]


@pytest.mark.parametrize("kind", ["hashes", "char"])
@pytest.mark.parametrize(("limit", "overlap"), [(1, 0), (3, 1), (7, 64), (512, 64)])
def test_windows_bear_every_tag_once_at_its_first_piece(kind, limit, overlap):
    rows = tagged_rows(9)
    table = pa.table({"tokens": [row[0] for row in rows], "tags": [row[1] for row in rows]})
    tokeniser = Char().train(["a"]) if kind == "char" else Hashes().train([])
    sheet, _ = sheet_of(table, tokeniser, tag_space(table))
    made = tag_rows(sheet, tokeniser, settings_of(limit, overlap), weight=None)
    owner = made.inputs.places.owner
    assert sorted(owner[owner >= 0].tolist()) == list(range(len(sheet.tags)))
    assert (made.tags[owner >= 0] == sheet.tags[owner[owner >= 0]]).all()
    assert (made.tags[owner < 0] == -1).all()
    assert made.sizes.sum() == len(sheet.tags)
    assert made.inputs.lengths.max() <= limit


def test_windows_weigh_as_their_text():
    sheet, _ = sheet_of(TABLE, Hashes().train([]), tag_space(TABLE))
    weight = np.arange(1, 6, dtype=np.float32)
    made = tag_rows(sheet, Hashes().train([]), settings_of(2, 0), weight=weight)
    assert made.weight.tolist() == weight[made.inputs.places.text].tolist()
    assert made.inputs.places.text.tolist() == [0, 0, 1, 2, 3, 4]


def test_texts_without_any_token_are_windows_without_tags():
    empty = pa.table(
        {"tokens": pa.array([[], []], pa.list_(pa.string())), "tags": pa.array([[], []], pa.list_(pa.string()))}
    )
    sheet, _ = sheet_of(empty, Hashes().train([]), tag_space(TABLE))
    made = tag_rows(sheet, Hashes().train([]), settings_of(8), weight=None)
    assert made.inputs.lengths.tolist() == [0, 0]
    assert made.sizes.tolist() == [0, 0]


def test_windows_overlap_as_the_head_says():
    pieces = Hashes().train([]).encode_tokens(pa.array(["x"] * 60))
    for overlap, count in ((0, 3), (4, 4)):  # at 0, 20 and 40; at 0, 16, 32 and 40: the last one reaches back
        inputs = tag_inputs(pieces, np.array([0, 60]), Hashes().train([]), settings_of(20, overlap).head, limit=20)
        assert inputs.lengths.tolist() == [20] * count

"""Sheets: tokens with their pieces and tags, and windows that bear each tag once."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from tagwright.batches.rows import HeadRows, Rows
from tagwright.inference.tagged_tokens import (
    flat,
    sheet_of,
    tag_inputs,
    tag_space,
    tags_at,
    tags_of,
    truth_of_tags,
    windows_of,
)
from tagwright.settings.schema import resolve
from tagwright.tokenizers.char import Char
from tagwright.tokenizers.hashes import Hashes

from ..tagged_pages import tagged_rows

TOKENS = [["a", "bc", "def"], [], ["a"], None, ["bc", "a"]]
TAGS = [["O", "B-X", "I-X"], [], ["B-Y"], None, ["O", "O"]]
TABLE = pa.table(
    {
        "tokens": pa.array(TOKENS, pa.list_(pa.string())),
        "tags": pa.array(TAGS, pa.list_(pa.string())),
    }
)


def head_of(overlap=64):
    return resolve({"head": {"overlap": overlap}}, "tokens").head


def tagged(table, tokenizer):
    """The sheet of a table with its tags, and their space."""
    space = tag_space(table)
    ids, unseen = tags_of(table, space)
    assert not unseen
    return sheet_of(table, tokenizer, ids), space


def tag_rows(sheet, tokenizer, limit, overlap=64):
    """What the one head learns of windows of the sheet."""
    inputs = windows_of(sheet, tokenizer, head_of(overlap), limit=limit, whole=True)
    nothing = csr_array((len(inputs.lengths), 0), dtype=np.float32)
    return Rows(
        inputs=inputs, heads={"main": HeadRows(target=nothing, tags=tags_at(sheet.tags, inputs))}
    )


def tokenizers():
    words = [word for row in TOKENS if row for word in row]
    return {"hashes": Hashes().train([]), "char": Char().train(words)}


@pytest.mark.parametrize("kind", ["hashes", "char"])
def test_a_sheet_knows_the_text_pieces_and_tag_of_every_token(kind):
    tokenizer = tokenizers()[kind]
    sheet, space = tagged(TABLE, tokenizer)
    assert sheet.offsets.tolist() == [0, 3, 3, 4, 4, 6]
    assert [space.names[tag] for tag in sheet.tags] == ["O", "B-X", "I-X", "B-Y", "O", "O"]
    for token, word in enumerate(["a", "bc", "def", "a", "bc", "a"]):
        own = sheet.pieces.ids[sheet.pieces.offsets[token] : sheet.pieces.offsets[token + 1]]
        alone = tokenizer.encode_tokens(pa.array([word]))
        assert own.tolist() == alone.ids.tolist()
        assert len(own) == (len(word) if kind == "char" else 1)
    assert sheet.tokens.lengths.tolist() == ([6, 0, 1, 0, 3] if kind == "char" else [3, 0, 1, 0, 2])


def test_chunks_of_a_column_are_one():
    both = pa.concat_tables([TABLE, TABLE.slice(2)])
    assert both["tokens"].num_chunks == 2
    assert flat(both["tokens"]).to_pylist() == [
        w for row in TOKENS + TOKENS[2:] if row for w in row
    ]


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
    tokenizer = Char().train(["a"]) if kind == "char" else Hashes().train([])
    sheet, _ = tagged(table, tokenizer)
    made = tag_rows(sheet, tokenizer, limit, overlap)
    owner, tags = made.inputs.places.owner, made.heads["main"].tags
    assert sorted(owner[owner >= 0].tolist()) == list(range(len(sheet.tags)))
    assert (tags[owner >= 0] == sheet.tags[owner[owner >= 0]]).all()
    assert (tags[owner < 0] == -1).all()
    assert made.sizes.sum() == len(sheet.tags)
    assert made.inputs.lengths.max() <= limit


def test_windows_know_their_text():
    sheet, _ = tagged(TABLE, Hashes().train([]))
    assert tag_rows(sheet, Hashes().train([]), 2, 0).inputs.places.text.tolist() == [
        0,
        0,
        1,
        2,
        3,
        4,
    ]


def test_for_labels_of_whole_texts_each_text_is_its_first_window():
    sheet, _ = tagged(TABLE, Hashes().train([]))
    inputs = windows_of(sheet, Hashes().train([]), head_of(0), limit=2, whole=False)
    assert inputs.places.text.tolist() == [0, 1, 2, 3, 4]
    assert inputs.lengths.tolist() == [2, 0, 1, 0, 2]
    assert tags_at(sheet.tags, inputs).tolist() == sheet.tags[[0, 1, 3, 4, 5]].tolist()


def test_tokens_of_a_text_without_tags_have_none_and_count_nowhere():
    tags = [["O", "B-X", "I-X"], None, None, None, ["O", "NEW"]]
    column = pa.chunked_array(
        [pa.array(part, pa.list_(pa.string())) for part in (tags[:1], tags[1:])]
    )
    table = pa.table({"tokens": TABLE["tokens"], "tags": column})
    space = tag_space(table.slice(0, 4))
    assert dict(zip(space.names, space.counts)) == {"O": 1, "B-X": 1, "I-X": 1}
    ids, unseen = tags_of(table, space)
    expected = []
    for words, own in zip(TOKENS, tags):
        known = own if own is not None else [None] * len(words or ())
        expected += [-1 if tag is None else space.index.get(tag, space.index["O"]) for tag in known]
    assert ids.tolist() == expected
    assert ids.tolist().count(-1) == 1
    assert unseen == {"NEW": 1}


def test_a_sheet_without_tags_knows_nothing_of_its_tokens():
    tokenizer = Hashes().train([])
    untagged, (sheet, _) = sheet_of(TABLE.select(["tokens"]), tokenizer), tagged(TABLE, tokenizer)
    assert untagged.tags.tolist() == [-1] * 6
    assert untagged.offsets.tolist() == sheet.offsets.tolist()
    assert untagged.pieces.ids.tolist() == sheet.pieces.ids.tolist()


def test_texts_without_any_token_are_windows_without_tags():
    empty = pa.table(
        {
            "tokens": pa.array([[], []], pa.list_(pa.string())),
            "tags": pa.array([[], []], pa.list_(pa.string())),
        }
    )
    ids, _ = tags_of(empty, tag_space(TABLE))
    made = tag_rows(sheet_of(empty, Hashes().train([]), ids), Hashes().train([]), 8)
    assert made.inputs.lengths.tolist() == [0, 0]
    assert made.sizes.tolist() == [0, 0]


def test_windows_overlap_as_the_head_says():
    pieces = Hashes().train([]).encode_tokens(pa.array(["x"] * 60))
    for overlap, count in (
        (0, 3),
        (4, 4),
    ):  # at 0, 20 and 40; at 0, 16, 32 and 40: the last one reaches back
        inputs = tag_inputs(
            pieces, np.array([0, 60]), Hashes().train([]), head_of(overlap), limit=20
        )
        assert inputs.lengths.tolist() == [20] * count

"""Spans of tags as seqeval and a plain loop read them, valid transitions, and repairs that keep the
spans.
"""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from tagwright.errors import ShapeError
from tagwright.labels.tags import faults, repaired, scheme_of, spans_of, transitions

IOB2 = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
IOBES = [*IOB2, "E-PER", "S-PER", "E-LOC", "S-LOC"]
BILOU = [*IOB2, "L-PER", "U-PER", "L-LOC", "U-LOC"]
PLAIN = ["NN", "O", "VB", "DT"]
ALL = {
    "iob2": IOB2,
    "iobes": IOBES,
    "bilou": BILOU,
    "plain": PLAIN,
    "bare": ["B", "I", "O"],
    "no_o": ["NN", "VB"],
}


def conlleval(tags: list[str], *, plain: bool = False) -> list[tuple[str, int, int]]:
    """Spans (type, first, after) by the rules of conlleval, one token after another."""
    spans: list[tuple[str, int, int]] = []
    letter_before, type_before = "O", ""
    for place, tag in enumerate(tags):
        letter, kind = (
            ("O", "") if tag == "O" else ("I", tag) if plain else (tag[0], tag[2:] or "_")
        )
        letter = {"L": "E", "U": "S"}.get(letter, letter)
        if letter != "O":
            goes_on = letter in "IE" and letter_before in "BI" and kind == type_before
            if goes_on:
                spans[-1] = (kind, spans[-1][1], place + 1)
            else:
                spans.append((kind, place, place + 1))
        letter_before, type_before = letter, kind
    return spans


def drawn(names: list[str], *, seed: int, texts: int = 97) -> list[list[str]]:
    """Any tags at all, in texts of 0 to 8 tokens."""
    rng = np.random.default_rng(seed)
    return [
        [names[i] for i in rng.integers(0, len(names), rng.integers(0, 9))] for _ in range(texts)
    ]


def found(texts: list[list[str]], names: list[str]) -> list[list[tuple[str, int, int]]]:
    scheme = scheme_of(names)
    ids = np.array([names.index(tag) for text in texts for tag in text], np.int64)
    spans = spans_of(ids, np.cumsum([0, *map(len, texts)]), scheme)
    result: list[list[tuple[str, int, int]]] = [[] for _ in texts]
    for row, start, end, kind in zip(*(part.tolist() for part in spans)):
        result[row].append((scheme.types[kind], start, end))
    return result


@pytest.mark.parametrize(
    ("names", "kind", "types", "outside"),
    [
        (IOB2, "iob2", ("PER", "LOC"), 0),
        (IOBES, "iobes", ("PER", "LOC"), 0),
        (BILOU, "iobes", ("PER", "LOC"), 0),
        (PLAIN, "plain", ("NN", "VB", "DT"), 1),
        (["NN", "VB"], "plain", ("NN", "VB"), -1),
        (["B", "I", "O"], "iob2", ("_",), 2),
        (["I", "S", "O"], "plain", ("I", "S"), 2),  # letters that happen to be classes
        (["B-PER", "I-PER", "X-PER"], "plain", ("B-PER", "I-PER", "X-PER"), -1),
        (["I-a-b", "O", "B-a-b"], "iob2", ("a-b",), 1),
        (["O"], "plain", (), 0),
    ],
)
def test_names_tell_the_scheme(names: list[str], kind: str, types: tuple[str, ...], outside: int):
    scheme = scheme_of(names)
    assert (scheme.kind, scheme.types, scheme.outside) == (kind, types, outside)
    assert [name for name, place in zip(names, scheme.type) if place < 0] == [
        name for name in names if name == "O"
    ]


@pytest.mark.parametrize("which", ALL)
def test_spans_of_any_tags_are_those_of_a_plain_loop(which: str):
    texts = drawn(ALL[which], seed=len(which))
    expected = [conlleval(text, plain=which in ("plain", "no_o")) for text in texts]
    assert found(texts, ALL[which]) == expected
    assert any(expected)


@pytest.mark.parametrize("which", ALL)
def test_spans_of_any_tags_are_those_of_seqeval(which: str):
    labelling = pytest.importorskip("seqeval.metrics.sequence_labeling")
    texts = drawn(ALL[which], seed=7)
    for text, spans in zip(texts, found(texts, ALL[which])):
        if which in ("plain", "no_o"):  # what seqeval would call such tags
            text = [tag if tag == "O" else f"I-{tag}" for tag in text]
        elif which == "bilou":
            text = [{"L": "E", "U": "S"}.get(tag[0], tag[0]) + tag[1:] for tag in text]
        assert spans == [
            (kind, start, last + 1) for kind, start, last in labelling.get_entities(text)
        ]


def test_unknown_tags_are_outside():
    spans = spans_of(np.array([1, -1, 2, -1]), np.array([0, 4]), scheme_of(IOB2))
    assert [part.tolist() for part in spans] == [[0, 0], [0, 2], [1, 3], [0, 0]]


@pytest.mark.parametrize("offsets", [[0, 3], [1, 4], [0, 3, 2, 4], []])
def test_offsets_that_do_not_part_the_tokens_are_refused(offsets: list[int]):
    with pytest.raises(ShapeError, match="offsets must rise from 0 to the 4 tokens"):
        spans_of(np.zeros(4, int), np.array(offsets, int), scheme_of(IOB2))


@pytest.mark.parametrize("which", ALL)
def test_tags_are_legal_where_a_repair_changes_nothing(which: str):
    names = ALL[which]
    allowed = transitions(scheme_of(names))
    for length in (1, 2, 3):
        for ids in itertools.product(range(len(names)), repeat=length):
            text = [names[i] for i in ids]
            legal = allowed.first[ids[0]] and allowed.last[ids[-1]]
            legal = legal and all(allowed.follows[a, b] for a, b in itertools.pairwise(ids))
            # all names stand before, each alone in its text, so that the scheme is the one of all
            # names
            tags = pa.array([[name] for name in names] + [text])
            assert legal == (
                not [row for row, _ in faults(tags, most=10**6) if row == len(names)]
            ), text


def test_a_type_that_was_never_seen_to_begin_or_end_may_do_so_with_what_it_has():
    io = transitions(scheme_of(["O", "I-X"]))
    assert io.first.all()
    assert io.follows.all()
    without_end = transitions(scheme_of(["O", "B-X", "I-X", "S-Y"]))
    assert without_end.last.all()
    assert without_end.first.tolist() == [True, True, False, True]


@pytest.mark.parametrize("which", ALL)
def test_a_repair_keeps_the_spans_counts_its_changes_and_is_done_once(which: str):
    texts = drawn(ALL[which], seed=3)
    mended, changed = repaired(pa.array(texts))
    plain = which in ("plain", "no_o")
    assert [conlleval(text, plain=plain) for text in mended.to_pylist()] == [
        conlleval(t, plain=plain) for t in texts
    ]
    differ = [
        (r, t)
        for r, text in enumerate(texts)
        for t, tag in enumerate(text)
        if mended[r][t].as_py() != tag
    ]
    assert changed == len(differ)
    assert faults(pa.array(texts), most=10**6) == differ
    assert repaired(mended)[1] == 0
    assert plain == (changed == 0)


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (["I-PER", "I-PER", "B-PER", "I-LOC"], ["B-PER", "I-PER", "B-PER", "B-LOC"]),  # IOB1
        (["O", "I-PER", "B-LOC", "I-PER"], ["O", "B-PER", "B-LOC", "B-PER"]),
        (
            ["E-PER", "B-LOC", "I-LOC", "O", "S-PER", "I-PER"],
            ["S-PER", "B-LOC", "E-LOC", "O", "S-PER", "S-PER"],
        ),
        (["L-PER", "B-LOC", "I-LOC", "O"], ["U-PER", "B-LOC", "L-LOC", "O"]),
        (["O", "I", "I", "B"], ["O", "B", "I", "B"]),
    ],
)
def test_an_opening_tag_is_mended_in_the_letters_of_the_data(
    broken: list[str], expected: list[str]
):
    assert repaired(pa.array([broken]))[0].to_pylist() == [expected]


def test_missing_texts_and_tags_stay_missing():
    tags = pa.array([None, ["I-X", None, "I-X"], []], pa.list_(pa.string()))
    mended, changed = repaired(tags)
    assert mended.to_pylist() == [None, ["B-X", None, "B-X"], []]
    assert (changed, mended.type) == (2, tags.type)
    assert repaired(pa.array([], pa.list_(pa.string())))[1] == 0


def test_a_slice_of_a_table_is_repaired_by_itself():
    tags = pa.array([["I-X"], ["I-Y", "O"], ["I-Z"]]).slice(1, 1)
    assert repaired(tags)[0].to_pylist() == [["B-Y", "O"]]
    assert faults(tags) == [(0, 0)]


def test_only_the_first_faults_are_listed():
    assert faults(pa.array([["I-X", "O"] * 5]), most=2) == [(0, 0), (0, 2)]

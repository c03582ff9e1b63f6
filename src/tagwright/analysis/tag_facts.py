"""What a report is told of a model that tags tokens: its types, and texts with what is right and
wrong in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tagwright.arrays import Ints
from tagwright.data.find_columns import whole
from tagwright.inference.model import Model
from tagwright.inference.spans import token_scores
from tagwright.inference.tagged_tokens import flat, tags_of
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.space import LabelSpace
from tagwright.labels.tags import BEGIN, SINGLE, Scheme, Spans, scheme_of, spans_of, tells_spans
from tagwright.metrics import Measures
from tagwright.reports.facts import Confused, Example, Piece, TagFacts
from tagwright.reports.plots import thin

FAULTY, RIGHT = 6, 3  # texts that are shown
SOUGHT = 400  # texts of a large set among which these are sought
LONGEST = 60  # tokens of a text that are shown
BEFORE = 15  # of these, tokens before the first fault
AROUND = 120  # characters on each side of a confused token

Span = tuple[int, int, int]  # first token, token after the last, type


class Shown(NamedTuple):
    """A text: its characters, and where each of its tokens begins and ends in them."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def tag_facts(
    measures: Measures, space: LabelSpace, tokens: Mapping[str, int], cut: str
) -> TagFacts:
    """Types with the scores of their spans; none where tags tell of no spans."""
    scheme = scheme_of(space.names)
    if not tells_spans(scheme):
        return TagFacts(tokens=tokens, cut=cut)
    state = measures.states["entities"]
    return TagFacts(
        tokens=tokens,
        cut=cut,
        types=state.types,
        per_type={**state.per_type()},
        type_counts=None if scheme.kind == "plain" else span_counts(scheme, space.counts),
    )


def span_counts(scheme: Scheme, tag_counts: Sequence[int]) -> Ints:
    """Spans of every type, (types,), from the counts of valid tags (L,): each has one tag that
    begins it.
    """
    begins = np.isin(scheme.prefix, (BEGIN, SINGLE))
    counts = np.bincount(
        scheme.type[begins], np.asarray(tag_counts)[begins], minlength=len(scheme.types)
    )
    return counts.astype(np.int64)


def confused_tokens(measures: Measures, names: Sequence[str], table: pa.Table) -> list[Confused]:
    """The most confused pairs of tags, each with tokens in their texts."""
    offsets = offsets_of(whole(table["tokens"]))
    return [
        Confused(
            true=names[pair.missed],
            chosen=names[pair.wrong],
            count=pair.times,
            examples=[_in_its_text(table, offsets, token) for token in pair.rows],
        )
        for pair in measures.states["confusion"].top(15)
    ]


def examples(table: pa.Table, space: LabelSpace, chosen: Ints) -> list[Example]:
    """Some texts with their true spans and the `chosen` ones, by the ids of the tags (tokens,):
    with faults first.
    """
    offsets, scheme = offsets_of(whole(table["tokens"])), scheme_of(space.names)
    if not tells_spans(scheme):
        return []
    true = _by_text(spans_of(tags_of(table, space)[0], offsets, scheme))
    found = _by_text(spans_of(chosen, offsets, scheme))
    rows = sorted(true.keys() | found.keys())
    faulty = [row for row in rows if true.get(row) != found.get(row)]
    right = [row for row in rows if true.get(row) == found.get(row)]
    picked = [
        group[place]
        for group, most in ((faulty, FAULTY), (right, RIGHT))
        for place in thin(len(group), most)
    ]
    return [
        _example(_shown(table, row), true.get(row, set()), found.get(row, set()), scheme.types)
        for row in picked
    ]


def examples_of(model: Model, table: pa.Table) -> list[Example]:
    """The same of a trained model, sought among texts from all over the table."""
    some = table.take(pa.array(thin(table.num_rows, SOUGHT)))
    scores = token_scores(model, flat(some["tokens"]), offsets_of(whole(some["tokens"])))
    return examples(some, model.primary.space, scores.chosen.argmax(1))


def _by_text(spans: Spans) -> dict[int, set[Span]]:
    result: dict[int, set[Span]] = {}
    for row, start, end, kind in zip(*(column.tolist() for column in spans)):
        result.setdefault(row, set()).add((start, end, kind))
    return result


def _shown(table: pa.Table, row: int) -> Shown:
    starts, tokens = (table[name][row].as_py() for name in ("starts", "tokens"))
    return Shown(
        table["text"][row].as_py(),
        starts,
        [start + len(token) for start, token in zip(starts, tokens)],
    )


def _example(shown: Shown, true: set[Span], found: set[Span], types: Sequence[str]) -> Example:
    """A long text from shortly before its first fault, or its first span."""
    first = min(true ^ found or true)[0]
    begin = (
        0
        if len(shown.starts) <= LONGEST
        else max(0, min(first - BEFORE, len(shown.starts) - LONGEST))
    )
    window = begin, min(begin + LONGEST, len(shown.starts))
    return Example(
        true=list(
            _pieces(
                shown,
                window,
                {span: "right" if span in found else "missed" for span in true},
                types,
            )
        ),
        found=list(
            _pieces(
                shown, window, {span: "right" if span in true else "wrong" for span in found}, types
            )
        ),
    )


def _pieces(
    shown: Shown, window: tuple[int, int], kinds: Mapping[Span, str], types: Sequence[str]
) -> Iterator[Piece]:
    """The tokens of a window, spans set apart; one that reaches out of it is cut there."""
    begin, end = window
    place = shown.starts[begin]
    if begin:
        yield Piece("… ")
    for start, after, kind in sorted(span for span in kinds if span[0] < end and span[1] > begin):
        left, right = shown.starts[max(start, begin)], shown.ends[min(after, end) - 1]
        if place < left:
            yield Piece(shown.text[place:left])
        yield Piece(shown.text[left:right], types[kind], kinds[start, after, kind])  # type: ignore[arg-type]
        place = right
    if place < shown.ends[end - 1]:
        yield Piece(shown.text[place : shown.ends[end - 1]])
    if end < len(shown.starts):
        yield Piece(" …")


def _in_its_text(table: pa.Table, offsets: Ints, token: int) -> list[Piece]:
    """A token, counted over all texts, set apart in what stands around it."""
    row = int(np.searchsorted(offsets, token, side="right")) - 1
    shown = _shown(table, row)
    start, end = (places[token - int(offsets[row])] for places in (shown.starts, shown.ends))
    before, after = shown.text[max(0, start - AROUND) : start], shown.text[end : end + AROUND]
    before, after = "…" * (start > AROUND) + before, after + "…" * (len(shown.text) > end + AROUND)
    return [Piece(before), Piece(shown.text[start:end], kind="wrong"), Piece(after)]

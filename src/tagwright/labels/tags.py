"""What the names of tags mean: which tokens are one span, which tag may follow which, and how
broken tags are mended.

Three schemes. "iob2": B-X begins a span of type X, I-X goes on, O is outside. "iobes": E-X also
ends one and S-X is one of a single token; L and U are other letters for E and S (BILOU). "plain":
every tag but O is a type of its own, and a run of equal tags is one span. Broken tags are read as
conlleval and seqeval read them: a tag that cannot go on begins.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Bools, Ints
from tagwright.errors import ShapeError
from tagwright.labels.list_columns import offsets_of

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)  # prefix codes
_CODES = {"O": OUTSIDE, "B": BEGIN, "I": INSIDE, "E": END, "L": END, "S": SINGLE, "U": SINGLE}
_PREFIXED = re.compile(r"([BIESLU])(?:-(.*))?", re.DOTALL)
_UNNAMED = "_"  # the type of a bare B or I, as seqeval calls it


@dataclass(frozen=True, eq=False, kw_only=True)
class Scheme:
    """The meaning of L tags, by their ids. In a plain scheme every tag but O has the prefix of an
    I.
    """

    kind: Literal["iob2", "iobes", "plain"]
    prefix: Ints  # (L,) prefix codes
    type: Ints  # (L,) places in `types`, -1 for O
    types: tuple[str, ...]
    outside: int  # the id of O, -1 where there is none


class Spans(NamedTuple):
    """Spans in the order of their tokens, arrays of one length: text, first token in it, token
    after the last, type.
    """

    row: Ints
    start: Ints
    end: Ints
    type: Ints


class Transitions(NamedTuple):
    """Which tags may stand where, bool: after another (L, L) as [before, after], first (L,), last
    (L,).
    """

    follows: Bools
    first: Bools
    last: Bools


def scheme_of(names: Sequence[str]) -> Scheme:
    """The scheme that all names fit, else "plain"; bare letters without a B are taken for classes.

    >>> scheme = scheme_of(["O", "B-PER", "I-PER", "B-LOC"])
    >>> scheme.kind, scheme.types, scheme.type.tolist()
    ('iob2', ('PER', 'LOC'), [-1, 0, 0, 1])
    """
    matches = [_PREFIXED.fullmatch(name) for name in names if name != "O"]
    found = [match for match in matches if match]
    known = (
        bool(found)
        and len(found) == len(matches)
        and any(match[2] is not None or match[1] == "B" for match in found)
    )
    kind: Literal["iob2", "iobes", "plain"] = "plain"
    if known:
        kind = "iob2" if {match[1] for match in found} <= {"B", "I"} else "iobes"
    types_of_tags = [None if name == "O" else _type_of(name, known) for name in names]
    types = tuple(dict.fromkeys(one for one in types_of_tags if one is not None))
    place = {name: number for number, name in enumerate(types)} | {None: -1}
    code_of = {name: _CODES[name[0]] if known else INSIDE for name in names if name != "O"}
    codes = [code_of.get(name, OUTSIDE) for name in names]
    return Scheme(
        kind=kind,
        prefix=np.array(codes, np.int8),
        type=np.array([place[one] for one in types_of_tags], np.int64),
        types=types,
        outside=list(names).index("O") if "O" in names else -1,
    )


def _type_of(name: str, known: bool) -> str:
    """The type that a tag names: behind its prefix where that is known, else the whole name."""
    return (name[2:] or _UNNAMED) if known else name


def tells_spans(scheme: Scheme) -> bool:
    """Whether spans mean something: not where every token has a class of its own, as parts of
    speech.

    >>> tells_spans(scheme_of(["O", "BRAND"])), tells_spans(scheme_of(["NOUN", "VERB"]))
    (True, False)
    """
    return scheme.kind != "plain" or scheme.outside >= 0


def transitions(scheme: Scheme) -> Transitions:
    """What may stand where in valid tags; in a plain scheme everything.

    A type without a B may begin with its other tags, and in "iobes" one without an E may end with
    them: such tags were never seen, and no text could have the type otherwise.
    """
    prefix, types = scheme.prefix, scheme.type
    alike = (types[:, None] == types) & (types >= 0)  # (L, L)
    unopened = ~(alike & (prefix == BEGIN)).any(axis=1)
    unclosed = ~(alike & (prefix == END)).any(axis=1)
    opens = np.isin(prefix, (OUTSIDE, BEGIN, SINGLE)) | unopened
    closes = (
        np.isin(prefix, (OUTSIDE, END, SINGLE)) | unclosed
        if scheme.kind == "iobes"
        else np.ones(len(prefix), bool)
    )
    goes_on = alike & np.isin(prefix, (BEGIN, INSIDE))[:, None] & np.isin(prefix, (INSIDE, END))
    return Transitions(goes_on | (closes[:, None] & opens), opens, closes)


def spans_of(ids: Ints, offsets: Ints, scheme: Scheme) -> Spans:
    """The spans of all texts: ids (N,) of the tags, text i has tokens offsets[i] to offsets[i + 1],
    (n + 1,).

    An id of -1, a tag that nobody knows, is outside. Any tags will do; broken ones are read as
    seqeval reads them.
    """
    require_offsets(offsets, len(ids))
    first, after, types = _bounds(ids, offsets, scheme)
    # the last of equal offsets: texts without tokens have none
    row = np.searchsorted(offsets, first, side="right") - 1
    return Spans(row, first - offsets[row], after - offsets[row], types)


def require_offsets(offsets: Ints, tokens: int) -> None:
    """Refuse offsets (n + 1,) that do not part this number of tokens into texts."""
    if (
        np.ndim(offsets) != 1
        or not len(offsets)
        or offsets[0]
        or offsets[-1] != tokens
        or (np.diff(offsets) < 0).any()
    ):
        raise ShapeError(
            f"offsets must rise from 0 to the {tokens} tokens, one more than there are texts, got"
            f" {offsets}"
        )


def repaired(tags: pa.ListArray) -> tuple[pa.ListArray, int]:
    """Valid tags with the spans of the given ones, and how many tags that changed; IOB1 becomes
    IOB2.

    >>> mended, changed = repaired(pa.array([["I-PER", "I-PER", "O", "B-LOC"]]))
    >>> mended.to_pylist(), changed
    ([['B-PER', 'I-PER', 'O', 'B-LOC']], 1)
    """
    names, ids, mended = _mended(tags)
    changed = int(np.count_nonzero(ids != mended))
    if not changed:
        return tags, 0
    values = pa.array(names, pa.string()).take(pa.array(mended, mask=mended < 0))
    offsets = pa.array(offsets_of(tags).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values, mask=tags.is_null()).cast(tags.type), changed


def faults(tags: pa.ListArray, *, most: int = 300) -> list[tuple[int, int]]:
    """(row, token) of the first tags that `repaired` would change."""
    _, ids, mended = _mended(tags)
    offsets = offsets_of(tags)
    tokens = np.flatnonzero(ids != mended)[:most]
    rows = np.searchsorted(offsets, tokens, side="right") - 1
    return list(zip(rows.tolist(), (tokens - offsets[rows]).tolist()))


def _bounds(ids: Ints, offsets: Ints, scheme: Scheme) -> tuple[Ints, Ints, Ints]:
    """First token, token after the last and type of every span, tokens counted over all texts."""
    # an id of -1 takes the last entry, so that one is O
    prefix, types = np.append(scheme.prefix, OUTSIDE)[ids], np.append(scheme.type, -1)[ids]
    fresh = np.zeros(len(ids) + 1, bool)
    fresh[offsets] = True
    fresh[1:-1] |= (
        (types[1:] != types[:-1])
        | np.isin(prefix[:-1], (END, SINGLE))
        | np.isin(prefix[1:], (BEGIN, SINGLE))
    )
    cuts = np.flatnonzero(fresh)  # a span, or what is outside, reaches from a cut to the next
    first, after = cuts[:-1], cuts[1:]
    inside = types[first] >= 0
    return first[inside], after[inside], types[first[inside]]


def _mended(tags: pa.ListArray) -> tuple[list[str], Ints, Ints]:
    """Names of tags, the ids of the given tags (N,), and those of valid ones with the same spans
    (N,).
    """
    coded = pc.dictionary_encode(tags.flatten())
    names: list[str] = coded.dictionary.to_pylist()
    # no tag: outside, and stays none
    ids = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    scheme = scheme_of(names)
    if scheme.kind == "plain":
        return names, ids, ids
    first, after, types = _bounds(ids, offsets_of(tags), scheme)
    codes = np.full(len(ids), INSIDE)
    codes[first] = BEGIN
    if scheme.kind == "iobes":
        codes[after - 1] = END
        codes[first[after - first == 1]] = SINGLE
    lengths = after - first
    within = np.repeat(first - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + np.arange(
        lengths.sum()
    )
    mended, table = ids.copy(), _table(names, scheme)
    mended[within] = table[np.repeat(types, lengths), codes[within]]
    return names, ids, mended


def _table(names: list[str], scheme: Scheme) -> Ints:
    """The tag of every type and prefix code, (types, 5), as places in `names`, which gets what is
    missing.
    """
    bilou = {name[0] for name in names} & set("LUES") <= set("LU")
    letters = "OBILU" if bilou else "OBIES"
    bare = any(len(name) == 1 for name in names if name != "O")
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(scheme.types), len(letters)), np.int64)
    for row, type_name in enumerate(scheme.types):
        for code, letter in enumerate(letters[1:], start=1):
            name = letter if bare and type_name == _UNNAMED else f"{letter}-{type_name}"
            table[row, code] = place.setdefault(name, len(place))
    names[:] = place
    return table

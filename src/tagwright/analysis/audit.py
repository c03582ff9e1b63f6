"""What a person should know about labelled texts before training: counts, long tail, leaks,
look-alike labels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright.analysis._alike import alike
from tagwright.analysis._cooccurrence import CoOccurrence, together
from tagwright.analysis._duplicates import (
    Conflicts,
    Copies,
    Leak,
    RowPlaces,
    conflicts,
    copies,
    leaks,
)
from tagwright.analysis._names import name_warnings
from tagwright.arrays import Ints
from tagwright.data.dataset import Data, Task, names_heads
from tagwright.data.split import plain_texts
from tagwright.labels.groups import groups_from_names
from tagwright.labels.space import LabelSpace

if TYPE_CHECKING:
    from tagwright.reports.check import AuditFacts

RARE = 10  # a label with fewer examples belongs to the tail
SHOWN = 20  # pairs of each kind that are kept
TEXTS = 50_000  # look-alikes are sought in at most so many texts, evenly spaced
QUANTILES = {"least": 0.0, "tenth": 0.1, "median": 0.5, "ninetieth": 0.9, "most": 1.0}


@dataclass(frozen=True, kw_only=True)
class SplitFacts:
    """One split. Cardinality is the mean number of labels of a labelled row, density its share of
    all labels.
    """

    name: str
    rows: int
    unlabelled: int
    empty_texts: int
    characters: dict[str, int]  # quantiles of text length: least, tenth, median, ninetieth, most
    words: dict[str, int]  # of token tasks the tokens
    cardinality: float
    density: float
    without_label: float  # share of the labelled rows whose list is empty


@dataclass(frozen=True, kw_only=True)
class LabelCount:
    """Rows of every split that carry the label."""

    name: str
    rows: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Tail:
    """How uneven the labels of train are: gini 0 is even, towards 1 a few labels have nearly all
    rows.
    """

    rare: int  # labels with fewer than 10 rows in train, those with none aside
    rare_share: float
    gini: float
    head: int  # so many of the most common labels hold half of all label marks


@dataclass(frozen=True, kw_only=True)
class LookAlike:
    """Two labels with similar texts; `together` is the share of the rarer label's rows that carry
    both.
    """

    left: str
    right: str
    similarity: float
    together: float
    left_text: str
    right_text: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """All that `audit` found; label statistics are of the table to learn from."""

    source: str
    found: tuple[str, ...]  # how the data were read, a sentence each
    task: Task
    parts: tuple[SplitFacts, ...]
    labels: tuple[LabelCount, ...]  # most common in train first
    tail: Tail
    together: tuple[CoOccurrence, ...]
    copies: tuple[Copies, ...]
    leaks: tuple[Leak, ...]
    conflicts: Conflicts
    unseen: dict[str, dict[str, int]]  # split -> label that train lacks -> rows
    look_alikes: tuple[LookAlike, ...]
    separator: str | None
    groups: dict[str, list[str]]
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> "AuditFacts":
        """Plain dictionaries, lists, numbers and strings, ready for JSON."""
        return cast("AuditFacts", asdict(self))


def audit(data: Data) -> Audit:
    """Look at every split of the data; nothing is changed, and nothing is wrong enough to raise.

    Token tasks are audited by the tags of their rows, the one for "outside" left out, and their
    words are the tokens; Labels, or tags, of several heads are audited together, as "NAME=label".
    Pairs and groups of tags are not sought: I follows B, and the letters before the types are no
    groups. Row numbers count from 0.
    """
    tagged = data.task == "tokens"
    lists = {name: _label_lists(data.marks(table)) for name, table in data.tables.items()}
    outside = {"O", *(f"{head}=O" for head in data.heads)} if tagged else set()
    names = sorted(
        {name for part in lists.values() for name in pc.unique(pc.list_flatten(part)).to_pylist()}
        - outside
    )
    marks = {name: _marks(part, names) for name, part in lists.items()}
    learned = "train" if "train" in marks else next(iter(marks))
    texts = {name: table["text"] for name, table in data.tables.items()}
    plain = {name: plain_texts(part) for name, part in texts.items()}
    places = RowPlaces.of(texts, plain)
    groups = groups_from_names([] if tagged else names)
    result = Audit(
        source=data.source,
        found=data.found,
        task=data.task,
        parts=tuple(
            _part(name, part, plain[name], lists[name], marks[name], tagged=tagged)
            for name, part in texts.items()
        ),
        labels=_label_counts(names, marks, learned),
        tail=_tail(_counts(marks[learned])),
        together=() if tagged else together(names, marks[learned], most=SHOWN),
        copies=copies(places),
        leaks=leaks(places),
        conflicts=conflicts(places, _label_sets(lists, marks)),
        unseen=_unseen(names, marks, learned),
        look_alikes=() if tagged else _look_alikes(names, texts[learned], marks[learned]),
        separator=groups.separator,
        groups={} if tagged else groups.members(names),
    )
    return replace(
        result, warnings=tuple(_warnings(result, learned, heads=names_heads(data.first)))
    )


def _label_lists(column: pa.ListArray | pa.ChunkedArray) -> pa.ListArray:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _marks(lists: pa.ListArray, names: Sequence[str]) -> csr_array:
    """Multi-hot (n, L)."""
    if not names:
        return csr_array((len(lists), 0), dtype=np.float32)
    return LabelSpace(names=tuple(names), counts=(0,) * len(names)).encode(lists).matrix(len(names))


def _counts(marks: csr_array) -> Ints:
    return np.bincount(marks.indices, minlength=marks.shape[1])


def _part(
    name: str,
    texts: pa.ChunkedArray,
    plain: pa.ChunkedArray,
    lists: pa.ListArray,
    marks: csr_array,
    *,
    tagged: bool,
) -> SplitFacts:
    labelled = len(lists) - lists.null_count
    cardinality = marks.nnz / max(labelled, 1)
    bare = int((np.diff(marks.indptr) == 0).sum()) - lists.null_count
    empty = pc.equal(plain, "")
    words = pc.if_else(empty, 0, pc.add(pc.count_substring(plain, " "), 1))
    if tagged:
        words = pc.fill_null(pc.list_value_length(lists), 0)
    return SplitFacts(
        name=name,
        rows=len(texts),
        unlabelled=lists.null_count,
        empty_texts=pc.sum(empty).as_py() or 0,
        characters=_quantiles(pc.utf8_length(pc.fill_null(texts, ""))),
        words=_quantiles(words),
        cardinality=cardinality,
        density=cardinality / max(marks.shape[1], 1),
        without_label=bare / max(labelled, 1),
    )


def _quantiles(lengths: pa.ChunkedArray) -> dict[str, int]:
    if not len(lengths):
        return dict.fromkeys(QUANTILES, 0)
    found = pc.quantile(lengths, q=list(QUANTILES.values()), interpolation="lower").to_pylist()
    return dict(zip(QUANTILES, found))


def _label_counts(
    names: Sequence[str], marks: Mapping[str, csr_array], learned: str
) -> tuple[LabelCount, ...]:
    counts = {split: _counts(part).tolist() for split, part in marks.items()}
    order = sorted(range(len(names)), key=lambda label: (-counts[learned][label], names[label]))
    return tuple(
        LabelCount(name=names[label], rows={split: part[label] for split, part in counts.items()})
        for label in order
    )


def _tail(counts: Ints) -> Tail:
    ascending = np.sort(counts[counts > 0])
    seen, total = len(ascending), int(ascending.sum())
    rare = int((ascending < RARE).sum())
    ranks = np.arange(1, seen + 1)
    gini = float((2 * ranks - seen - 1) @ ascending / (seen * total)) if total else 0.0
    head = int(np.searchsorted(np.cumsum(ascending[::-1]), total / 2)) + 1 if total else 0
    return Tail(rare=rare, rare_share=rare / max(seen, 1), gini=gini, head=head)


def _label_sets(lists: Mapping[str, pa.ListArray], marks: Mapping[str, csr_array]) -> Ints:
    """A number for the label set of every row of every split, (n,), -1 where the row is
    unlabelled.
    """
    keys = np.random.default_rng(0).integers(1, 2**62, size=next(iter(marks.values())).shape[1])
    # wraps around, harmless in a hash
    sums = np.concatenate([part.astype(np.int64) @ keys for part in marks.values()])
    judged = np.concatenate(
        [pc.is_valid(part).to_numpy(zero_copy_only=False) for part in lists.values()]
    )
    return np.where(judged, np.unique(sums, return_inverse=True)[1], -1)


def _unseen(
    names: Sequence[str], marks: Mapping[str, csr_array], learned: str
) -> dict[str, dict[str, int]]:
    known = _counts(marks[learned]) > 0
    counts = {
        split: np.where(known, 0, _counts(part))
        for split, part in marks.items()
        if split != learned
    }
    return {
        split: {names[label]: int(part[label]) for label in np.flatnonzero(part).tolist()}
        for split, part in counts.items()
        if part.any()
    }


def _look_alikes(
    names: Sequence[str], texts: pa.ChunkedArray, marks: csr_array
) -> tuple[LookAlike, ...]:
    rows = np.arange(0, len(texts), -(-max(len(texts), 1) // TEXTS))
    sample = texts.take(pa.array(rows))
    return tuple(
        LookAlike(
            left=names[pair.left],
            right=names[pair.right],
            similarity=pair.similarity,
            together=pair.together,
            left_text=sample[pair.left_row].as_py(),
            right_text=sample[pair.right_row].as_py(),
        )
        for pair in alike(sample, marks[rows], pairs=SHOWN)
    )


def _warnings(found: Audit, learned: str, *, heads: bool) -> Iterator[str]:
    """Sentences that a person should read before training."""
    label = "tag" if found.task == "tokens" else "label"
    if found.task == "tokens" and not found.labels:
        yield "No token has another tag than O: there is nothing to learn."
    elif found.task != "tokens" and len(found.labels) < 2:
        yield f"The data has {_many(len(found.labels), 'label')}; a tagger needs at least two."
    yield from name_warnings([one.name for one in found.labels], heads=heads)
    for part in found.parts:
        if part.empty_texts:
            yield f"{_many(part.empty_texts, 'text')} of {part.name} {_be(part.empty_texts)} empty."
        if part.unlabelled:
            yield (
                f"{_many(part.unlabelled, 'row')} of {part.name} cannot be scored: no {label}s are"
                " given."
            )
    for leak in found.leaks:
        stand = "stands" if leak.texts == 1 else "stand"
        yield (
            f"{_many(leak.texts, 'text')} of {leak.second} also {stand} in {leak.first}: scores"
            " will flatter."
        )
    if texts := found.conflicts.texts:
        yield f"{_many(texts, 'text')} {_be(texts)} there more than once with different {label}s."
    for copy in found.copies:
        yield (
            f"{_many(copy.surplus, 'row')} of {copy.split} {_be(copy.surplus)} a copy of another"
            " row of it."
        )
    for split, labels in found.unseen.items():
        rows = _many(sum(labels.values()), "row")
        yield (
            f"{_many(len(labels), label)} of {split} {_be(len(labels))} never seen in {learned}, on"
            f" {rows}."
        )
    if rare := found.tail.rare:
        yield (
            f"{_many(rare, label)} of {len(found.labels)} {_be(rare)} on fewer than {RARE} rows of"
            f" {learned}."
        )


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _be(count: int) -> str:
    return "is" if count == 1 else "are"

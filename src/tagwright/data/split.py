"""Make the parts a data set lacks: train, dev and test with the same share of every label, and no
text in two of them.

One method for single and several labels: rarest label first (Sechidis, Tsoumakas & Vlahavas 2011,
"On the Stratification of Multi-Label Data"), a label's rows dealt in one stroke instead of one by
one, spread evenly over their next-rarest labels, the best of a few deals kept. With a single label
a row this is the usual stratified split.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from tagwright.arrays import Floats, Ints
from tagwright.data.dataset import Data
from tagwright.errors import DataError, SettingsError

# A part may be this share of its size off before rounding stops favoring the nearest count of each
# label.
DRIFT = 0.05
# A label's rows are dealt so often, and the deal kept that suits the other labels on them best.
TRIES = 6
# Beyond so many labels, most come on few rows, whose shares are chance anyway; the wishes of all
# labels would cost L².
MANY = 16384


def split(data: Data, *, dev_share: float = 0.1, test_share: float = 0.0, seed: int = 0) -> Data:
    """Hold out the missing parts of the table to learn from; parts that exist stay as they are.

    Shares are of the labelled rows of that table; a part with share 0 is not made. Rows with the
    same `group` or the same text (case and spacing aside) stay together. Every label keeps at least
    one row in train. Unlabelled rows (labels null) cannot be scored: they go to train, unless a
    labelled row with their text or group takes them along. Rows with tags of named heads can be
    scored.
    """
    if not (0 <= dev_share < 1 and 0 <= test_share < 1 and dev_share + test_share < 1):
        raise SettingsError(
            f"dev_share and test_share must be at least 0 and add to less than 1, got {dev_share}"
            f" and {test_share}"
        )
    wanted = {"dev": dev_share, "test": test_share}
    missing = {
        name: share for name, share in wanted.items() if share > 0 and name not in data.tables
    }
    table = data.first
    if not missing:
        return data if "train" in data.tables else replace(data, tables=_renamed(data))
    units = row_units(table)
    part_of_row = _stratify(
        _label_counts(_judged(data), units), [*missing.values()], np.random.default_rng(seed)
    )[units]
    made = {
        name: table.filter(pa.array(part_of_row == part))
        for part, name in enumerate(["train", *missing])
    }
    empty = [name for name, part in made.items() if not part.num_rows]
    if empty:
        options = " ".join(f"--set split.{name}_share=" for name in empty if name in missing)
        raise DataError(
            f"{data.source}: no row of {table.num_rows} can go to {' or '.join(empty)}: every label"
            f" must stay in train and equal texts together{_each_once(data)}; give a larger share"
            f" ({options or 'of train'}), or the part itself as a file"
        )
    tables = {**_renamed(data), **made}
    return replace(
        data, tables={name: tables[name] for name in ("train", "dev", "test") if name in tables}
    )


def plain_texts(texts: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Texts as they are compared: lower case, single spaces, one Unicode form; null becomes empty.

    >>> plain_texts(pa.array(["Red  tent ", None])).to_pylist()
    ['red tent', '']
    """
    lowered = pc.utf8_lower(pc.utf8_normalize(pc.fill_null(texts, ""), form="NFC"))
    # A lone space is left alone: matching every one of them would double the time.
    spaced = pc.replace_substring_regex(lowered, r"[\s\p{Z}]{2,}|[\t\n\v\f\r]|[^\P{Z} ]", " ")
    return pc.utf8_trim(spaced, " ")


def row_units(table: pa.Table) -> Ints:
    """The unit of every row, int64 (n,): rows of one unit share a text or a group, directly or
    through others.
    """
    texts = codes(plain_texts(table["text"]))
    if "group" not in table.column_names or not len(texts):
        return texts
    named = pc.is_valid(table["group"]).to_numpy(zero_copy_only=False)
    groups = codes(table["group"].filter(pa.array(named))) + texts.max() + 1
    size = int(max(texts.max(), groups.max(initial=0))) + 1
    edges = coo_array((np.ones(len(groups), bool), (texts[named], groups)), shape=(size, size))
    return connected_components(edges, directed=False)[1].astype(np.int64)[texts]


def codes(values: pa.ChunkedArray | pa.Array) -> Ints:
    """A number for every value, int64 (n,): equal values, equal numbers, counted from 0 as they
    first come.
    """
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pc.dictionary_encode(values).indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _each_once(data: Data) -> str:
    """The likely cause where no label comes twice: the wrong column."""
    marks = pc.value_counts(pc.list_flatten(data.marks(data.first)))
    if not len(marks) or pc.max(marks.field("counts")).as_py() > 1:
        return ""
    column = (
        f"is {', '.join(map(repr, data.label_columns))} the label column"
        if data.label_columns
        else "is that meant"
    )
    return f", and every label is on one row ({column}?)"


def _judged(data: Data) -> pa.ChunkedArray:
    """The labels to spread; where heads tag tokens beside, a row that has tags alone counts as one
    without a label.
    """
    table = data.first
    labels = data.marks(table)
    tags = [table[name] for name in table.column_names if name.startswith("tags/")]
    if data.task != "both" or not tags:
        return labels
    has_tags = reduce(pc.or_, [pc.is_valid(column) for column in tags])
    none = pa.array([[]], labels.type)[0]
    return pc.if_else(pc.or_(pc.is_valid(labels), pc.invert(has_tags)), labels, none)


def _renamed(data: Data) -> dict[str, pa.Table]:
    return {"train" if name == "all" else name: table for name, table in data.tables.items()}


def _label_counts(labels: pa.ChunkedArray, units: Ints) -> csr_array:
    """Rows of each unit that carry each label, (U, L + 1), from rare to common; the last column is
    labelled rows.
    """
    lists = labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels
    rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    columns = codes(pc.list_flatten(lists))
    labelled = np.flatnonzero(pc.is_valid(lists).to_numpy(zero_copy_only=False))
    width = int(columns.max(initial=-1)) + 2
    cells = np.unique(np.concatenate([rows * width + columns, labelled * width + width - 1]))
    rarity = np.argsort(
        np.argsort(np.bincount(cells % width, minlength=width), kind="stable"), kind="stable"
    )
    # The labelled rows are at least as many as those of any label, and the stable sort keeps the
    # last column last.
    position = (units[cells // width], rarity[cells % width])
    shape = (int(units.max(initial=-1)) + 1, width)
    counts = csr_array(coo_array((np.ones(len(cells), np.float64), position), shape=shape))
    counts.sort_indices()
    return counts


def _stratify(counts: csr_array, held_out: Sequence[float], rng: np.random.Generator) -> Ints:
    """The part of every unit, (U,): 0 is train, where units without a labelled row stay."""
    if counts.shape[1] > MANY:
        return _at_random(counts, held_out, rng)
    totals, columns = counts.sum(axis=0), counts.tocsc()
    # a part of less than one row would stay empty
    held = np.maximum(held_out, 1 / max(totals[-1], 1))
    shares = np.array([1 - held.sum(), *held])
    desire = shares[:, None] * totals  # (P, L + 1): rows that every part still wants of every label
    parts = np.zeros(counts.shape[0], np.int64)
    units, weights, bounds = _queue(counts, rng)
    for label, (start, stop) in enumerate(pairwise(bounds)):
        turn = units[start:stop]
        need = _need(desire[:, -1], shares * totals[-1])
        deals = _deals(weights[start:stop], desire[:, label], need, rng)
        rests = desire - _taken(deals, counts[turn], len(shares))
        best = int(_imbalance(rests, shares, totals).argmin())
        parts[turn], desire = deals[best], rests[best]
        carriers = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        if len(carriers) and parts[carriers].all():  # none in train
            rescued = counts[carriers[:1]].toarray()[0]
            desire[parts[carriers[0]]] += rescued
            desire[0] -= rescued
            parts[carriers[0]] = 0
    return parts


def _at_random(counts: csr_array, held_out: Sequence[float], rng: np.random.Generator) -> Ints:
    """The part of every unit, (U,), whatever its labels, but that of every label's units one at
    least is in train.
    """
    labelled = np.flatnonzero(counts[:, [-1]].toarray()[:, 0])
    parts = np.zeros(counts.shape[0], np.int64)
    bounds = (
        np.maximum(np.cumsum(held_out) * len(labelled), np.arange(len(held_out)) + 1)
        .round()
        .astype(np.int64)
    )
    parts[rng.permutation(labelled)] = (
        np.searchsorted(bounds, np.arange(len(labelled)), side="right") + 1
    ) % (len(bounds) + 1)
    columns = counts.tocsc()
    lacking = (counts.T @ (parts == 0)) == 0
    parts[columns.indices[columns.indptr[:-1][lacking]]] = 0  # its first unit
    return parts


def _queue(counts: csr_array, rng: np.random.Generator) -> tuple[Ints, Floats, Ints]:
    """Labelled units in the order of their turn, their rows of the label whose turn it is, and each
    label's bounds.
    """
    held = np.diff(counts.indptr)
    units = np.flatnonzero(held)
    first = counts.indptr[units]
    # Columns run from rare to common, so the first cell of a unit is its rarest label: there its
    # turn comes.
    rarest, second, third = (
        counts.indices[first + np.minimum(place, held[units] - 1)] for place in range(3)
    )
    order = np.lexsort((rng.random(len(units)), third, second, rarest))
    bounds = np.searchsorted(rarest[order], np.arange(counts.shape[1] + 1))
    return units[order], counts.data[first][order], bounds


def _taken(deals: Ints, counts: csr_array, parts: int) -> Floats:
    """Rows of every label that the deals (K, m) of units with `counts` (m, L + 1) give to every
    part, (K, P, L + 1).
    """
    given = deals[:, None] == np.arange(parts)[:, None]  # (K, P, m)
    flat = given.reshape(len(deals) * parts, deals.shape[1]).astype(np.float64)
    return (counts.T @ flat.T).T.reshape(len(deals), parts, counts.shape[1])


def _imbalance(desire: Floats, shares: Floats, totals: Floats) -> Floats:
    """How far wishes (K, P, L + 1) are from the parts' shares of what is left, (K,); rare labels
    weigh more.
    """
    surplus = desire - shares[:, None] * desire.sum(axis=1, keepdims=True)
    return (surplus**2 / np.maximum(totals, 1)).sum(axis=(1, 2))


def _need(lacking: Floats, sizes: Floats) -> Floats:
    """Rows that every part, (P,), lacks beyond its slack if the rest is dealt in proportion; a
    trace breaks ties.
    """
    surplus = lacking - lacking.sum() * sizes / sizes.sum()
    slack = DRIFT * sizes
    return surplus - np.clip(surplus, -slack, slack) + 1e-6 * lacking / sizes


def _deals(weights: Floats, wanted: Floats, need: Floats, rng: np.random.Generator) -> Ints:
    """Ways to deal the units of one label, (K, m): heavy ones first, each to the part that wants
    the label most.
    """
    parts = np.zeros((TRIES, len(weights)), np.int64)
    for weight in np.unique(weights)[::-1]:
        here = np.flatnonzero(weights == weight)
        # (P, m)
        slots = (wanted + np.clip(need, -weight, weight))[:, None] - weight * np.arange(len(here))
        won = np.argsort(-slots.ravel(), kind="stable")[: len(here)] // len(here)
        taken = np.bincount(won, minlength=len(wanted))
        owner = np.repeat(np.arange(len(wanted)), taken)
        turn = np.arange(len(here)) - (np.cumsum(taken) - taken)[owner]
        # Neighbors are alike in their other labels: even spacing, from a random start, gives every
        # part some of each.
        places = (turn + rng.random((TRIES, len(wanted)))[:, owner]) / taken[owner]
        parts[:, here] = owner[np.argsort(places, axis=1, kind="stable")]
        wanted = wanted - weight * taken
    return parts

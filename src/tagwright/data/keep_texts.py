"""Make train unbalanced on purpose (KWLS, Tables 4 and 5): keep so many texts of a label, leave out
the others.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Bools
from tagwright.data.dataset import names_heads
from tagwright.errors import DataError, nearest, some
from tagwright.randomness import seed_of


def keep(
    table: pa.Table, wanted: Mapping[str, int], *, seed: int = 0
) -> tuple[pa.Table, tuple[str, ...]]:
    """The table with so many texts of each wanted label, and a sentence about each.

    Labels are taken in their order, each among the texts that those before it left; a text goes
    when any of its labels says so. Which texts of a label stay is drawn from the seed and the
    label's name: fewer are a part of more.
    """
    before = _counts(table)
    _require_known(wanted, before, heads=names_heads(table))
    stays = np.ones(table.num_rows, bool)
    for label, number in wanted.items():
        rows = np.flatnonzero(_has(table, label) & stays)
        order = (
            np.random.default_rng(seed_of(seed, f"keep {label}"))
            .random(table.num_rows)[rows]
            .argsort()
        )
        stays[rows[order[number:]]] = False
    kept = table.filter(pa.array(stays))
    after = _counts(kept)
    gone = [label for label in before if label not in after]
    cut = [label for label in gone if label in wanted]
    if cut:
        raise DataError(
            f"keep: the cuts together leave no train text with {some(cut)}; keep more of the other"
            " labels"
        )
    sentences = [
        _said(label, number, before[label], after[label]) for label, number in wanted.items()
    ]
    if gone:
        sentences.append(f"keep: no train text is left with {some(gone)}, not cut itself")
    return kept, tuple(sentences)


def _counts(table: pa.Table) -> dict[str, int]:
    """Texts with each label, the order being that of the table; a label twice on a text counts
    once.
    """
    labels = table["labels"].combine_chunks()
    pairs = pa.table({"row": pc.list_parent_indices(labels), "label": pc.list_flatten(labels)})
    counted = pc.value_counts(
        pairs.group_by(["row", "label"], use_threads=False).aggregate([])["label"]
    )
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist()))


def _has(table: pa.Table, label: str) -> Bools:
    """Which texts have the label, bool (n,)."""
    labels = table["labels"].combine_chunks()
    hits = pc.equal(pc.list_flatten(labels), label).to_numpy(zero_copy_only=False).astype(bool)
    result = np.zeros(table.num_rows, bool)
    result[pc.list_parent_indices(labels).to_numpy(zero_copy_only=False)[hits]] = True
    return result


def _require_known(wanted: Mapping[str, int], counts: Mapping[str, int], *, heads: bool) -> None:
    names = sorted(counts)
    guesses = {label: _guess(label, names, heads=heads) for label in wanted if label not in counts}
    if guesses:
        told = [
            f"{label!r}" + (f" (did you mean {near}?)" if near else "")
            for label, near in guesses.items()
        ]
        form = "; with several heads, a label is named as HEAD=LABEL" if heads else ""
        raise DataError(
            f"keep: no train text has the label {', '.join(told)}; train has {some(names)}{form}"
        )


def _guess(label: str, names: list[str], *, heads: bool) -> str | None:
    """What was meant: with heads the labels of that name, whose head was left out; else the one
    spelt most like it.
    """
    whole = [name for name in names if heads and name.partition("=")[2] == label]
    near = nearest(label, names)
    return " or ".join(map(repr, whole or ([near] if near else []))) or None


def _said(label: str, wanted: int, before: int, after: int) -> str:
    sentence = f"keep: {after:,} of {before:,} train texts with {label}"
    if wanted > before:
        return f"{sentence}, all there are; {wanted:,} were asked for"
    return (
        sentence
        if after == wanted
        else f"{sentence}; {wanted:,} were asked for, but other cuts took some"
    )

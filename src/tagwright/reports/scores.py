"""Tables of scores: a row for every label, tag or type."""

from collections.abc import Mapping, Sequence

import numpy as np

from tagwright.reports.facts import PerLabel, Values
from tagwright.reports.page import MOST_ROWS, Cell, Table, number, plural


def score_table(
    names: Sequence[str],
    scores: PerLabel,
    columns: Mapping[str, tuple[str, str]],
    *,
    what: str,
    counts: Values | None,
    counted: str,
) -> Table:
    """A row for each of `names`, the most frequent in train first, or in `scores` where `counts`
    (L,) are None.

    `columns` are the scores that are shown, in their order: title and a line on each; `counted` is
    that on the counts.
    """
    arrays = {name: np.asarray(values, np.float64) for name, values in scores.items()}
    present = [name for name in columns if name in arrays]
    frequent = np.asarray(arrays["support"] if counts is None else counts, np.float64)
    order = np.argsort(-frequent, kind="stable")[:MOST_ROWS].tolist()
    first = [[Cell(names[i])] for i in order]
    heads = [(what, "")]
    if counts is not None:
        first = [
            [*cells, Cell(number(int(frequent[i])), int(frequent[i]))]
            for cells, i in zip(first, order)
        ]
        heads.append(("train", counted))
    rows = [
        [*cells, *(_score(name, arrays[name][i].item()) for name in present)]
        for cells, i in zip(first, order)
    ]
    heads += [columns[name] for name in present]
    by = 1 if counts is not None else 1 + present.index("support")
    return Table(columns=heads, rows=rows, sorted_by=by, left_out=len(names) - len(rows))


def score_notes(scores: PerLabel, *, what: str, split: str) -> list[str]:
    """Sentences on what is never predicted, and on what nobody could test."""
    support = np.asarray(scores.get("support", np.ones(len(scores["f1"]))), float)
    notes = []
    if "predicted" in scores and (
        silent := int(np.sum((np.asarray(scores["predicted"]) == 0) & (support > 0)))
    ):
        notes.append(f"Never predicted though {split} has them: {plural(silent, what)}.")
    if absent := int(np.sum(support == 0)):
        notes.append(f"Not in {split}, so of unknown quality: {plural(absent, what)}.")
    return notes


def _score(name: str, value: float) -> Cell:
    """What is undefined sorts below everything."""
    if np.isnan(value):
        return Cell("–", -1.0)
    if name in ("support", "predicted"):
        return Cell(
            number(int(value)), value, mark="alert" if name == "predicted" and value == 0 else ""
        )
    return Cell(f"{value:.3f}", value, share=value if name == "f1" else None)

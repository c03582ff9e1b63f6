"""Shows an audit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from tagwright.cli._show import many, result, show
from tagwright.data.columns import TASKS

if TYPE_CHECKING:
    from tagwright.analysis.audit import Audit


def show_audit(found: "Audit", *, labels: int = 12, pairs: int = 6) -> None:
    """The splits, the most and least common labels, pairs, and what a person should look at."""
    for sentence in found.found:
        result(sentence)
    tagged = found.task == "tokens"
    label, known = ("tag", ", O aside") if tagged else ("label", "")
    result(f"{found.source}: {many(len(found.labels), label)}{known}, {TASKS[found.task]}")
    labelled = (
        ("untagged", "only O", "tags a text")
        if tagged
        else ("unlabelled", "no label", "labels a text")
    )
    words = "tokens, median" if tagged else "words, median"
    _table("rows", ("split", "rows", "empty", *labelled, words, "most"), _parts(found))
    rows = [(label.name, *(str(count) for count in label.rows.values())) for label in found.labels]
    splits = list(found.labels[0].rows) if rows else []
    shown = (
        rows
        if len(rows) <= labels
        else [*rows[: labels // 2], ("…", *("" for _ in splits)), *rows[-labels // 2 :]]
    )
    _table("rows with each tag" if tagged else "labels", (label, *splits), shown)
    tail = found.tail
    rare = f"{tail.rare} have fewer than 10 rows; gini {tail.gini:.2f}"
    result(f"half of all marks on {many(tail.head, label)}; {rare}")
    together = [(p.left, p.right, str(p.rows), f"{p.lift:.1f}") for p in found.together[:pairs]]
    _table("labels that stand together", ("label", "label", "rows", "times chance"), together)
    alike = [
        (p.left, p.right, f"{p.similarity:.2f}", f"{p.together:.0%}")
        for p in found.look_alikes[:pairs]
    ]
    _table("labels that look alike", ("label", "label", "cosine", "on the same rows"), alike)
    if found.groups:
        sizes = [f"{name} ({len(members)})" for name, members in found.groups.items()]
        result(
            f"groups by {found.separator!r}:"
            f" {', '.join(sizes[:10])}{' …' if len(sizes) > 10 else ''}"
        )
    for warning in found.warnings:
        result(f"! {warning}", style="yellow")
    if not found.warnings:
        result("nothing that speaks against training", style="green")


def _parts(found: "Audit") -> list[tuple[str, ...]]:
    return [
        (
            part.name,
            f"{part.rows:,}",
            str(part.empty_texts),
            str(part.unlabelled),
            f"{part.without_label:.1%}",
            f"{part.cardinality:.2f}",
            str(part.words["median"]),
            str(part.words["most"]),
        )
        for part in found.parts
    ]


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        return
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
    )
    for number, column in enumerate(columns):
        table.add_column(
            column, justify="left" if number == 0 or column == "label" else "right", overflow="fold"
        )
    for row in rows:
        table.add_row(*row)
    show(table)

"""`tagwright groups`."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.pipelines.element_groups import ElementGroups
    from tagwright.pipelines.groups import GroupsFound

WORDS, PAIRS = 6, 10  # that are shown of a label, and of all labels


def groups(
    data: o.Data,
    by: Annotated[
        str,
        typer.Option(
            help=(
                "prefix (of the labels' names), confusions (of a model on dev), cooccurrence (of"
                " labels in train) or "
                "elements (words that a model's labels depend on)."
            )
        ),
    ] = "prefix",
    out: Annotated[
        Path | None,
        typer.Option(
            help="The TOML file to write, of elements CSV. Only shown if left out.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="The model folder that confusions and elements ask.", show_default=False),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Which texts to look at.", show_default="dev for confusions, else train"),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            help=(
                "Labels are alike from this rate on: confused texts among those of the two labels,"
                " or texts with both "
                "among those with either."
            ),
            show_default="0.05 for confusions, 0.2 for cooccurrence",
        ),
    ] = None,
    least: Annotated[
        int | None, typer.Option(help="In so many texts at least.", show_default="3")
    ] = None,
    prefix_separator: Annotated[
        str | None,
        typer.Option(
            help="What ends the prefix in a label's name, such as /.", show_default="found"
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="A label depends on a word if it falls by more than this without it.",
            show_default="0.5",
        ),
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            help="Texts for elements: correct (predicted right), incorrect or all.",
            show_default="correct",
        ),
    ] = None,
    head: o.FirstHead = None,
    device: o.Device = None,
    allow_plugins: o.Plugins = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with elements that were under way.")
    ] = False,
    text: o.Text = None,
    labels: o.Labels = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    json: o.Json = False,
) -> None:
    """Find groups of labels that are alike, for a mask: labels that share a group with a gold one
    are not pushed down.

    The file is yours to edit. Train with it: `tagwright fit … --mask groups --set
    mask.groups=groups.toml`, or with elements `--mask elements --set mask.words=elements.csv`.

    Examples:

        tagwright groups mails.csv --by prefix --out groups.toml

        tagwright groups mails.csv --by confusions --model model --out groups.toml

        tagwright groups mails.csv --by cooccurrence --share 0.3

        tagwright groups mails.csv --by elements --model model --threshold 0.5 --out elements.csv
    """
    from tagwright.cli import _show
    from tagwright.pipelines.groups import ELEMENTS, GroupsFound, find_groups

    options = {
        "model": model,
        "split": split,
        "share": share,
        "least": least,
        "prefix_separator": prefix_separator,
    }
    options |= {
        "threshold": threshold,
        "select": select,
        "head": head,
        "device": device,
        "resume": resume or None,
    }
    options |= {"plugins": allow_plugins or None}
    columns = {"text": text, "labels": labels, "task": task, "separator": separator}
    found: GroupsFound | ElementGroups
    if by == ELEMENTS:
        from tagwright.pipelines.element_groups import find_element_groups

        kept = nullcontext() if out is None else _show.resumable("what is computed so far is kept")
        with kept, _show.progress_bar("copies, a word short") as progress:
            found = find_element_groups(
                data, out=out, overwrite=overwrite, options=options, progress=progress, **columns
            )
    else:
        found = find_groups(data, by=by, out=out, overwrite=overwrite, options=options, **columns)
    for warning in found.warnings:
        _show.say(warning, style="yellow")
    if json:
        _show.emit({**found.as_dict(), "file": None if out is None else str(out)})
        return
    if isinstance(found, GroupsFound):
        _show_groups(found)
    else:
        _show_elements(found)
    if out is not None:
        _show.say(f"{'elements' if by == ELEMENTS else 'groups'}: {out}")


def _show_groups(found: "GroupsFound") -> None:
    from rich.table import Table

    from tagwright.cli import _show

    table = Table(
        title=f"labels {found.how}",
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
    )
    for column in ("group", "labels", "members", *(("most alike",) if found.evidence else ())):
        table.add_column(column, justify="right" if column == "labels" else "left", overflow="fold")
    for name, members in found.groups.items():
        best = found.evidence[name][0] if found.evidence else None
        alike = () if best is None else (f"{best.left}, {best.right} ({best.rate:.3f})",)
        table.add_row(name, str(len(members)), ", ".join(members), *alike)
    _show.show(table)
    grouped = len({label for members in found.groups.values() for label in members})
    _show.result(
        f"{_show.many(len(found.groups), 'group')} with {grouped} of {found.label_count} labels"
    )


def _show_elements(found: "ElementGroups") -> None:
    from rich.table import Table

    from tagwright.cli import _show

    words: dict[str, list[str]] = {}
    for row in found.found.elements:
        words.setdefault(row.label, []).append(f"{row.word} ({row.texts})")
    table = Table(
        title=f"labels {found.how}",
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
    )
    for column in ("label", "words", "most often"):
        table.add_column(column, justify="right" if column == "words" else "left", overflow="fold")
    for label, own in words.items():
        table.add_row(
            label, str(len(own)), ", ".join(own[:WORDS]) + (", …" if len(own) > WORDS else "")
        )
    _show.show(table)
    _show_pairs(found)
    facts = found.found
    pairs, dependent = (
        _show.many(len(facts.elements), "pair"),
        f"{len(words)} of {found.label_count} labels",
    )
    _show.result(
        f"{pairs} of a word and a label, {dependent}; {_show.many(found.excusing, 'text')} excuse a"
        " label"
    )
    texts = (
        f"{facts.selected:,} of {_show.many(facts.texts, 'text')} ({found.select}), {facts.words:,}"
        " words"
    )
    skipped = f"{facts.skipped:,} of them could be left out"
    near = (
        f"{facts.near:,} decisions are so near the threshold that rounding could turn them"
        f" ({facts.precision})"
    )
    _show.result(f"{texts}: {facts.copies:,} copies without a word, {skipped}; {near}")


def _show_pairs(found: "ElementGroups") -> None:
    from rich.table import Table

    from tagwright.cli import _show

    if not found.pairs:
        _show.result(
            "no two labels share words of a text, so a mask of these elements excuses nothing"
        )
        return
    table = Table(
        title="excused beside a gold label", title_justify="left", title_style="bold", box=None
    )
    for column in ("gold", "excused", "texts"):
        table.add_column(column, justify="right" if column == "texts" else "left", overflow="fold")
    for pair in found.pairs[:PAIRS]:
        table.add_row(pair.left, pair.right, f"{pair.texts:,}")
    _show.show(table)

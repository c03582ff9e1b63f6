"""`tagwright groups`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.assemble.groups import GroupsFound


def groups(
    data: o.Data,
    by: Annotated[
        str,
        typer.Option(
            help="prefix (of the labels' names), confusions (of a model on dev) or cooccurrence (of labels in train)."
        ),
    ] = "prefix",
    out: Annotated[
        Path | None, typer.Option(help="The TOML file to write. Only shown if left out.", show_default=False)
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="The model folder that --by confusions asks.", show_default=False)
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Which texts to look at.", show_default="dev for confusions, else train")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            help="Labels are alike from this rate on: confused texts among those of the two labels, or texts with both "
            "among those with either.",
            show_default="0.05 for confusions, 0.2 for cooccurrence",
        ),
    ] = None,
    least: Annotated[int | None, typer.Option(help="In so many texts at least.", show_default="3")] = None,
    prefix_separator: Annotated[
        str | None, typer.Option(help="What ends the prefix in a label's name, such as /.", show_default="found")
    ] = None,
    text: o.Text = None,
    labels: o.Labels = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    json: o.Json = False,
) -> None:
    """Find groups of labels that are alike, for a mask: labels that share a group with a gold one are not pushed down.

    The file is yours to edit. Train with it: `tagwright fit … --mask groups --set mask.groups=groups.toml`.

    Examples:

        tagwright groups mails.csv --by prefix --out groups.toml

        tagwright groups mails.csv --by confusions --model model --out groups.toml

        tagwright groups mails.csv --by cooccurrence --share 0.3
    """
    from tagwright.assemble.groups import find_groups
    from tagwright.cli import _show

    options = {"model": model, "split": split, "share": share, "least": least, "prefix_separator": prefix_separator}
    columns = {"text": text, "labels": labels, "task": task, "separator": separator}
    found = find_groups(data, by=by, out=out, overwrite=overwrite, options=options, **columns)
    for warning in found.warnings:
        _show.say(warning, style="yellow")
    if json:
        _show.emit({**found.as_dict(), "file": None if out is None else str(out)})
        return
    _show_groups(found)
    if out is not None:
        _show.say(f"groups: {out}")


def _show_groups(found: "GroupsFound") -> None:
    from rich.table import Table

    from tagwright.cli import _show

    table = Table(title=f"labels {found.how}", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for column in ("group", "labels", "members", *(("most alike",) if found.evidence else ())):
        table.add_column(column, justify="right" if column == "labels" else "left", overflow="fold")
    for name, members in found.groups.items():
        best = found.evidence[name][0] if found.evidence else None
        alike = () if best is None else (f"{best.left}, {best.right} ({best.rate:.3f})",)
        table.add_row(name, str(len(members)), ", ".join(members), *alike)
    _show.show(table)
    grouped = len({label for members in found.groups.values() for label in members})
    _show.result(f"{_show.many(len(found.groups), 'group')} with {grouped} of {found.label_count} labels")

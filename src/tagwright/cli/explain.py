"""`tagwright explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.reports.facts import AttentionFacts

PAIRS = 10


def explain(
    model: o.ModelFolder,
    data: o.Data,
    attention: Annotated[
        bool,
        typer.Option(
            "--attention", help="How much labels that are slots before the text look at each other."
        ),
    ] = False,
    layers: Annotated[
        str, typer.Option(help="low, middle, last, or numbers from 1 up, with commas.")
    ] = "low,middle,last",
    texts: Annotated[
        int | None,
        typer.Option(
            help="How many texts, spread over the split.", show_default="all, 4,000 at most"
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            help="Show this label; several with commas, or repeatable.",
            show_default="the 40 most frequent at most",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="train, dev or test.", show_default="dev, else test, else all rows"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="An HTML file to write: heat maps.", show_default=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    device: o.Device = None,
    allow_plugins: o.Plugins = False,
    text: o.Text = None,
    labels: o.Labels = None,
    separator: o.Separator = "auto",
    json: o.Json = False,
) -> None:
    """Show what a model looks at: with --attention, how much its labels look at each other, beside
    their correlation.

    For models whose labels are slots before the text (`fit --objective cloze`, LM-MTC). Data
    without labels have no correlation to compare with.

    Example:

        tagwright explain model mails.csv --attention --layers 1,3,6 --out attention.html
    """
    from tagwright.cli import _show
    from tagwright.errors import SettingsError
    from tagwright.pipelines.explain import as_dict, explain_folder

    if not attention:
        raise SettingsError(
            "what shall be explained? --attention shows how much labels look at each other"
        )
    columns = {"text": text, "labels": labels, "separator": separator}
    with _show.progress_bar("attention") as told:
        facts = explain_folder(
            model,
            data,
            out=out,
            overwrite=overwrite,
            device=device or "auto",
            plugins=allow_plugins,
            columns=columns,
            layers=layers,
            texts=texts,
            labels=label or (),
            split=split,
            told=told,
        )
    for warning in facts.warnings:
        _show.say(warning, style="yellow")
    if json:
        _show.emit(as_dict(facts))
    else:
        _show_attention(facts)
    if out is not None:
        _show.say(f"page: {out}")


def _show_attention(facts: "AttentionFacts") -> None:
    """What labels look at in each layer, the pairs with the most attention in the last one, and
    what that says.
    """
    from rich.table import Table

    from tagwright.cli import _show
    from tagwright.reports.attention import layer_table, pair_table, verdict

    spread = "" if facts.texts == facts.rows else f", spread over {facts.rows:,}"
    where = (
        f"attention between {len(facts.label_names)} labels, {_show.many(facts.texts, 'text')} of"
        f" {facts.split}{spread}"
    )
    pairs = f"pairs with the most attention in layer {max(facts.layers)}"
    for title, found in ((where, layer_table(facts)), (pairs, pair_table(facts))):
        table = Table(title=title, title_justify="left", title_style="bold")
        for place, (name, _) in enumerate(found.columns):
            table.add_column(name, justify="right" if place else "left")
        for row in found.rows[:PAIRS]:
            table.add_row(*(cell.text for cell in row))
        _show.show(table)
    if said := verdict(facts):
        _show.result(said)

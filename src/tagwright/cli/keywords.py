"""`tagwright keywords`."""

from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.pipelines.keywords import KeywordsFound

BAR = 20  # characters of the longest bar
SHOWN = 20  # labels, where none are named


def keywords(
    data: o.Data,
    by: Annotated[
        str, typer.Option(help="kwls or tfidf: what makes a word relevant to a label.")
    ] = "kwls",
    label: Annotated[
        list[str] | None,
        typer.Option(help="Only this label; repeatable.", show_default="the most frequent"),
    ] = None,
    top: Annotated[int, typer.Option(help="Words a label.")] = 8,
    texts: Annotated[int, typer.Option(help="Training texts to show with their soft labels.")] = 5,
    head: o.FirstHead = None,
    encoder: o.Encoder = None,
    text: o.Text = None,
    labels: o.Labels = None,
    task: o.Task = None,
    separator: o.Separator = "auto",
    settings: o.SettingsFile = None,
    set_: o.Set = None,
    json: o.Json = False,
) -> None:
    """Show the keywords of each label and texts with their soft labels: what `--objective kwls`
    learns from.

    Examples:

        tagwright keywords mails.csv

        tagwright keywords news.csv --label sport --label politics --top 20 --texts 10

        tagwright keywords news.csv --by tfidf --json
    """
    from tagwright.cli import _show
    from tagwright.pipelines.keywords import find_keywords

    options = {
        "encoder.name": encoder,
        "data.text": text,
        "data.labels": labels,
        "data.task": task,
        "data.separator": separator,
    }
    given = o.given(settings, set_, options)
    found = find_keywords(data, given, by=by, head=head, labels=label or (), top=top, texts=texts)
    if json:
        _show.emit(found.as_dict())
        return
    _show_keywords(found, most=len(found.keywords) if label else SHOWN)
    if found.texts:
        _show_texts(found)


def _show_keywords(found: "KeywordsFound", *, most: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from tagwright.cli import _show

    title = f"keywords by {found.by}, {_show.many(found.rows, 'training text')}"
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
    )
    table.add_column("label")
    table.add_column("texts", justify="right")
    table.add_column("keyword")
    table.add_column("times", justify="right")
    table.add_column("relevance", justify="right")
    table.add_column("")
    for label in list(found.keywords)[:most]:
        words = found.keywords[label]
        first = (label, f"{found.texts_of[label]:,}")
        for number, word in enumerate(words or [None]):
            own = first if number == 0 else ("", "")
            if word is None:
                table.add_row(*own, "(none)", "", "", "")
                continue
            length = (
                round(BAR * word.relevance / words[0].relevance) if words[0].relevance > 0 else 0
            )
            bar = Text("█" * max(length, 1), style="cyan")
            table.add_row(*own, word.word, f"{word.occurrences:,}", f"{word.relevance:.2f}", bar)
    _show.show(table)
    left = len(found.keywords) - most
    if left > 0:
        _show.say(f"{_show.many(left, 'more label')}: --label names one, --json has all")


def _show_texts(found: "KeywordsFound") -> None:
    from rich.table import Table

    from tagwright.cli import _show

    table = Table(
        title="texts", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
    )
    table.add_column("text", max_width=60, overflow="ellipsis", no_wrap=True)
    table.add_column("labels")
    table.add_column("soft labels")
    for one in found.texts:
        shares = ", ".join(f"{label} {share:.2f}" for label, share in one.soft.items())
        table.add_row(" ".join(one.text.split()), ", ".join(one.labels) or "(none)", shares)
    _show.show(table)

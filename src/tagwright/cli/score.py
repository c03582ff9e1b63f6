"""`tagwright score`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.inference.score import Scored


def score(
    model: o.ModelFolder,
    data: o.Data,
    split: Annotated[
        str | None,
        typer.Option(help="train, dev or test.", show_default="test, else dev, else all rows"),
    ] = None,
    convention: Annotated[
        str, typer.Option(help="sklearn, or paper (ZLPR's) for rows and labels without examples.")
    ] = "sklearn",
    unseen: Annotated[
        str,
        typer.Option(help="Labels the model does not know: drop them, or count each as a miss."),
    ] = "drop",
    pairs: Annotated[int, typer.Option(help="How many confused pairs to show.")] = 5,
    text: o.Text = None,
    labels: o.Labels = None,
    separator: o.Separator = "auto",
    head: o.NamedHead = None,
    device: o.Device = None,
    allow_plugins: o.Plugins = False,
    json: o.Json = False,
) -> None:
    """Measure a model: every metric, by frequency band (of tokens, by type), with confused pairs.

    Example:

        tagwright score model held_out.csv --json
    """
    from tagwright.cli import _show
    from tagwright.pipelines.score import score_folder

    scored = score_folder(
        model,
        data,
        split=split,
        unseen=unseen,
        convention=convention,
        head=head,
        device=device or "auto",
        plugins=allow_plugins,
        text=text,
        labels=labels,
        separator=separator,
    )
    if json:
        _show.emit(scored.as_dict(convention=convention))
        return
    for name, one in scored.heads.items() or [(None, scored)]:
        _show_head(one, name, convention=convention, pairs=pairs, unseen=unseen)
    if scored.left_out:
        _show.say(
            f"no answers here for {', '.join(scored.left_out)}, so nothing is said of them",
            style="yellow",
        )


def _show_head(
    scored: "Scored", name: str | None, *, convention: str, pairs: int, unseen: str
) -> None:
    """The figures of a head, its confused pairs, and what was left out."""
    from tagwright.analysis.metric_facts import bands
    from tagwright.cli import _show
    from tagwright.training.prepare import listed

    results = scored.as_dict(convention=convention)["metrics"]
    title = (
        f"{_show.measured_on(scored.split, scored.rows, scored.tokens)}, convention {convention}"
    )
    title = title if name is None else f"{name}: {title}"
    if scored.tokens is None:
        _show.show(_show.metric_table(title, results))
        _show.show(_show.band_table(bands(scored.label_counts, results)))
    else:
        _show_tags(scored, title, results)
    what = "labels" if scored.tokens is None else "tags"
    for pair in scored.measures.states["confusion"].top(pairs):
        missed, wrong = scored.label_names[pair.missed], scored.label_names[pair.wrong]
        _show.result(f"{pair.times:5d}  {missed}  was taken for  {wrong}")
    if scored.unseen:
        done = "counted as O" if "O" in scored.label_names else "never right"
        if scored.tokens is None:
            done = "left out"
        if unseen == "miss":
            done = "counted as misses"
        _show.say(
            f"{what} the model does not know, {done}: {listed(scored.unseen, most=10)}",
            style="yellow",
        )
    if scored.unknown:
        _show.say(
            f"left out: {_show.many(scored.unknown, 'text')} with no other label", style="yellow"
        )
    if scored.unlabelled:
        _show.say(
            f"left out: {_show.many(scored.unlabelled, 'text')} without {what}", style="yellow"
        )


def _show_tags(scored: "Scored", title: str, results: Mapping[str, float]) -> None:
    """Figures of tokens and, where the tags tell of them, of spans."""
    from tagwright.cli import _show
    from tagwright.labels.tags import scheme_of, tells_spans
    from tagwright.reports.facts import PerLabel

    _show.show(_show.tag_table(title, results, scored.label_names))
    if tells_spans(scheme_of(scored.label_names)):
        entities = scored.measures.states["entities"]
        _show.show(_show.type_table(entities.types, PerLabel(**entities.per_type())))

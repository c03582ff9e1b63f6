"""`tagwright score`."""

from typing import Annotated

import typer

from tagwright.cli import _options as o


def score(
    model: o.ModelFolder,
    data: o.Data,
    split: Annotated[
        str | None, typer.Option(help="train, dev or test.", show_default="test, else dev, else all rows")
    ] = None,
    convention: Annotated[
        str, typer.Option(help="sklearn, or paper (ZLPR's) for rows and labels without examples.")
    ] = "sklearn",
    unseen: Annotated[
        str, typer.Option(help="Labels the model does not know: drop them, or count each as a miss.")
    ] = "drop",
    pairs: Annotated[int, typer.Option(help="How many confused pairs to show.")] = 5,
    text: o.Text = None,
    labels: o.Labels = None,
    separator: o.Separator = "auto",
    json: o.Json = False,
) -> None:
    """Measure a model: every metric, by frequency band, with confused pairs.

    Example:

        tagwright score model held_out.csv --json
    """
    from tagwright.assemble.facts import bands
    from tagwright.assemble.prepare import listed
    from tagwright.assemble.score import score_folder
    from tagwright.cli import _show

    scored = score_folder(
        model, data, split=split, unseen=unseen, text=text, labels=labels, separator=separator, convention=convention
    )
    if json:
        _show.emit(scored.as_dict(convention=convention))
        return
    results = scored.as_dict(convention=convention)["metrics"]
    title = f"{scored.split}, {_show.many(scored.rows, 'text')}, convention {convention}"
    _show.show(_show.metric_table(title, results))
    _show.show(_show.band_table(bands(scored.label_counts, results)))
    for pair in scored.measures.states["confusion"].top(pairs):
        missed, wrong = scored.label_names[pair.missed], scored.label_names[pair.wrong]
        _show.result(f"{pair.times:5d}  {missed}  was taken for  {wrong}")
    if scored.unseen:
        done = "left out" if unseen == "drop" else "counted as misses"
        _show.say(f"labels the model does not know, {done}: {listed(scored.unseen, most=10)}", style="yellow")
    if scored.unknown:
        _show.say(f"left out: {_show.many(scored.unknown, 'text')} with no other label", style="yellow")
    if scored.unlabelled:
        _show.say(f"left out: {_show.many(scored.unlabelled, 'text')} without labels", style="yellow")

"""`tagwright decide`."""

from typing import Annotated

import typer

from tagwright.cli import _options as o


def decide(
    model: o.ModelFolder,
    dev: Annotated[
        str | None, typer.Argument(help="Labelled data to fit thresholds on.", show_default=False)
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            help="threshold (fitted on DEV), argmax, zero, fixed or topk; of tokens spans.",
            show_default="argmax for one label, else threshold",
        ),
    ] = "auto",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the rule, as key=value: probability=0.3, k=2.",
            show_default=False,
        ),
    ] = None,
    head: o.FirstHead = None,
    text: o.Text = None,
    labels: o.Labels = None,
    separator: o.Separator = "auto",
    device: o.Device = None,
    allow_plugins: o.Plugins = False,
    split: Annotated[
        str | None, typer.Option(help="Which split of DEV.", show_default="dev, else all rows")
    ] = None,
    json: o.Json = False,
) -> None:
    """Fit a model's decision anew, or set another rule; the weights stay.

    Examples:

        tagwright decide model new_dev.csv

        tagwright decide model --rule fixed --set probability=0.3
    """
    from tagwright.cli import _show
    from tagwright.pipelines.decide import redecide

    done = redecide(
        model,
        dev,
        rule=rule,
        assignments=set_ or [],
        split=split,
        head=head,
        device=device or "auto",
        plugins=allow_plugins,
        text=text,
        labels=labels,
        separator=separator,
    )
    if json:
        _show.emit(done.as_dict())
        return
    _show.say(
        f"{model} now decides by {done.rule}"
        if done.head == "main"
        else f"{model} now decides {done.head} by {done.rule}"
    )
    title = f"{done.split}, no text decided by itself"
    if done.metrics and done.tags is None:
        _show.show(_show.metric_table(title, done.metrics))
    elif done.metrics:
        _show.show(_show.tag_table(title, done.metrics, done.tags or ()))

"""`tagwright reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.experiments.recipe import Recipe


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A recipe's name (--list), or the path of its TOML file.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="A folder with the data sets.", show_default="$TAGWRIGHT_DATA"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A folder for runs and tables.", show_default="NAME")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Data sets, encoders, cuts, variants, with commas; the baseline stays.",
            show_default="all",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each variant.", show_default="the recipe's")
    ] = None,
    device: o.Device = None,
    jobs: o.Jobs = None,
    set_: o.Set = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Say what every recipe needs, and end.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Only write the tables of the runs that OUT has.")
    ] = False,
    json: o.Json = False,
) -> None:
    """Make a table of a paper again: its data sets, encoders and variants with several seeds, as a
    recipe says.

    Finished runs are kept: after a stop the same command goes on. A run that fails is shown as
    failed, and the others go on; the exit code is then 1.

    Examples:

        tagwright reproduce --list

        tagwright reproduce maskloss --data data --out maskloss

        tagwright reproduce maskloss --data data --out trial --only trec_fine,cnn --seeds 2
    """
    from tagwright.cli import _show
    from tagwright.cli._live import looking_on
    from tagwright.errors import SettingsError
    from tagwright.experiments.recipe import names, read_recipe
    from tagwright.pipelines.reproduce import reproduce as make
    from tagwright.pipelines.reproduce import write_tables
    from tagwright.training.step_stream import Interrupted

    if list_:
        _list([read_recipe(one) for one in names()], json=json)
        return
    if name is None:
        raise SettingsError(f"name a recipe: {', '.join(names())}, or the path of a .toml file")
    folder, chosen = out or Path(Path(name).stem), o.listed(only)
    try:
        with looking_on() as watch:
            if tables:
                done = write_tables(name, out=folder, only=chosen, seeds=seeds, say=_show.say)
            else:
                done = make(
                    name,
                    out=folder,
                    data=data,
                    only=chosen,
                    seeds=seeds,
                    device=device,
                    more=set_ or (),
                    jobs=jobs,
                    say=_show.say,
                    watch=watch,
                )
    except KeyboardInterrupt:
        raise Interrupted("stopped; finished runs are kept, go on with the same command") from None
    if json:
        _show.emit(done.as_dict())
    else:
        _show.page(done.report.read_text(encoding="utf-8"))
    _show.say(f"tables: {done.report}")
    if done.failed:
        _show.say(f"{_show.many(done.failed, 'run')} failed; the same command makes them again")
        raise typer.Exit(1)


def _list(recipes: "list[Recipe]", *, json: bool) -> None:
    from tagwright.cli import _show

    shown = (
        "name",
        "title",
        "paper",
        "note",
        "metric",
        "also",
        "seeds",
        "data",
        "encoders",
        "runs",
        "minutes",
        "baseline",
    )
    if json:
        _show.emit(
            {"recipes": [{key: getattr(recipe, key) for key in shown} for recipe in recipes]}
        )
        return
    for recipe in recipes:
        _show.result(recipe.name, style="bold")
        _show.result(f"  {recipe.title}. {recipe.paper}. {recipe.note}")
        needs = f"data sets {', '.join(recipe.data)}; encoders {', '.join(recipe.encoders)}"
        variants = ", ".join(dict.fromkeys(variant.family for variant in recipe.variants))
        _show.result(f"  {needs}; variants {variants}")
        about = (
            ""
            if recipe.minutes is None
            else f", about {_show.many(recipe.minutes, 'minute')} on one H200 (--jobs 11)"
        )
        _show.result(
            f"  {_show.many(recipe.runs, 'run')} with {_show.many(recipe.seeds, 'seed')}"
            f" each{about}\n"
        )

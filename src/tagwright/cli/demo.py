"""`tagwright demo`."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="A folder for everything the demo makes.")] = Path(
        "demo"
    ),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what an earlier demo left there.")
    ] = False,
) -> None:
    """Walk the whole road on made-up shop pages: check, compare two objectives, fit, score, tag.
    About a minute.

    Example:

        tagwright demo --out demo
    """
    from tagwright.cli import _show
    from tagwright.cli.check import check
    from tagwright.cli.compare import compare
    from tagwright.cli.fit import fit
    from tagwright.cli.score import score
    from tagwright.cli.tag import tag
    from tagwright.errors import SettingsError
    from tagwright.pipelines.demo import tagged_titles, write_pages
    from tagwright.storage.folder import require_ours

    require_ours(out, ("check.html",), "folder of the demo")
    if out.exists() and not overwrite:
        raise SettingsError(f"{out} exists; choose another --out, or replace it with --overwrite")
    out.mkdir(parents=True, exist_ok=True)
    pages = write_pages(out)
    model = out / "model"

    def step(title: str, command: str) -> None:
        _show.console.rule(title, style="bold")
        _show.say(f"$ tagwright {command}\n", style="cyan")

    step("1. Look at the data", f"check shop --report {out}/check.html")
    check("shop", report=out / "check.html", overwrite=overwrite)
    step(
        "2. Which objective?",
        f"compare shop --encoder bow --objectives bce,zlpr --seeds 3 --out {out}/comparison",
    )
    compare(
        "shop",
        objectives="bce,zlpr",
        out=out / "comparison",
        seeds=3,
        encoder="bow",
        overwrite=overwrite,
    )
    step("3. Train a tagger", f"fit shop --encoder cnn --objective zlpr --out {model}")
    fit("shop", out=model, encoder="cnn", objective="zlpr", overwrite=overwrite)
    step("4. Measure it on test", f"score {model} shop")
    score(model, "shop")
    step("5. Tag new pages", f"tag {model} {pages} --out {out}/tagged.csv")
    tag(model, pages, out=out / "tagged.csv", overwrite=overwrite)
    for title, tags in tagged_titles(out / "tagged.csv"):
        _show.say(f"  {title}  →  {tags or '(none)'}")
    _show.console.rule("What you have now", style="bold")
    for path, what in (
        ("model", "the model folder"),
        ("model.run/report.html", "its report"),
        ("comparison/report.html", "the comparison"),
        ("check.html", "the data"),
        ("tagged.csv", "the tagged pages"),
    ):
        _show.say(f"{out / path}  {what}")

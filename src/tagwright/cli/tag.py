"""`tagwright tag`."""

from pathlib import Path
from typing import Annotated

import typer

from tagwright.cli import _options as o


def tag(
    model: o.ModelFolder,
    data: Annotated[Path, typer.Argument(help="A CSV, TSV, JSONL or Parquet file of any size.")],
    out: Annotated[Path, typer.Option(help="Where to write: .csv, .tsv, .jsonl or .parquet.")],
    text: o.Text = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="Name of the new column; its scores go to NAME_scores.",
            show_default="tags; of tokens keywords",
        ),
    ] = None,
    separator: Annotated[str, typer.Option(help="Between tags in a CSV cell.")] = ";",
    inert: Annotated[
        bool,
        typer.Option(
            "--inert",
            help=(
                "Put a ' before CSV cells and column names that start with = + - @ (a spreadsheet"
                " runs them). "
                "Default: as they are."
            ),
        ),
    ] = False,
    head: o.NamedHead = None,
    device: o.Device = None,
    allow_plugins: o.Plugins = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was killed.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the output file.")
    ] = False,
    json: o.Json = False,
) -> None:
    """Tag a file: all its rows and columns come back, with tags and their scores, in constant
    memory.

    Rows without text stay in place, without tags. A model that tags tokens gives keywords, each
    with its type, its score and the characters it stands at: as structures in JSONL and Parquet, as
    columns beside each other in CSV. A model with several heads adds columns for each head, such as
    tags_topic and tags_urgency.

    What is tagged so far is in the hidden folder .OUT.shards until the file is complete. A run that
    was stopped goes on with --resume; if you no longer want it, delete that folder.

    Example:

        tagwright tag model mails.csv --out tagged.csv
    """
    from tagwright.cli import _show
    from tagwright.pipelines.tag import tag_file

    with _show.resumable("what is tagged so far is kept"), _show.counting("tagged") as progress:
        done = tag_file(
            model,
            data,
            out,
            head=head,
            device=device or "auto",
            plugins=allow_plugins,
            text=text,
            column=column,
            separator=separator,
            inert=inert,
            resume=resume,
            overwrite=overwrite,
            progress=progress,
        )
    if json:
        _show.emit({"out": str(out), **done._asdict()})
    _show.say(
        f"{_show.many(done.rows, 'row')} to {out}; {done.without} without a tag, {done.empty} of"
        " them without text"
    )
    if done.rows and done.without == done.rows:
        _show.say(
            "No row got a tag: is it the right text column (--text), or a stricter decision than"
            " meant?",
            style="yellow",
        )

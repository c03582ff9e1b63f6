"""Options that several commands take, and how they become settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from tagwright.errors import SettingsError

Data = Annotated[
    str,
    typer.Argument(
        help=(
            "A CSV, TSV, JSONL, Parquet, fastText (.txt) or CoNLL file, a folder of train/dev/test"
            " files, or `shop`. Tokens and tags train a tagger of tokens."
        )
    ),
]
ModelFolder = Annotated[Path, typer.Argument(help="A model folder, as `fit` writes it.")]
Text = Annotated[
    str | None,
    typer.Option(help="Text column; several with commas. Found if left out.", show_default=False),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Label column, or several 0/1 columns with commas. Found if left out.",
        show_default=False,
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        help="one (label a text), many, tokens (a tag each), or both. Found if left out.",
        show_default=False,
    ),
]
Separator = Annotated[
    str, typer.Option(help="What separates labels in a cell: auto, none, or the character.")
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict", help="Refuse tags that follow no scheme; else mended.", show_default=False
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object to stdout, all else to stderr.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="bow, cnn, lstm, minilm, …: `tagwright parts encoders`.",
        show_default="cnn; of tokens bat",
    ),
]
Epochs = Annotated[
    float | None, typer.Option(help="Passes over train.", show_default="the encoder's")
]
Batch = Annotated[int | None, typer.Option(help="Texts a step.", show_default="the encoder's")]
Rate = Annotated[
    float | None, typer.Option(help="Peak learning rate.", show_default="the encoder's")
]
SplitSeed = Annotated[
    int | None, typer.Option(help="Seed of the split; --seed never moves it.", show_default="0")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="LABEL=N: only N train texts with this label, drawn; repeatable. Not with --refit.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, help="Runs at once.", show_default="one a GPU, else one for every two processors"
    ),
]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.", show_default="auto")]
Plugins = Annotated[
    bool,
    typer.Option(
        "--allow-plugins", help="Load a model whose parts come from another package: runs its code."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Any setting as section.key=value; repeatable.", show_default=False),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", help="A TOML file of settings; options override it.", show_default=False
    ),
]


Regularize = Annotated[
    str | None,
    typer.Option(
        help="rdrop, vat, mlm, with commas: `tagwright parts regularizers`.",
        show_default="the objective's",
    ),
]
Head = Annotated[
    str | None,
    typer.Option(
        help="document, cloze, …: `tagwright parts heads`.",
        show_default="the objective's, else document",
    ),
]


Heads = Annotated[
    str | None,
    typer.Option(
        help="Several label columns, each a head of one model: topic,urgency, or NAME=COLUMN.",
        show_default=False,
    ),
]
NamedHead = Annotated[
    str | None,
    typer.Option("--head", help="Which head, of a model with several.", show_default="all of them"),
]
FirstHead = Annotated[
    str | None,
    typer.Option("--head", help="Which head, of a model with several.", show_default="the first"),
]


def given(
    settings: Path | None, assignments: list[str] | None, options: Mapping[str, object]
) -> dict[str, object]:
    """Nested settings: the command's own level over the file; what it discards of the file is
    said.
    """
    from tagwright.settings.merge import merge

    discarded: list[str] = []
    result = merge(in_file(settings), of_command(assignments, options), discarded=discarded)
    if discarded:
        from tagwright.cli._show import say

        told = ", ".join(discarded)
        say(
            f"not taken from {settings}, because the command chooses another part or the objective:"
            f" {told}"
        )
    return result


def in_file(settings: Path | None) -> dict[str, object]:
    """The level of a settings file; nothing where none is named."""
    from tagwright.settings.merge import read_settings

    return read_settings(settings) if settings else {}


def of_command(assignments: list[str] | None, options: Mapping[str, object]) -> dict[str, object]:
    """The level of a command: the options that were given ("fit.epochs": 3), and --set over
    them.
    """
    from tagwright.settings.merge import assigned, dotted, side_by_side

    return side_by_side(dotted(options), assigned(assignments or ()))


def heads_of(names: str | None) -> dict[str, dict[str, str]] | None:
    """Heads as they are named with commas, each as its section of the settings; None where none
    are.

    >>> heads_of("topic, urgency=How urgent")
    {'topic': {'labels': 'topic'}, 'urgency': {'labels': 'How urgent'}}
    """
    if names is None:
        return None
    pairs = [name.partition("=") for name in listed(names)]
    found = {name.strip(): {"labels": (column or name).strip()} for name, _, column in pairs}
    if not found or len(found) < len(pairs):
        raise SettingsError(
            f"--heads names heads with different names and commas between them, got {names!r}"
        )
    return found


def listed(names: str | None) -> list[str]:
    """Names that were given with commas."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def regularizers(names: str | None) -> dict[str, dict[str, object]]:
    """Each that is named, with commas, as a section of the settings."""
    from tagwright import registry
    from tagwright.errors import SettingsError, unknown

    wanted = listed(names)
    for name in wanted:
        if name not in registry.names(registry.REGULARIZERS):
            raise SettingsError(unknown("regularizer", name, registry.names(registry.REGULARIZERS)))
    return {name: {} for name in wanted}

"""The commands: one file, one command; each parses, calls one function, and shows what came
back.
"""

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from io import TextIOWrapper
from typing import ParamSpec

import typer

from tagwright.errors import TagwrightError

COMMANDS = (
    "check",
    "fit",
    "compare",
    "score",
    "tag",
    "explain",
    "decide",
    "groups",
    "keywords",
    "reproduce",
    "parts",
    "report",
    "demo",
)


P = ParamSpec("P")


def _reported(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose mistakes are one message on stderr and exit code 2.

    Told here, inside the command: Typer takes any broken pipe, such as one to a process that died,
    for the end of stdout, and ends without a word.
    """

    @wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> None:
        try:
            command(*arguments, **options)
        except (TagwrightError, OSError) as error:
            from tagwright.cli._show import fail

            fail(error)

    return run


app = typer.Typer(
    name="tagwright",
    help=(
        "Train text taggers on the objective that fits their labels, and learn honestly whether it"
        " helped."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name in COMMANDS:
    app.command(_name)(_reported(getattr(import_module(f"tagwright.cli.{_name}"), _name)))


@app.callback(invoke_without_command=True)
def _top(
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
) -> None:
    if version:
        from tagwright import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run; a user's mistake ends with exit code 2, an interruption with 130, output that nobody
    reads with 141.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # as Python has it on stderr: not every terminal knows ü
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except SystemExit as end:
        if end.code == 1 and isinstance(
            end.__context__, BrokenPipeError
        ):  # of --help and --version, which are Typer's
            from tagwright.cli._console import NOBODY_READS

            sys.exit(NOBODY_READS)
        raise

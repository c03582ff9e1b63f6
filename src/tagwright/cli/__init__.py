"""The commands: one file, one command; each parses, calls one function, and shows what came back."""

import sys
from importlib import import_module

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

app = typer.Typer(
    name="tagwright",
    help="Train text taggers on the objective that fits their labels, and learn honestly whether it helped.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name in COMMANDS:
    app.command(_name)(getattr(import_module(f"tagwright.cli.{_name}"), _name))


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from tagwright import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run; a user's mistake is one message on stderr and exit code 2, an interruption 130."""
    try:
        app()
    except TagwrightError as error:
        from tagwright.cli._show import fail

        fail(error)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `tagwright … | head`
        sys.exit(0)
    except OSError as error:
        from tagwright.cli._show import fail

        fail(error)

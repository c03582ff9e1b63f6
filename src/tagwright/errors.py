"""One family of errors. A message says what was expected, what came, and what to do."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # line breaks among them


class TagwrightError(Exception):
    """A mistake in what the user gave: the commands show it as one message and exit with 2."""


class DataError(TagwrightError):
    """A file or table cannot be read as labelled text."""


class SettingsError(TagwrightError, ValueError):
    """A setting is unknown, of the wrong type, or does not go with the others."""


class ShapeError(TagwrightError, ValueError):
    """A tensor has the wrong shape or dtype."""


class ModelError(TagwrightError):
    """A model folder or checkpoint is missing, altered, or belongs to other data.

    The message is one line: it may name files and tensors of somebody else.

    >>> str(ModelError("a\\nb is missing"))
    'a\\\\nb is missing'
    """

    def __init__(self, message: str) -> None:
        super().__init__(_CONTROL.sub(lambda found: repr(found[0])[1:-1], message))


class WriteError(TagwrightError, OSError):
    """A file cannot be written, because the disk takes no more."""


class InUseError(TagwrightError):
    """Another process works in the same folder."""


def unknown(kind: str, name: str, choices: Iterable[str]) -> str:
    """A message that names the nearest choice and lists them all.

    >>> unknown("loss", "bcee", ["bce", "zlpr"])
    "unknown loss 'bcee'; did you mean 'bce'? Choices: bce, zlpr"
    """
    choices = sorted(choices)
    near = nearest(name, choices)
    hint = f"; did you mean {near!r}?" if near else "."
    return f"unknown {kind} {name!r}{hint} Choices: {', '.join(choices) or 'none'}"


def nearest(name: str, choices: Sequence[str]) -> str | None:
    """The choice that is spelt most like the name; None where all are far."""
    return next(iter(get_close_matches(name, choices, n=1, cutoff=0.6)), None)


def some(names: Sequence[str], *, most: int = 5) -> str:
    """The first names, and how many more there are.

    >>> some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

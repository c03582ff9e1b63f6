"""`split.keep` as it is given: LABEL=N on the command line, a table in settings, and what may be
wrong with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tagwright.errors import SettingsError


def kept_faults(wanted: Mapping[str, Any]) -> list[str]:
    """What is wrong with numbers of texts to keep: each must be whole and at least 1."""
    faults = []
    for label, number in wanted.items():
        if not isinstance(number, int) or isinstance(number, bool):
            faults.append(
                f"split.keep of {label!r} must be a whole number of texts, got {number!r}"
            )
        elif number < 1:
            faults.append(
                f"split.keep of {label!r} must be at least 1, got {number}: without a text there is"
                " no such label"
            )
    return faults


def kept_of(assignments: Sequence[str] | None) -> dict[str, int] | None:
    """LABEL=N of the command line, split at the last "="; None where nothing was given.

    >>> kept_of(["a=b=12", "Sports=3"])
    {'a=b': 12, 'Sports': 3}
    """
    found: dict[str, int] = {}
    for assignment in assignments or []:
        label, equals, number = assignment.rpartition("=")
        if not equals or not label or not _is_whole(number):
            raise SettingsError(
                f"--keep takes LABEL=N, N a whole number of texts, got {assignment!r}; e.g."
                " Sports=12"
            )
        if label in found:
            raise SettingsError(
                f"--keep has {label!r} twice ({found[label]} and {number.strip()}); give it once"
            )
        found[label] = int(number)
    return found or None


def _is_whole(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()

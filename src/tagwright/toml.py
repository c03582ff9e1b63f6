"""Writes nested plain values as TOML (the standard library only reads it)."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def dumps(values: Mapping[str, Any]) -> str:
    """Scalars and lists first, then a table a section, and after it the tables in it.

    >>> print(dumps({"a": 1, "b": {"c": "x", "d": [1, 2]}}))
    a = 1
    <BLANKLINE>
    [b]
    c = "x"
    d = [1, 2]
    <BLANKLINE>
    """
    lines = [f"{key} = {scalar(value)}" for key, value in values.items() if not isinstance(value, Mapping)]
    for section, table in values.items():
        if isinstance(table, Mapping):
            inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
            lines += ["", f"[{section}]", *(f"{k} = {scalar(value)}" for k, value in table.items() if k not in inner)]
            for name, entries in inner.items():  # its keys may be anything, such as labels
                lines += ["", f"[{section}.{name}]", *(f"{scalar(k)} = {scalar(v)}" for k, v in entries.items())]
    return "\n".join(lines) + "\n"


def scalar(value: Any) -> str:
    """One value as TOML; of a string also a key, and safe in a comment, for it has no line breaks."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(scalar(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # a JSON string is a TOML basic string, but for DEL, which json leaves bare
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)

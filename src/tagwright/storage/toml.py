"""Writes nested plain values as TOML, and reads TOML that anybody may have written."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping

import numpy as np

# of a text that is read: the standard library takes time and memory that grow with the number of
# tables, and with the square of the parts of a key
SIZE, TABLES, PARTS = 2**19, 1024, 16
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)"""
_DOT = r"[ \t]*+\.[ \t]*+"
# a comment, a string of several lines, a key or a value: in this order no dot of a string counts;
# no possessive group looks ahead, for Python before 3.11.5 then gives up a match that there is
_TOKEN = re.compile(
    r"#[^\n]*+"
    r'|"{3}[^"\\]*(?:(?:\\[\s\S]|"{1,2}(?!"))[^"\\]*)*"{3}'
    r"|'{3}[^']*(?:'{1,2}(?!')[^']*)*'{3}"
    rf"|(?P<long>{_PART}(?:{_DOT}{_PART}){{{PARTS},}}+)"
    rf"|{_PART}(?:{_DOT}{_PART})*+"
)


def loads(text: str) -> dict[str, object]:
    """The values in a TOML text; one that would take long to read is a ValueError.

    >>> loads("a.b = 1")
    {'a': {'b': 1}}
    """
    if len(text) > SIZE:
        raise ValueError(f"it has {len(text):,} characters; at most {SIZE:,} are read")
    tables = text.count("[")
    if tables > TABLES:
        tables = len(re.findall(r"^[ \t]*+\[", text, re.MULTILINE))
    if tables > TABLES:
        raise ValueError(f"it has {tables:,} tables; at most {TABLES:,} are read")
    dotted = any(line.count(".") >= PARTS for line in text.split("\n"))
    if dotted and any(found["long"] for found in _TOKEN.finditer(text)):
        raise ValueError(f"it has a key of more than {PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def dumps(values: Mapping[str, object]) -> str:
    """Scalars and lists first, then a table per section, and after each the tables in it.

    >>> print(dumps({"a": 1, "b": {"c": "x", "d": [1, 2]}}))
    a = 1
    <BLANKLINE>
    [b]
    c = "x"
    d = [1, 2]
    <BLANKLINE>
    """
    return "\n".join(_lines(values, ())) + "\n"


def without_none(values: Mapping[str, object]) -> dict[str, object]:
    """Nested values without those that are None, which TOML cannot write.

    >>> without_none({"a": None, "b": {"c": None, "d": 1}})
    {'b': {'d': 1}}
    """
    kept = {key: value for key, value in values.items() if value is not None}
    return {
        key: without_none(value) if isinstance(value, Mapping) else value
        for key, value in kept.items()
    }


def _lines(values: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table, its header first; a table that holds nothing but tables needs none."""
    own = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    if path and (own or not values):
        yield ""
        yield f"[{'.'.join(map(key, path))}]"
    for name, value in own.items():
        yield f"{key(name)} = {scalar(value)}"
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _lines(value, (*path, name))


def key(name: str) -> str:
    """A key, in quotes where it has more than letters, digits, - and _, as a label may."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else scalar(name)


def scalar(value: object) -> str:
    """One value as TOML; of a string also a key, and safe in a comment, for it has no line
    breaks.
    """
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

"""Plain values for JSON, which knows no infinity and no NumPy."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, overload

import numpy as np

T = TypeVar("T")


@overload
def plain(value: Mapping[str, object]) -> dict[str, object]: ...
@overload
def plain(value: object) -> object: ...
def plain(value: object) -> object:
    """Nested values: lists for tuples and arrays, Python numbers for NumPy's, None for numbers that
    are not finite.

    >>> plain({"a": (1, float("nan")), "b": np.float32(0.5)})
    {'a': [1, None], 'b': 0.5}
    """
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


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


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write plain values as a JSON file for people to read."""
    path.write_text(
        json.dumps(plain(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def value_of(content: Mapping[str, object], name: str, kind: type[T]) -> T:
    """The value of this name as JSON or TOML gave it, which must be of this very type. A float must
    be finite.

    >>> value_of({"limit": 3}, "limit", float)
    3.0
    """
    value = content[name]
    if kind is float and type(value) is int:
        value = float(value)
    right = type(value) is kind and not (isinstance(value, float) and not math.isfinite(value))
    if not right or not isinstance(value, kind):
        raise ValueError(f"{name} must be of type {kind.__name__}, got {value!r}")
    return value

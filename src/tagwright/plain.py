"""Plain values for JSON, which knows no infinity and no NumPy."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Nested values: lists for tuples and arrays, Python numbers for NumPy's, None for numbers that are not finite.

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


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values without those that are None, which TOML cannot write.

    >>> without_none({"a": None, "b": {"c": None, "d": 1}})
    {'b': {'d': 1}}
    """
    kept = {key: value for key, value in values.items() if value is not None}
    return {key: without_none(value) if isinstance(value, Mapping) else value for key, value in kept.items()}

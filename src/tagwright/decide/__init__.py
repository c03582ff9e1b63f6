"""Decisions: scores in, labels out; saved with the model, thresholds by label name."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tagwright.parts import Kind

KIND = Kind(
    title="decision",
    facts={"label_names": "the names of the labels", "thresholds": "what was fitted, (L,) or () for all labels"},
)


class Decision(Protocol):
    """What each file of this folder names in `PART`; its settings are attributes of the same name."""

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""


def as_dict(decision: Decision, names: Sequence[str]) -> dict[str, Any]:
    """The settings of a decision, ready for JSON; an array (L,) becomes values by label name, one of () a number.

    Attributes that begin with `_` are what a decision made of its facts, no settings.
    """
    return {
        key: value
        if not isinstance(value, np.ndarray)
        else dict(zip(names, (float(v) for v in value)))
        if value.ndim
        else float(value)
        for key, value in vars(decision).items()
        if not key.startswith("_")
    }


def from_dict(content: Mapping[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Settings that `as_dict` wrote, and the arrays among them: (L,), joined by name, or () for all labels."""
    arrays = {k: np.array([v[name] for name in names]) for k, v in content.items() if isinstance(v, Mapping)}
    if isinstance(content.get("thresholds"), float):
        arrays["thresholds"] = np.array(content["thresholds"])
    return {k: v for k, v in content.items() if k not in arrays}, arrays

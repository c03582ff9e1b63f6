"""Parameters of the estimators: which settings they make, and which texts they take."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tagwright.errors import DataError, SettingsError
from tagwright.settings.merge import dotted, merge, side_by_side
from tagwright.settings.sections import HEADS

PARAMETERS = {
    "fit": ("epochs", "batch", "learning_rate", "seed", "device"),
    "split": ("dev_share",),
}


def given_settings(estimator: Any) -> dict[str, Any]:
    """The estimator's `settings`, and over them its parameters that are not None.

    An objective stands beside settings that name none, and over those that name another.
    """
    options = {
        f"{section}.{key}": getattr(estimator, key)
        for section, keys in PARAMETERS.items()
        for key in keys
    }
    options |= {f"{part}.name": vars(estimator).get(part) for part in ("encoder", "decide")}
    settings = estimator.settings or {}
    if not isinstance(settings, Mapping):
        raise SettingsError(
            f"settings must be nested values such as {{'fit': {{'epochs': 3}}}}, got {settings!r}"
        )
    objective = dotted({"objective": estimator.objective})
    below = side_by_side(objective, settings)
    over = {} if below.get("objective") == estimator.objective else objective
    if HEADS in below:
        raise SettingsError(
            f"[{HEADS}] trains several heads, and this estimator has one; use `tagwright fit`"
        )
    return merge(below, dotted(options) | over)


def given_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of an estimator that trains by these settings: encoder and objective, and
    `settings` for all of it.

    >>> given_parameters({"encoder": {"name": "bow"}, "objective": "bce"})["encoder"]
    'bow'
    """
    encoder = given.get("encoder", {}).get("name")
    return {"encoder": encoder, "objective": given.get("objective"), "settings": dict(given)}


def text_list(texts: Any) -> list[str]:
    """Texts as a list; what is no text is an error that names its place."""
    if isinstance(texts, str):
        raise DataError("texts must be a list of strings, got one string; put it in a list")
    rows = [*texts]
    wrong = next((place for place, row in enumerate(rows) if not isinstance(row, str)), None)
    if wrong is None:
        return rows
    row = rows[wrong]
    if row is None or (isinstance(row, float) and np.isnan(row)):
        raise DataError(
            f"text {wrong} (counted from 0) is missing: None or NaN; leave it out, or give an empty"
            " string"
        )
    kind = type(row).__name__
    raise DataError(
        f"texts must be strings, got {kind} at place {wrong} (counted from 0); are texts and labels"
        " swapped?"
    )

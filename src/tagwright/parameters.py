"""Parameters of the estimators: which settings they make, and which texts they take."""

from typing import Any

import numpy as np

from tagwright.errors import DataError

PARAMETERS = {"fit": ("epochs", "batch", "learning_rate", "seed", "device"), "split": ("dev_share",)}


def given_settings(estimator: Any) -> dict[str, Any]:
    """The estimator's `settings`, its parameters that are not None over them."""
    given = dict(estimator.settings or {})
    for section, keys in PARAMETERS.items():
        chosen = {key: getattr(estimator, key) for key in keys if getattr(estimator, key) is not None}
        given[section] = {**given.get(section, {}), **chosen}
    for part in ("encoder", "decide"):
        if getattr(estimator, part, None) is not None:
            given[part] = _named(given.get(part, {}), getattr(estimator, part))
    if estimator.objective is not None:
        given["objective"] = estimator.objective
    return given


def _named(table: Any, name: str) -> dict[str, Any]:
    """A part of this name, with the settings of the table unless they belong to another part."""
    table = {"name": table} if isinstance(table, str) else table
    return {**(table if table.get("name", name) == name else {}), "name": name}


def text_list(texts: Any) -> list[str]:
    """Texts as a list; what is no text is an error that names its place."""
    if isinstance(texts, str):
        raise DataError("texts must be a list of strings, got one string; put it in a list")
    rows = texts.tolist() if hasattr(texts, "tolist") else list(texts)
    wrong = next((place for place, row in enumerate(rows) if not isinstance(row, str)), None)
    if wrong is None:
        return rows
    row = rows[wrong]
    if row is None or (isinstance(row, float) and np.isnan(row)):
        raise DataError(f"text {wrong} (counted from 0) is missing: None or NaN; leave it out, or give an empty string")
    kind = type(row).__name__
    raise DataError(
        f"texts must be strings, got {kind} at place {wrong} (counted from 0); are texts and labels swapped?"
    )

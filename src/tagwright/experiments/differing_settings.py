"""Which settings beside the objective's own choices are not the same for all that are compared."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tagwright.settings.merge import side_by_side
from tagwright.settings.presets import PLAIN, row_of
from tagwright.settings.schema import Settings
from tagwright.settings.sections import HEADS


def differing(chosen: Mapping[str, Settings | None]) -> dict[str, dict[str, Any]]:
    """Settings beside the objective's own choices that are not the same for all: setting ->
    objective -> value.

    A section that only some have (a regularizer) is "on" for these and "none" for the others; its
    settings are compared among those that have it.
    """
    plain_of = {
        objective: settings.as_dict()
        for objective, settings in chosen.items()
        if settings is not None
    }
    for values in plain_of.values():
        values |= {f"{HEADS}.{head}": own for head, own in _by_head(values.pop(HEADS, {}))}
    sections = dict.fromkeys(section for values in plain_of.values() for section in values)
    result = _replaced(
        {name: settings for name, settings in chosen.items() if settings is not None}
    )
    for section in (name for name in sections if name not in ("objective", *PLAIN, "loss")):
        own = {objective: values.get(section, "none") for objective, values in plain_of.items()}
        tables = {objective: values for objective, values in own.items() if values != "none"}
        if 0 < len(tables) < len(own):
            result[section] = {
                objective: "on" if objective in tables else "none" for objective in own
            }
        result |= {f"{section}.{key}": found for key, found in _differing_keys(tables).items()}
    return result


def _by_head(heads: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each head has of its own, a part's settings with the part's name before them; nothing of
    its objective.
    """
    for head, own in heads.items():
        parts_of = {name: values for name, values in own.items() if isinstance(values, Mapping)}
        plain = {key: value for key, value in own.items() if key not in ("objective", *parts_of)}
        kept = {name: values for name, values in parts_of.items() if name not in ("loss", *PLAIN)}
        dotted = {
            f"{name}.{key}": value for name, values in kept.items() for key, value in values.items()
        }
        yield head, plain | dotted


def _replaced(chosen: Mapping[str, Settings]) -> dict[str, dict[str, Any]]:
    """Parts of an objective that are not its own, because the command chose others: section ->
    objective -> part.
    """
    result: dict[str, dict[str, Any]] = {}
    for section in ("loss", *PLAIN):
        parts_of = {name: getattr(settings, section).name for name, settings in chosen.items()}
        own = {
            name: side_by_side(row_of(settings.objective))[section]["name"]
            for name, settings in chosen.items()
        }
        if parts_of != own:
            result[f"{section}.name"] = parts_of
    return result


def _differing_keys(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Setting -> objective -> value, of one section's settings that are not the same for all."""
    alike = len({values.get("name") for values in tables.values()}) == 1
    # parts of different names have settings of their own, which nobody could compare
    keys = {key: None for values in tables.values() for key in values} if alike else ("name",)
    every = {key: {name: values.get(key) for name, values in tables.items()} for key in keys}
    return {
        key: found
        for key, found in every.items()
        if any(a != b for a, b in pairwise(found.values()))
    }

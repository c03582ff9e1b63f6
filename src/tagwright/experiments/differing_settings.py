"""Which settings beside the objective's own choices are not the same for all that are compared."""

from collections.abc import Mapping
from itertools import pairwise

from tagwright.settings.merge import side_by_side
from tagwright.settings.presets import PLAIN, row_of
from tagwright.settings.schema import Settings
from tagwright.settings.sections import HEADS


def differing(chosen: Mapping[str, Settings | None]) -> dict[str, dict[str, object]]:
    """Settings beside the objective's own choices that are not the same for all: setting ->
    objective -> value.

    A section that only some have (a regularizer) is "on" for these and "none" for the others; its
    settings are compared among those that have it.
    """
    known = {name: settings for name, settings in chosen.items() if settings is not None}
    plain_of: dict[str, dict[str, object]] = {}
    for objective, settings in known.items():
        heads = {f"{HEADS}.{name}": _of_head(one.as_dict()) for name, one in settings.heads.items()}
        whole = {name: values for name, values in settings.as_dict().items() if name != HEADS}
        plain_of[objective] = whole | heads
    sections = dict.fromkeys(section for values in plain_of.values() for section in values)
    result = _replaced(known)
    for section in (name for name in sections if name not in ("objective", *PLAIN, "loss")):
        tables = {
            objective: own
            for objective, values in plain_of.items()
            if isinstance(own := values.get(section), Mapping)
        }
        if 0 < len(tables) < len(plain_of):
            result[section] = {
                objective: "on" if objective in tables else "none" for objective in plain_of
            }
        result |= {f"{section}.{key}": found for key, found in _differing_keys(tables).items()}
    return result


def _of_head(own: Mapping[str, object]) -> dict[str, object]:
    """What a head has of its own, a part's settings with the part's name before them; nothing of
    its objective.
    """
    parts_of = {name: values for name, values in own.items() if isinstance(values, Mapping)}
    plain = {key: value for key, value in own.items() if key not in ("objective", *parts_of)}
    kept = {name: values for name, values in parts_of.items() if name not in ("loss", *PLAIN)}
    return plain | {
        f"{name}.{key}": value for name, values in kept.items() for key, value in values.items()
    }


def _replaced(chosen: Mapping[str, Settings]) -> dict[str, dict[str, object]]:
    """Parts of an objective that are not its own, because the command chose others: section ->
    objective -> part.
    """
    result: dict[str, dict[str, object]] = {}
    for section in ("loss", *PLAIN):
        parts_of = {name: getattr(settings, section).name for name, settings in chosen.items()}
        own = {
            name: table["name"]
            for name, settings in chosen.items()
            if isinstance(table := side_by_side(row_of(settings.objective))[section], Mapping)
        }
        if parts_of != own:
            result[f"{section}.name"] = parts_of
    return result


def _differing_keys(tables: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
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

"""The file of a recipe: the tables that it has, and what is wrong with one."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict, get_origin, get_type_hints

from tagwright.errors import unknown


class VariantTable(TypedDict):
    """`[[variants]]` in a file: one variant, or with a grid one for every point of it."""

    name: str
    objective: str
    data: NotRequired[list[str]]
    encoders: NotRequired[list[str]]
    settings: NotRequired[dict[str, object]]
    grid: NotRequired[dict[str, list[object]]]


class CutTable(TypedDict):
    """`[[cuts]]` in a file."""

    name: str
    data: NotRequired[list[str]]
    keep: NotRequired[dict[str, int]]
    each: NotRequired[int]
    together: NotRequired[int]
    labels: NotRequired[list[str]]


class RecipeTable(TypedDict):
    """A recipe as its file has it."""

    title: str
    paper: str
    note: str
    metric: str
    seeds: int
    data: list[str]
    encoders: list[str]
    baseline: str
    variants: list[VariantTable]
    minutes: NotRequired[int]
    also: NotRequired[list[str]]
    amounts: NotRequired[bool]
    rivals: NotRequired[bool]
    settings: NotRequired[dict[str, object]]
    settings_of: NotRequired[dict[str, dict[str, object]]]
    cuts: NotRequired[list[CutTable]]


def faults(given: Mapping[str, object]) -> list[str]:
    """What is wrong with the keys of a recipe and their kinds."""
    found = _wrong("the recipe", given, RecipeTable)
    lists = {
        kind: entries
        for kind in ("variants", "cuts")
        if isinstance(entries := given.get(kind), list)
    }
    for kind, table in (("variants", VariantTable), ("cuts", CutTable)):
        for number, entry in enumerate(lists.get(kind, []), start=1):
            found += _wrong(f"[[{kind}]] {number}", entry, table)
    for number, entry in enumerate(lists.get("cuts", []), start=1):
        ways = [way for way in ("keep", "each", "together") if way in entry]
        if len(ways) > 1 or ("labels" in entry) != (ways in (["each"], ["together"])):
            found.append(
                f"[[cuts]] {number} takes keep, or labels with each or together; got"
                f" {', '.join(entry)}"
            )
    return found


def _wrong(
    what: str, given: object, table: type[RecipeTable | VariantTable | CutTable]
) -> list[str]:
    if not isinstance(given, Mapping):
        return [f"{what} must be a table, got {given!r}"]
    required = [
        key
        for key, kind in get_type_hints(table, include_extras=True).items()
        if get_origin(kind) is not NotRequired
    ]
    known = {key: get_origin(kind) or kind for key, kind in get_type_hints(table).items()}
    found = [f"{what} has no {key}" for key in required if key not in given]
    for key, value in given.items():
        if key not in known:
            found.append(unknown(f"key of {what}", key, known))
        elif not isinstance(value, known[key]) or isinstance(value, bool) != (known[key] is bool):
            found.append(f"{key} of {what} must be of type {known[key].__name__}, got {value!r}")
        elif isinstance(value, int) and known[key] is int and value < 1:
            found.append(f"{key} of {what} must be at least 1, got {value}")
    return found

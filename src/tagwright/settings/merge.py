"""The one rule of who wins, where settings come from several places.

Settings are given at levels, from the lowest to the highest: a file, then the options of a command
(with --set). A recipe has the levels that its tables name. In Python all that one estimator is
given is one level, unless its `settings` name another part than a parameter does: then they are the
level below.

- Inside a level all choices stand side by side (`side_by_side`).
- Between levels (`merge`) a section's keys are merged, and the higher level wins.
- A level that names a part (an encoder, a head, a loss, …) discards the options that lower levels
  gave to a part of another name. Options without a name stay: they belong to whichever part is
  chosen.
- A level that names an objective discards what lower levels said in the sections that it governs,
  and that an objective below it governed. This holds for the same objective, too: a name means the
  same over every file.
- The settings of a named head (`heads.NAME`) merge by the same rules among themselves. An objective
  outside of them discards nothing in them: what is said of one head stands before what is said of
  all.
"""

import tomllib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from tagwright.errors import SettingsError
from tagwright.settings.presets import governed
from tagwright.settings.renamed import with_renamed
from tagwright.settings.sections import HEADS, PART_SECTIONS
from tagwright.storage import toml

Level = Mapping[str, Any]
# what the section `tags` of older files has by default
TAGS_UNTOLD = {
    "objective": "cross_entropy",
    "weight": 1.0,
}


def merge(*levels: Level, discarded: list[str] | None = None) -> dict[str, Any]:
    """The levels, lowest first, as one; the names of settings that a higher level discards go into
    `discarded`.

    >>> merge({"encoder": {"name": "lstm", "hidden": 8}}, {"encoder": "cnn"})
    {'encoder': {'name': 'cnn'}}
    >>> file = {"loss": {"gamma": 3.0}, "fit": {"epochs": 3}}
    >>> merge(file, {"objective": "zlpr", "fit": {"batch": 8}})
    {'fit': {'epochs': 3, 'batch': 8}, 'objective': 'zlpr'}
    """
    result: dict[str, Any] = {}
    lost = [] if discarded is None else discarded
    for level in levels:
        level = side_by_side(level)
        if "objective" in level:
            result = _under_objective(result, level["objective"], lost)
        for section, values in level.items():
            below = result.get(section)
            if section == HEADS and isinstance(values, Mapping):
                result[section] = _merged_heads(below, values, lost)
                continue
            if section in PART_SECTIONS and _other_name(below, values):
                lost += [f"{section}.{key}" for key in below or () if key != "name"]
                below = None
            result[section] = _updated(below, values)
    return result


def _merged_heads(below: Any, above: Mapping[str, Any], lost: list[str]) -> dict[str, Any]:
    """Each head's settings merged with those below them."""
    result = dict(below) if isinstance(below, Mapping) else {}
    for name, values in above.items():
        levels = [one for one in (result.get(name, {}), values) if isinstance(one, Mapping)]
        own: list[str] = []
        result[name] = merge(*levels, discarded=own) if isinstance(values, Mapping) else values
        lost += [f"{HEADS}.{name}.{key}" for key in own]
    return result


def side_by_side(*pieces: Level) -> dict[str, Any]:
    """Pieces of one level as one: later values win, and nothing else is discarded. A part's name
    becomes its table.

    >>> side_by_side({"encoder": "cnn"}, {"encoder": {"filters": 8}})
    {'encoder': {'name': 'cnn', 'filters': 8}}
    """
    result: dict[str, Any] = {}
    for piece in pieces:
        for section, values in piece.items():
            if section in PART_SECTIONS and isinstance(values, str):
                values = {"name": values}
            if section == HEADS and isinstance(values, Mapping):
                values = {name: _named_parts(one) for name, one in values.items()}
            result[section] = _updated(result.get(section), values)
    return result


def assigned(assignments: Iterable[str]) -> dict[str, Any]:
    """One level from `section.key=value` strings; a value is TOML, a fraction, or else a string.

    >>> assigned(["schedule.decay=6/11", "encoder=cnn"])
    {'schedule': {'decay': 0.5454545454545454}, 'encoder': {'name': 'cnn'}}
    >>> assigned(["heads.topic.loss=bce", "heads.topic.loss.labels=mean"])
    {'heads': {'topic': {'loss': {'name': 'bce', 'labels': 'mean'}}}}
    """
    return side_by_side(*map(_assignment, assignments))


def dotted(options: Mapping[str, Any]) -> dict[str, Any]:
    """One level from options by their dotted names; those that are None were not given.

    >>> dotted({"fit.epochs": 3, "fit.batch": None, "objective": "zlpr"})
    {'fit': {'epochs': 3}, 'objective': 'zlpr'}
    """
    return side_by_side(
        *(_nested(key, value) for key, value in options.items() if value is not None)
    )


def read_settings(path: Path) -> dict[str, Any]:
    """Nested values of a TOML file; one of an older version says what today's would."""
    try:
        return settings_in(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"no settings file {path}") from None
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from None


def settings_in(text: str) -> dict[str, Any]:
    """The same of the text of such a file."""
    return _of_today(with_renamed(toml.loads(text)))


def _of_today(values: dict[str, Any]) -> dict[str, Any]:
    """In older files `tags` was a section, which counted where texts and their tokens were
    labelled.
    """
    data, heads, tags = (values.get(section, {}) for section in ("data", HEADS, "tags"))
    if "tags" not in values or not all(
        isinstance(section, Mapping) for section in (data, heads, tags)
    ):
        return values  # resolving says what is wrong with them
    values.pop("tags", None)
    told = data.get("task") == "both" if "task" in data else tags not in ({}, TAGS_UNTOLD)
    return {**values, HEADS: {"tags": tags, **heads}} if told else values


def _named_parts(values: Any) -> Any:
    """The settings of a head, a part's name as its table."""
    return side_by_side(values) if isinstance(values, Mapping) else values


def _under_objective(below: Mapping[str, Any], objective: Any, lost: list[str]) -> dict[str, Any]:
    """What lower levels said that still holds where this objective is chosen."""
    gone = governed(below.get("objective")) | governed(objective)
    result = {section: values for section, values in below.items() if section != "objective"}
    for section, keys in gone.items():
        values = result.pop(section, None)
        if isinstance(values, Mapping):
            if keys is not None:  # only these keys of the section
                result[section] = {key: value for key, value in values.items() if key not in keys}
            lost += [f"{section}.{key}" for key in values if keys is None or key in keys]
        elif values is not None:
            lost.append(section)
    return result


def _other_name(below: Any, values: Any) -> bool:
    """Whether both name a part, and not the same."""
    tables = isinstance(below, Mapping) and isinstance(values, Mapping)
    return tables and "name" in below and "name" in values and below["name"] != values["name"]


def _updated(below: Any, values: Any) -> Any:
    """Values over those below them; tables key by key, and tables in them (the labels of
    split.keep) likewise.
    """
    if not isinstance(values, Mapping):
        return values
    start = dict(below) if isinstance(below, Mapping) else {}
    return start | {key: _updated(start.get(key), value) for key, value in values.items()}


def _nested(key: str, value: Any) -> dict[str, Any]:
    section, dot, name = key.partition(".")
    if section == HEADS and dot:  # heads.NAME.section.key
        name, dot, rest = name.partition(".")
        return {HEADS: {name: _nested(rest, value) if dot else value}}
    return {section: {name: value} if dot else value}


def _assignment(text: str) -> dict[str, Any]:
    key, equals, value = text.partition("=")
    section, dot, name = key.strip().partition(".")
    if not equals or not section or (dot and not name):
        raise SettingsError(
            f"--set takes section.key=value, got {text!r}; for example fit.epochs=3"
        )
    return _nested(key.strip(), _value(value.strip()))


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        return text

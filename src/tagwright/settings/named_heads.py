"""Settings of a model with several named heads: what each head has of its own, and what it shares.

`[heads.NAME]` holds a head's own choices: the column of its labels, its task and weight, and any of
the sections that a head owns. What stands outside of `[heads]` in these sections holds for every
head of whole texts that does not choose otherwise; a head that tags tokens takes its own choices
alone.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tagwright.data.dataset import NAME, NAMES
from tagwright.errors import SettingsError, unknown
from tagwright.settings.merge import merge
from tagwright.settings.presets import row_of
from tagwright.settings.sections import HEADS, OF_A_HEAD, read_section

if TYPE_CHECKING:
    from tagwright.settings.schema import Settings

BOTH = {"main": "many", "tags": "tokens"}  # the heads of data.task = "both"


@dataclass(frozen=True, kw_only=True)
class HeadSettings:
    """Where a head's labels come from, and what its loss weighs beside those of the other heads."""

    labels: str | None = None  # the column; the head's own name where none is given
    task: str | None = None
    separator: str | None = None
    weight: float = 1.0

    @property
    def source(self) -> dict[str, str]:
        """Where its labels are read, as far as it says."""
        named = {"labels": self.labels, "task": self.task, "separator": self.separator}
        return {key: value for key, value in named.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class HeadChoice:
    """A named head: its own settings, and those of a run with this head alone."""

    own: HeadSettings
    settings: "Settings"

    def as_dict(self) -> dict[str, Any]:
        """Nested plain values, every default written out."""
        plain = {key: value for key, value in asdict(self.own).items() if value is not None}
        whole = self.settings.as_dict()
        return plain | {section: whole[section] for section in OF_A_HEAD}


def head_tasks(given: Mapping[str, Any], task: str) -> dict[str, str]:
    """The heads that settings name, with their tasks as far as they say them; "many" where the data
    are not known.
    """
    heads = given.get("heads", {})
    if task == "both" and not heads.keys() - BOTH.keys():
        return dict(BOTH)
    known = {
        name: values.get("task") for name, values in heads.items() if isinstance(values, Mapping)
    }
    return {name: str(known.get(name) or "many") for name in heads}


def sources(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What reading the data is told of each head that settings name; nothing where the data's task
    names the heads.
    """
    heads = {
        name: values if isinstance(values, Mapping) else {}
        for name, values in given.get("heads", {}).items()
    }
    named = ("labels", "task", "separator")
    found = {
        name: {key: values[key] for key in named if values.get(key)}
        for name, values in heads.items()
    }
    if (
        given.get("data", {}).get("task") == "both"
        and not found.keys() - BOTH.keys()
        and not any(found.values())
    ):
        return {}
    return found


def given_alone(given: Mapping[str, Any], name: str, *, tags_tokens: bool) -> dict[str, Any]:
    """What was given, as for a run with one of its heads alone; where it was given for one head, it
    stays.

    >>> given = {"fit": {"epochs": 3}, "heads": {"a": {"objective": "zlpr"}, "b": {}}}
    >>> given_alone(given, "a", tags_tokens=False)
    {'fit': {'epochs': 3}, 'objective': 'zlpr'}
    """
    if HEADS not in given and given.get("data", {}).get("task") != "both":
        return dict(given)
    shared = {
        section: values for section, values in given.items() if section not in (HEADS, "data")
    }
    if tags_tokens:
        shared = {section: values for section, values in shared.items() if section not in OF_A_HEAD}
    values = given.get(HEADS, {}).get(name, {})
    return merge(shared, {section: own for section, own in values.items() if section in OF_A_HEAD})


def task_of_run(tasks: Mapping[str, str], otherwise: str) -> str:
    """The task whose defaults a run has that learns all of these.

    >>> task_of_run({"topic": "one", "urgency": "one"}, "many")
    'one'
    >>> task_of_run({"topic": "one", "ner": "tokens"}, "many")
    'both'
    """
    tagging = [one == "tokens" for one in tasks.values()]
    if not tagging:
        return otherwise
    if all(tagging):
        return "tokens"
    if any(tagging):
        return "both"
    return "one" if all(task == "one" for task in tasks.values()) else "many"


def misnamed(given: Mapping[str, Any], tasks: Mapping[str, str]) -> list[str]:
    """What is wrong with the names of heads, and with values that are no tables."""
    faults, seen = [], dict[str, str]()
    for name, values in given.get("heads", {}).items():
        if seen.setdefault(name.casefold(), name) != name:
            faults.append(
                f"heads {seen[name.casefold()]} and {name} differ in case only; not every system"
                " tells them apart"
            )
        if not re.fullmatch(NAME, name):
            faults.append(f"[heads.{name}]: {NAMES}")
        elif name not in tasks:
            faults.append(unknown("head", name, list(tasks)))
        if not isinstance(values, Mapping):
            faults.append(f"heads.{name} must be a table of settings, got {values!r}")
    return faults


def resolve_heads(
    given: Mapping[str, Any],
    shared: Mapping[str, Any],
    tasks: Mapping[str, str],
    faults: list[str],
    resolve: Callable[[Mapping[str, Any], str], "Settings"],
) -> dict[str, HeadChoice]:
    """Every head with its settings; `shared` are those of all, and `resolve` makes settings of
    values and a task.
    """
    found = {}
    common = {section: values for section, values in given.items() if section in OF_A_HEAD}
    both = task_of_run(tasks, "many") == "both"
    for name, task in tasks.items():
        values = given.get("heads", {}).get(name, {})
        if not isinstance(values, Mapping):
            continue  # a fault that is known
        own = {section: value for section, value in values.items() if section in OF_A_HEAD}
        plain = {key: value for key, value in values.items() if key not in OF_A_HEAD}
        wrong: list[str] = []
        head: HeadSettings = read_section(
            f"heads.{name}", HeadSettings, plain, wrong, beside=OF_A_HEAD
        )
        wrong += (
            []
            if math.isfinite(head.weight)
            else [f"heads.{name}.weight must be finite, got {head.weight}"]
        )
        wrong += _solved(name, own)
        usual = "both" if both and task == "many" else task
        try:
            settings = resolve(merge(shared, {} if task == "tokens" else common, own), usual)
            found[name] = HeadChoice(own=head, settings=settings)
        except SettingsError as error:
            wrong += [f"[heads.{name}] {line}" for line in str(error).splitlines()]
        faults += wrong
    return found


def _solved(name: str, own: Mapping[str, Any]) -> list[str]:
    """An objective that decides about the whole run cannot be that of one head among others."""
    objective = own.get("objective")
    if "fit" not in row_of(objective):
        return []
    return [
        f"[heads.{name}] {objective} decides how the whole run is trained; it is for a model with"
        " one head"
    ]


def brought(heads: Mapping[str, HeadChoice], there: set[str]) -> list[Any]:
    """Regularizers that the heads' objectives bring beside those that are there."""
    found = {choice.name: choice for head in heads.values() for choice in head.settings.regularize}
    return [choice for name, choice in found.items() if name not in there]

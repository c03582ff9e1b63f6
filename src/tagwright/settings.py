"""Settings: frozen, checked all at once, TOML in and resolved TOML out.

A section is either plain (`[fit]`, `[data]`, …) or a part: its `name` and the keyword arguments of that part.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagwright import parts, toml
from tagwright.errors import SettingsError, unknown
from tagwright.kept import kept_faults
from tagwright.presets import preset
from tagwright.sections import (
    OPTIMISERS,
    PLAIN_SECTIONS,
    PRECISIONS,
    ROLES,
    DataSettings,
    FitSettings,
    SoftSettings,
    SplitSettings,
    TagsSettings,
    read_section,
)

if TYPE_CHECKING:
    from tagwright.read.data import Size


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A part by name, with its settings."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


# section -> folder of its parts; "none" is a choice where the folder's part may be left out
PART_SECTIONS = {
    "embed": "embed",
    "encoder": "encoders",
    "head": "heads",
    "loss": "losses",
    "targets": "targets",
    "mask": "masks",
    "weights": "weights",
    "schedule": "schedules",
    "decide": "decide",
}
OPTIONAL = {"mask", "weights"}
REGULARISE = "regularise"  # kind of part of which a run takes any number: each is a section of its own, if it is there
DEFAULTS = {"embed": "word", "encoder": "cnn", "head": "document", "schedule": "linear", "decide": "auto"}
OBJECTIVES = {"many": "focal", "both": "bce"}  # else cross_entropy; docs/defaults.md says why
# where tokens are tagged, alone or beside labels of whole texts
TAGGING = {
    "tokens": {"embed": "hashes", "encoder": "bat", "head": "tokens"},
    "both": {"embed": "hashes", "encoder": "bat"},
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides a run, resolved."""

    data: DataSettings
    split: SplitSettings
    soft: SoftSettings
    tags: TagsSettings
    fit: FitSettings
    objective: str
    embed: Choice
    encoder: Choice
    head: Choice
    loss: Choice
    targets: Choice
    mask: Choice
    weights: Choice
    schedule: Choice
    decide: Choice
    regularise: tuple[Choice, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Nested plain values, every default written out."""
        result: dict[str, Any] = {"objective": self.objective}
        for section in PLAIN_SECTIONS:
            result[section] = {k: v for k, v in asdict(getattr(self, section)).items() if v not in (None, {})}
        for section, kind in PART_SECTIONS.items():
            choice: Choice = getattr(self, section)
            known = {} if choice.name in ("none", "auto") else parts.options(parts.find(kind, choice.name).factory)
            values = {k: v for k, v in {**known, **choice.options}.items() if v is not None}
            result[section] = {"name": choice.name, **values}
        # one that the objective brings and the user left out must be left out again
        result |= {name: "none" for name in parts.names(REGULARISE) if name in preset(self.objective)}
        for choice in self.regularise:
            result[choice.name] = {**parts.options(parts.find(REGULARISE, choice.name).factory), **choice.options}
        return result

    @property
    def link(self) -> str:
        """How logits become probabilities: as the loss declares, or as its settings choose."""
        declared: str = parts.find("losses", self.loss.name).factory.link  # type: ignore[attr-defined]
        return str(self.loss.options.get("link", declared))

    def of_tags(self) -> "Settings":
        """The settings of the head for tokens beside that for texts: its own objective, the rest the same."""
        shared = ("data", "split", "tags", "fit", "embed", "encoder", "schedule")
        given = {section: values for section, values in self.as_dict().items() if section in shared}
        return resolve({**given, "objective": self.tags.objective}, "tokens")

    def to_toml(self) -> str:
        """The resolved settings, ready to be read back."""
        return toml.dumps(self.as_dict())


def resolve(given: Mapping[str, Any], task: str = "many", size: "Size | None" = None) -> Settings:
    """Settings from nested plain values; every fault is reported at once.

    Some defaults depend on the task, and on how much there is to learn from, where that is known.

    >>> resolve({"objective": "zlpr", "fit": {"epochs": 3}}).fit.epochs
    3.0
    """
    faults = _misplaced(given)
    given = {key: value for key, value in given.items() if _section_kind(key, value)}
    chosen: dict[str, Any] = {}
    base: dict[str, Any] = {**DEFAULTS, **TAGGING.get(task, {})}
    own = _own_defaults(_merged(base["encoder"], given.get("encoder", {})), task, given.get("objective"), size)
    objective = given.get("objective", own.get("objective", OBJECTIVES.get(task, "cross_entropy")))
    try:
        base |= preset(objective)
    except SettingsError as error:
        faults.append(str(error))
        base |= preset("bce")
    for section, kind in PART_SECTIONS.items():
        default = _merged(base.get(section, "none"), own.get(section, {}))
        chosen[section] = _choice(section, kind, given.get(section, {}), default, faults)
    chosen["regularise"] = _regularisers(base, given, faults)
    paced = _schedule_defaults(chosen["schedule"].name)
    for section, maker in PLAIN_SECTIONS.items():
        values = {**base.get(section, {}), **own.get(section, {}), **paced.get(section, {}), **given.get(section, {})}
        chosen[section] = read_section(section, maker, values, faults)
    if chosen["fit"].optimiser not in OPTIMISERS:
        faults.append(unknown("optimiser", chosen["fit"].optimiser, OPTIMISERS))
    if chosen["fit"].precision not in PRECISIONS:
        faults.append(unknown("precision", chosen["fit"].precision, PRECISIONS))
    faults += kept_faults(chosen["split"].keep)
    if chosen["split"].keep and chosen["fit"].refit:
        if given.get("fit", {}).get("refit"):
            faults.append("fit.refit would learn from dev, which split.keep does not cut; leave one of them out")
        chosen["fit"] = replace(chosen["fit"], refit=False)
    if chosen["soft"].role not in ROLES:
        faults.append(unknown("soft.role", chosen["soft"].role, ROLES))
    if faults:
        raise SettingsError("\n".join(faults))
    return Settings(objective=objective, **chosen)


def check_settings(given: Mapping[str, Any]) -> None:
    """Refuse, before any data are read, what no data could make right: the task that they bring has its own defaults.

    Where the task is not set, the faults are those of the task that would have the fewest.
    """
    faults = []
    data = given.get("data", {})
    task = data.get("task") if isinstance(data, Mapping) else None
    for one in ("many", "tokens") if task is None else (str(task),):
        try:
            resolve(given, one)
            return
        except SettingsError as error:
            faults.append(error)
    raise min(faults, key=lambda error: str(error).count("\n"))


def read_settings(path: Path) -> dict[str, Any]:
    """Nested values of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"no settings file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from None


def assigned(given: Mapping[str, Any], assignment: str) -> dict[str, Any]:
    """Given values with one `section.key=value` added; the value is TOML, a fraction, or else a string.

    >>> assigned({}, "schedule.decay=6/11")["schedule"]["decay"]
    0.5454545454545454
    """
    key, equals, text = assignment.partition("=")
    section, dot, name = key.strip().partition(".")
    if not equals or not section or (dot and not name):
        raise SettingsError(f"--set takes section.key=value, got {assignment!r}; for example fit.epochs=3")
    result = {k: dict(v) if isinstance(v, Mapping) else v for k, v in given.items()}
    if dot:
        table = result.get(section, {})
        result[section] = {**({"name": table} if isinstance(table, str) else table), name: _value(text.strip())}
    else:
        result[section] = _value(text.strip())
    return result


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        return text


def _section_kind(name: str, value: Any) -> bool:
    """Whether the section exists and its value is of the right kind: a table, or for a part also its name."""
    if name in PLAIN_SECTIONS:
        return isinstance(value, Mapping)
    if name in parts.names(REGULARISE):
        return isinstance(value, Mapping) or value == "none"
    return isinstance(value, str | Mapping) if name in PART_SECTIONS else name == "objective" and isinstance(value, str)


def _misplaced(given: Mapping[str, Any]) -> list[str]:
    sections = [*PLAIN_SECTIONS, *PART_SECTIONS, "objective", *parts.names(REGULARISE)]
    faults = [unknown("section", name, sections) for name in given if name not in sections]
    for name, value in given.items():
        if name in sections and not _section_kind(name, value):
            kind = (
                "a table of settings"
                if name in PLAIN_SECTIONS
                else 'a table of settings or "none"'
                if name in parts.names(REGULARISE)
                else "a name"
                if name == "objective"
                else "a name or a table"
            )
            faults.append(f"{name} must be {kind}, got {value!r}")
    return faults


def _schedule_defaults(name: str) -> Mapping[str, Any]:
    """What a schedule brings for other sections: one that gives the rate itself wants to be multiplied by 1."""
    known = name in parts.names("schedules")
    found: Mapping[str, Any] = getattr(parts.find("schedules", name).factory, "defaults", {}) if known else {}
    return found


def _own_defaults(
    encoder: Mapping[str, Any], task: str, objective: str | None, size: "Size | None"
) -> Mapping[str, Any]:
    """What the encoder's class brings for other sections; nothing for an unknown one, whose fault comes later."""
    name = encoder["name"]
    if str(name) not in parts.names("encoders"):
        return {}
    made = getattr(parts.find("encoders", name).factory, "defaults", None)
    if made is None:
        return {}
    # one that asks is told the encoder's own settings and how much there is to learn from
    known = {"options": encoder, "size": size}
    asked = signature(made).parameters
    found: Mapping[str, Any] = made(task, objective, **{name: fact for name, fact in known.items() if name in asked})
    return found


def _regularisers(base: Mapping[str, Any], given: Mapping[str, Any], faults: list[str]) -> tuple[Choice, ...]:
    """Those that the objective brings or the user names, but for the ones that are "none"."""
    found = []
    for name in parts.names(REGULARISE):
        values = given.get(name, base.get(name, "none"))
        if values != "none":
            options = {**base.get(name, {}), **values}
            faults += parts.check(REGULARISE, name, options)
            found.append(Choice(name=name, options=options))
    return tuple(found)


def _merged(*choices: Any) -> dict[str, Any]:
    """Choices one over the other; a later one of another name replaces all that came before."""
    result: dict[str, Any] = {}
    for choice in choices:
        choice = {"name": choice} if isinstance(choice, str) else choice
        result = {**({} if choice.get("name", result.get("name")) != result.get("name") else result), **choice}
    return result


def _choice(section: str, kind: str, given: Any, default: Any, faults: list[str]) -> Choice:
    given = _merged(default, given)
    name = given.pop("name")
    if (name == "none" and section in OPTIONAL) or (name == "auto" and section == "decide"):
        if given:
            faults.append(f"[{section}] is {name}, so it takes no settings; got {', '.join(given)}")
        return Choice(name=name)
    if name not in parts.names(kind):
        name = str(name)
        faults.append(unknown(section, name, [*parts.names(kind), *(["none"] if section in OPTIONAL else [])]))
        return Choice(name=name)
    faults += parts.check(kind, name, given)
    return Choice(name=name, options={k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})

"""Settings: frozen, checked all at once, TOML in and resolved TOML out.

A section is either plain (`[fit]`, `[data]`, …) or a part: its `name` and the keyword arguments of
that part.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tagwright import registry
from tagwright.errors import SettingsError, unknown
from tagwright.registry import KindName
from tagwright.settings.merge import merge, side_by_side
from tagwright.settings.named_heads import (
    HeadChoice,
    brought,
    head_tasks,
    misnamed,
    resolve_heads,
    task_of_run,
)
from tagwright.settings.presets import governed, preset, row_of
from tagwright.settings.sections import (
    HEADS,
    OF_A_HEAD,
    OF_THE_RUN,
    PART_SECTIONS,
    PLAIN_SECTIONS,
    DataSettings,
    FitSettings,
    SoftSettings,
    SplitSettings,
    read_section,
)
from tagwright.settings.split_keep import kept_faults
from tagwright.storage import toml

if TYPE_CHECKING:
    from tagwright.data.dataset import Size


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A part by name, with all its options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


OPTIONAL = {"mask", "weights"}  # "none" is a choice
DEFAULTS = {
    "embed": "word",
    "encoder": "cnn",
    "head": "document",
    "schedule": "linear",
    "decide": "auto",
}
OBJECTIVES = {"many": "focal", "both": "bce"}  # else cross_entropy; docs/defaults.md says why
# where tokens are tagged, alone or beside labels of whole texts
TAGGING = {
    "tokens": {"embed": "hashes", "encoder": "bat", "head": "tokens"},
    "both": {"embed": "hashes", "encoder": "bat"},
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides a run, resolved; `given` is what was chosen, before any default."""

    data: DataSettings
    split: SplitSettings
    soft: SoftSettings
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
    regularize: tuple[Choice, ...] = ()
    heads: Mapping[str, HeadChoice] = field(default_factory=dict)  # where there are several
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Nested plain values, every default written out."""
        result: dict[str, Any] = {"objective": self.objective}
        for section in PLAIN_SECTIONS:
            result[section] = {
                k: v for k, v in asdict(getattr(self, section)).items() if v not in (None, {})
            }
        for section in PART_SECTIONS:
            choice: Choice = getattr(self, section)
            result[section] = {
                "name": choice.name,
                **{k: v for k, v in choice.options.items() if v is not None},
            }
        # one that the objective brings and the user left out must be left out again
        result |= {
            name: "none"
            for name in registry.names(registry.REGULARIZERS)
            if name in row_of(self.objective)
        }
        for choice in self.regularize:
            result[choice.name] = dict(choice.options)
        if self.heads:
            result[HEADS] = {name: head.as_dict() for name, head in self.heads.items()}
        return result

    @property
    def link(self) -> str:
        """How logits become probabilities: as the loss declares, or as its settings choose."""
        declared: str = registry.find(registry.LOSSES, self.loss.name).factory.link
        return str(self.loss.options.get("link", declared))

    def of(self, head: str) -> "Settings":
        """The settings of one head: what it has of its own, and what all share."""
        return (
            replace(self.heads[head].settings, regularize=self.regularize) if self.heads else self
        )

    def weight_of(self, head: str) -> float:
        """What the head's loss weighs beside those of the others."""
        return self.heads[head].own.weight if self.heads else 1.0

    def to_toml(self) -> str:
        """The resolved settings, ready to be read back."""
        return toml.dumps(self.as_dict())


def resolve(
    given: Mapping[str, Any],
    task: str = "many",
    size: "Size | None" = None,
    heads: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from nested plain values; every fault is reported at once.

    Some defaults depend on the task, and on how much there is to learn from, where that is known.
    `heads` are the tasks of named heads, as they were found in the data; None: as far as the
    settings say them.

    >>> resolve({"objective": "zlpr", "fit": {"epochs": 3}}).fit.epochs
    3.0
    """
    faults = _misplaced(given)
    given = side_by_side({key: value for key, value in given.items() if _section_kind(key, value)})
    tasks = head_tasks(given, task) if heads is None else heads
    faults += misnamed(given, tasks)
    run = _resolved(given, task_of_run(tasks, task), size, faults, first=next(iter(tasks), None))
    if tasks:
        run = _with_heads(given, run, tasks, faults)
    if faults:
        raise SettingsError("\n".join(faults))
    return run


def _resolved(
    given: Mapping[str, Any], task: str, size: "Size | None", faults: list[str], first: str | None
) -> Settings:
    """The settings without those of named heads; the `first` of them counts where defaults ask for
    the objective.
    """
    of_first = given.get(HEADS, {}).get(first, {})
    named = of_first.get("objective") if isinstance(of_first, Mapping) else None
    objective, values = _over_defaults(given, task, size, faults, named)
    found: dict[str, Any] = {
        section: _choice(section, kind, values[section], faults)
        for section, kind in PART_SECTIONS.items()
    }
    found["regularize"] = _regularizers(values, faults)
    for section, maker in PLAIN_SECTIONS.items():
        found[section] = read_section(section, maker, values.get(section, {}), faults)
    if found["split"].keep:
        faults += kept_faults(found["split"].keep)
        if given.get("fit", {}).get("refit"):
            faults.append(
                "fit.refit would learn from dev, which split.keep does not cut; leave one of"
                " them out"
            )
        found["fit"] = replace(found["fit"], refit=False)
    return Settings(objective=objective, given=_named(given, objective, found), **found)


def _with_heads(
    given: Mapping[str, Any], run: Settings, tasks: Mapping[str, str], faults: list[str]
) -> Settings:
    """The same with the settings of every head; those of the first stand for the run where one is
    asked for.
    """
    shared = {} if faults else {section: run.as_dict()[section] for section in OF_THE_RUN}
    heads = resolve_heads(
        given, shared, tasks, faults, lambda values, task: resolve(values, task, heads={})
    )
    if faults:
        return run
    own = {section: getattr(next(iter(heads.values())).settings, section) for section in OF_A_HEAD}
    regularize = (*run.regularize, *brought(heads, {choice.name for choice in run.regularize}))
    said = {
        name: _named(values, heads[name].settings.objective, vars(heads[name].settings))
        for name, values in given.get(HEADS, {}).items()
    }
    return replace(
        run,
        **own,
        regularize=regularize,
        heads=heads,
        given={**run.given, **({HEADS: said} if said else {})},
    )


def _named(given: Mapping[str, Any], objective: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, with the names of the parts and the objective that its options were meant
    for.
    """
    result = {
        section: {"name": found[section].name, **values} if section in PART_SECTIONS else values
        for section, values in given.items()
    }
    return (
        {"objective": objective, **result}
        if given.keys() & governed(objective).keys() - {"fit"}
        else result
    )


def _over_defaults(
    given: Mapping[str, Any],
    task: str,
    size: "Size | None",
    faults: list[str],
    of_head: str | None = None,
) -> tuple[str, dict[str, Any]]:
    """The objective and all values: defaults (of the task, the encoder, the schedule), the preset,
    what was given.
    """
    usual = merge({**DEFAULTS, **TAGGING.get(task, {})})
    encoder = merge({"encoder": usual["encoder"]}, {"encoder": given.get("encoder", {})})["encoder"]
    own = dict(_own_defaults(encoder, task, of_head or given.get("objective"), size))
    fallback = own.pop("objective", OBJECTIVES.get(task, "cross_entropy"))
    objective = given.get("objective", fallback)
    try:
        row = preset(objective)
    except SettingsError as error:
        faults.append(str(error))
        row = preset("bce")
    chosen = {key: value for key, value in given.items() if key != "objective"}
    schedule = merge(usual, own, row, chosen)["schedule"]["name"]
    return objective, merge(usual, own, _schedule_defaults(schedule), row, chosen)


def check_settings(given: Mapping[str, Any]) -> None:
    """Refuse, before any data are read, what no data could make right: the task that they bring has
    its own defaults.

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


def _section_kind(name: str, value: Any) -> bool:
    """Whether the section exists and its value is of the right kind: a table, or for a part also
    its name.
    """
    if name in PLAIN_SECTIONS or name == HEADS:
        return isinstance(value, Mapping)
    if name in registry.names(registry.REGULARIZERS):
        return isinstance(value, Mapping) or value == "none"
    return (
        isinstance(value, str | Mapping)
        if name in PART_SECTIONS
        else name == "objective" and isinstance(value, str)
    )


def _kind_of_section(name: str) -> str:
    """What a section of this name must be, in words."""
    if name in (*PLAIN_SECTIONS, HEADS):
        return "a table of settings"
    if name in registry.names(registry.REGULARIZERS):
        return 'a table of settings or "none"'
    return "a name" if name == "objective" else "a name or a table"


def _misplaced(given: Mapping[str, Any]) -> list[str]:
    sections = [
        *PLAIN_SECTIONS,
        *PART_SECTIONS,
        "objective",
        HEADS,
        *registry.names(registry.REGULARIZERS),
    ]
    faults = [
        unknown("section", name, sections) for name in given if name not in (*sections, "tags")
    ]
    faults += ["[tags] is [heads.tags] now: rename it"] if "tags" in given else []
    for name, value in given.items():
        if name in sections and not _section_kind(name, value):
            faults.append(f"{name} must be {_kind_of_section(name)}, got {value!r}")
    return faults


def _schedule_defaults(name: str) -> Mapping[str, Any]:
    """What a schedule brings for other sections: one that gives the rate itself wants to be
    multiplied by 1.
    """
    known = name in registry.names(registry.SCHEDULES)
    found: Mapping[str, Any] = (
        registry.find(registry.SCHEDULES, name).factory.defaults if known else {}
    )
    return found


def _own_defaults(
    encoder: Mapping[str, Any], task: str, objective: str | None, size: "Size | None"
) -> Mapping[str, Any]:
    """What the encoder's class brings for other sections; nothing for an unknown one, whose fault
    comes later.
    """
    name = encoder["name"]
    if str(name) not in registry.names(registry.ENCODERS):
        return {}
    found: Mapping[str, Any] = registry.find(registry.ENCODERS, name).factory.defaults(
        task, objective, encoder, size
    )
    return found


def _regularizers(values: Mapping[str, Any], faults: list[str]) -> tuple[Choice, ...]:
    """Those that the objective brings or the user names, but for the ones that are "none"."""
    wanted = {
        name: values[name]
        for name in registry.names(registry.REGULARIZERS)
        if values.get(name, "none") != "none"
    }
    for name, options in wanted.items():
        faults += registry.check(registry.REGULARIZERS, name, options)
    return tuple(_filled(registry.REGULARIZERS, name, options) for name, options in wanted.items())


def _choice(
    section: str, kind: KindName[Any, Any], values: Mapping[str, Any], faults: list[str]
) -> Choice:
    options = {key: value for key, value in values.items() if key != "name"}
    name = values["name"]
    if (name == "none" and section in OPTIONAL) or (name == "auto" and section == "decide"):
        if options:
            faults.append(
                f"[{section}] is {name}, so it takes no settings; got {', '.join(options)}"
            )
        return Choice(name=name)
    if name not in registry.names(kind):
        name = str(name)
        faults.append(
            unknown(
                section, name, [*registry.names(kind), *(["none"] if section in OPTIONAL else [])]
            )
        )
        return Choice(name=name)
    wrong = registry.check(kind, name, options)
    faults += wrong or registry.refused(kind, name, options)
    return _filled(kind, name, options)


def _filled(kind: KindName[Any, Any], name: str, options: Mapping[str, Any]) -> Choice:
    """The part with every option: those that are not given have their defaults."""
    listed = {
        key: tuple(value) if isinstance(value, list) else value for key, value in options.items()
    }
    return Choice(
        name=name, options={**registry.options(registry.find(kind, name).factory), **listed}
    )

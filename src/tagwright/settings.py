"""Settings: frozen, checked all at once, TOML in and resolved TOML out.

A section is either plain (`[fit]`, `[data]`, …) or a part: its `name` and the keyword arguments of that part.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

from tagwright import parts, toml
from tagwright.errors import SettingsError, unknown
from tagwright.kept import kept_faults
from tagwright.presets import preset


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """How a file is read."""

    text: str | None = None
    labels: str | None = None
    task: str | None = None
    separator: str = "auto"
    strict: bool = False  # refuse tags of tokens that follow no scheme, where they would be mended
    cut: str = "auto"  # how texts become tokens where these are tagged: words, characters, jieba or fugashi


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """What is held out where the data do not say, and what of train is left out."""

    dev_share: float = 0.1
    test_share: float = 0.0
    seed: int = 0
    keep: Mapping[str, int] = field(default_factory=dict)  # label -> texts of train with it that stay


@dataclass(frozen=True, kw_only=True)
class SoftSettings:
    """What becomes of soft labels, where the targets give some beside the labels."""

    role: str = "replace"  # the labels; or "auxiliary": stand beside them (KWLS eq. 9)
    alpha: float = 1.0  # what the auxiliary term weighs
    halved: bool = True  # by the 2 in the divisor of eq. 9, which the paper's own code leaves out
    heads: int = 1  # 2: the auxiliary term has a head of its own, which training ends with
    from_step: int = 0  # before it, the labels alone count


@dataclass(frozen=True, kw_only=True)
class TagsSettings:
    """The head for tokens that stands beside one for texts, where both are learnt (data.task = "both")."""

    objective: str = "cross_entropy"
    weight: float = 1.0  # of its loss, a mean over tokens, beside that of the texts


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The run. An encoder class may bring its own values for any section: `defaults(task, objective)`."""

    epochs: float = 20.0
    batch: int = 32
    accumulate: int = 1
    optimiser: str = "auto"  # adamw, row Adagrad for sparse features; or sgd
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    beta2: float = 0.999  # of AdamW
    epsilon: float = 1e-8
    layer_decay: float = 1.0  # of the rate, a layer down from the top; for pretrained encoders
    clip: float = 1.0
    evaluations: float = 1.0  # an epoch
    metric: str = "auto"
    patience: int = 5  # evaluations without a better score; 0 never stops early
    refit: bool = False
    limit: int = 512  # tokens of a text
    vectors: str | None = None  # word vectors to start from: GloVe text, or npy with words beside
    seed: int = 0
    device: str = "auto"
    precision: str = "auto"  # of a pretrained encoder: bfloat16 where a timed trial shows a gain; or float32, bfloat16
    capture: bool = True  # on a GPU, whole steps as CUDA graphs where that can be
    deterministic: bool = False
    save_seconds: float = 30.0


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
DEFAULTS = {"embed": "word", "encoder": "cnn", "head": "document", "schedule": "linear", "decide": "auto"}
# where tokens are tagged, alone or beside labels of whole texts
TAGGING = {
    "tokens": {"embed": "hashes", "encoder": "bat", "head": "tokens"},
    "both": {"embed": "hashes", "encoder": "bat"},
}
LEAST = {
    "soft.alpha": 0.0,
    "soft.heads": 1,
    "soft.from_step": 0,
    "tags.weight": 0.0,
    "fit.epochs": 0.01,
    "fit.batch": 1,
    "fit.accumulate": 1,
    "fit.evaluations": 0.01,
    "fit.limit": 1,
    "fit.patience": 0,
    "fit.learning_rate": 0.0,
    "fit.weight_decay": 0.0,
    "fit.clip": 0.0,
    "fit.beta2": 0.0,
    "fit.epsilon": 0.0,
    "fit.layer_decay": 0.0,
    "split.dev_share": 0.0,
    "split.test_share": 0.0,
}
OPTIMISERS = ("auto", "sgd")
ROLES = ("replace", "auxiliary")
PRECISIONS = ("auto", "float32", "bfloat16")
PLAIN_SECTIONS = {
    "data": DataSettings,
    "split": SplitSettings,
    "soft": SoftSettings,
    "tags": TagsSettings,
    "fit": FitSettings,
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
        return result

    def of_tags(self) -> "Settings":
        """The settings of the head for tokens beside that for texts: its own objective, the rest the same."""
        shared = ("data", "split", "tags", "fit", "embed", "encoder", "schedule")
        given = {section: values for section, values in self.as_dict().items() if section in shared}
        return resolve({**given, "objective": self.tags.objective}, "tokens")

    def to_toml(self) -> str:
        """The resolved settings, ready to be read back."""
        return toml.dumps(self.as_dict())


def resolve(given: Mapping[str, Any], task: str = "many", rows: int | None = None) -> Settings:
    """Settings from nested plain values; every fault is reported at once.

    Some defaults depend on the task, and on how many rows there are to learn from, where that is known.

    >>> resolve({"objective": "zlpr", "fit": {"epochs": 3}}).fit.epochs
    3.0
    """
    faults = _misplaced(given)
    given = {key: value for key, value in given.items() if _section_kind(key, value)}
    chosen: dict[str, Any] = {}
    base: dict[str, Any] = {**DEFAULTS, **TAGGING.get(task, {})}
    own = _own_defaults(_merged(base["encoder"], given.get("encoder", {})), task, given.get("objective"), rows)
    objective = given.get("objective", own.get("objective", "bce" if task in ("many", "both") else "cross_entropy"))
    try:
        base |= preset(objective)
    except SettingsError as error:
        faults.append(str(error))
        base |= preset("bce")
    for section, kind in PART_SECTIONS.items():
        default = _merged(base.get(section, "none"), own.get(section, {}))
        chosen[section] = _choice(section, kind, given.get(section, {}), default, faults)
    paced = _schedule_defaults(chosen["schedule"].name)
    for section, maker in PLAIN_SECTIONS.items():
        values = {**base.get(section, {}), **own.get(section, {}), **paced.get(section, {}), **given.get(section, {})}
        chosen[section] = _plain(section, maker, values, faults)
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
    return isinstance(value, str | Mapping) if name in PART_SECTIONS else name == "objective" and isinstance(value, str)


def _misplaced(given: Mapping[str, Any]) -> list[str]:
    sections = [*PLAIN_SECTIONS, *PART_SECTIONS, "objective"]
    faults = [unknown("section", name, sections) for name in given if name not in sections]
    for name, value in given.items():
        if name in sections and not _section_kind(name, value):
            kind = (
                "a table of settings"
                if name in PLAIN_SECTIONS
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


def _own_defaults(encoder: Mapping[str, Any], task: str, objective: str | None, rows: int | None) -> Mapping[str, Any]:
    """What the encoder's class brings for other sections; nothing for an unknown one, whose fault comes later."""
    name = encoder["name"]
    if str(name) not in parts.names("encoders"):
        return {}
    made = getattr(parts.find("encoders", name).factory, "defaults", None)
    if made is None:
        return {}
    # one that asks is told the encoder's own settings and the number of rows: what suits a model may depend on sizes
    known = {"options": encoder, "rows": rows}
    asked = signature(made).parameters
    found: Mapping[str, Any] = made(task, objective, **{name: fact for name, fact in known.items() if name in asked})
    return found


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


def _plain(section: str, maker: type, given: Mapping[str, Any], faults: list[str]) -> Any:
    known: dict[str, Any] = {f.name: {} if f.default is MISSING else f.default for f in fields(maker)}
    values = {}
    for key, value in given.items():
        if key not in known:
            faults.append(unknown(f"setting of [{section}]", key, known))
            continue
        wanted: Any = str if known[key] is None else type(known[key])
        fault = _fault(f"{section}.{key}", value, wanted)
        if fault:
            faults.append(fault)
        else:
            values[key] = wanted(value)
    return maker(**values)


def _fault(name: str, value: Any, wanted: Any) -> str | None:
    """What is wrong with a value: its type (a whole number serves as a float), or that it is too small."""
    taken = (int, float) if wanted is float else wanted
    if not isinstance(value, taken) or (isinstance(value, bool) and wanted is not bool):
        kind = "a table" if wanted is dict else f"of type {wanted.__name__}"
        return f"{name} must be {kind}, got {value!r}"
    least = LEAST.get(name)
    return f"{name} must be at least {least}, got {value!r}" if least is not None and not value >= least else None

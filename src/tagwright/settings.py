"""Settings: frozen, checked all at once, TOML in and resolved TOML out.

A section is either plain (`[fit]`, `[data]`, …) or a part: its `name` and the keyword arguments of that part.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from tagwright import parts, toml
from tagwright.errors import SettingsError, unknown
from tagwright.presets import preset


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """How a file is read."""

    text: str | None = None
    labels: str | None = None
    task: str | None = None
    separator: str = "auto"


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """What is held out where the data do not say."""

    dev_share: float = 0.1
    test_share: float = 0.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The run. An encoder class may bring its own values for any section in `defaults`."""

    epochs: float = 20.0
    batch: int = 32
    accumulate: int = 1
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    clip: float = 1.0
    evaluations: float = 1.0  # an epoch
    metric: str = "auto"
    patience: int = 5  # evaluations without a better score; 0 never stops early
    refit: bool = False
    limit: int = 512  # tokens of a text
    vectors: str | None = None  # word vectors to start from: GloVe text, or npy with words beside
    seed: int = 0
    device: str = "auto"
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
PLAIN_SECTIONS = {"data": DataSettings, "split": SplitSettings, "fit": FitSettings}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides a run, resolved."""

    data: DataSettings
    split: SplitSettings
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
            result[section] = {k: v for k, v in asdict(getattr(self, section)).items() if v is not None}
        for section, kind in PART_SECTIONS.items():
            choice: Choice = getattr(self, section)
            known = {} if choice.name in ("none", "auto") else parts.options(parts.find(kind, choice.name).factory)
            values = {k: v for k, v in {**known, **choice.options}.items() if v is not None}
            result[section] = {"name": choice.name, **values}
        return result

    def to_toml(self) -> str:
        """The resolved settings, ready to be read back."""
        return toml.dumps(self.as_dict())


def resolve(given: Mapping[str, Any]) -> Settings:
    """Settings from nested plain values; every fault is reported at once.

    >>> resolve({"objective": "zlpr", "fit": {"epochs": 3}}).fit.epochs
    3.0
    """
    faults = [unknown("section", k, [*PLAIN_SECTIONS, *PART_SECTIONS, "objective"]) for k in given if not _section(k)]
    objective = given.get("objective", "bce")
    chosen: dict[str, Any] = {}
    try:
        base = {**DEFAULTS, **preset(objective)}
    except SettingsError as error:
        raise SettingsError("\n".join([*faults, str(error)])) from None
    encoder = _choice("encoder", "encoders", given.get("encoder", {}), base["encoder"], faults)
    own = getattr(parts.find("encoders", encoder.name).factory, "defaults", {}) if not faults else {}
    for section, kind in PART_SECTIONS.items():
        default = _merged(base.get(section, "none"), own.get(section, {}))
        chosen[section] = _choice(section, kind, given.get(section, {}), default, faults)
    for section, maker in PLAIN_SECTIONS.items():
        chosen[section] = _plain(section, maker, {**own.get(section, {}), **given.get(section, {})}, faults)
    if faults:
        raise SettingsError("\n".join(faults))
    return Settings(objective=objective, **chosen)


def read_settings(path: Path) -> dict[str, Any]:
    """Nested values of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"no settings file {path}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: {error}") from None


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
        result.setdefault(section, {})[name] = _value(text.strip())
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


def _section(name: str) -> bool:
    return name in PLAIN_SECTIONS or name in PART_SECTIONS or name == "objective"


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
        faults.append(unknown(section, name, [*parts.names(kind), *(["none"] if section in OPTIONAL else [])]))
        return Choice(name=name)
    faults += parts.check(kind, name, given)
    return Choice(name=name, options={k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})


def _plain(section: str, maker: type, given: Mapping[str, Any], faults: list[str]) -> Any:
    known = {f.name: f for f in fields(maker)}
    values = {}
    for key, value in given.items():
        if key not in known:
            faults.append(unknown(f"setting of [{section}]", key, known))
            continue
        wanted = str if known[key].default is None else type(known[key].default)
        if wanted is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            faults.append(f"{section}.{key} must be of type {wanted.__name__}, got {value!r}")
            continue
        values[key] = value
    return maker(**values)

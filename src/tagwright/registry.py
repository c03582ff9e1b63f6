"""The registry of parts.

A file of a kind's folder is a part of Tagwright: `losses/zlpr.py` is the loss "zlpr". Other
packages add parts through entry points of the groups `tagwright.losses`, `tagwright.encoders`, and
so on. An entry point names the part itself, or a module that names it in `PART`. A part's signature
is the schema of its settings, and each kind declares in its `__init__` what it asks of its parts
and what it tells them (`KIND`).
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, update_wrapper
from importlib import import_module, invalidate_caches
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from tagwright.errors import SettingsError, nearest, unknown

if TYPE_CHECKING:
    from tagwright.data.readers.reader import Reader
    from tagwright.decisions import Decision
    from tagwright.losses import LossModule
    from tagwright.masks import Mask
    from tagwright.metrics import Family
    from tagwright.models.encoders import Encoder
    from tagwright.models.heads import Head
    from tagwright.targets import SoftLabels
    from tagwright.tokenizers.base import Embed
    from tagwright.training.regularizers import Regularizer
    from tagwright.training.schedules import Schedule
    from tagwright.weights import LabelWeights, Weights

OURS = "tagwright"  # the package of the parts that come with the program
RESERVED = frozenset({"reduction"})  # keyword arguments with a default that the program sets itself
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", covariant=True)
M = TypeVar("M", covariant=True)


class KindName(str, Generic[F, M]):
    """The name of a kind: its parts are of the type `F`, and make what is of the type `M`."""


LOSSES: "KindName[type[LossModule], LossModule]" = KindName("losses")
TARGETS: "KindName[object, SoftLabels]" = KindName("targets")
MASKS: "KindName[object, Mask]" = KindName("masks")
WEIGHTS: "KindName[Weights[[]], LabelWeights]" = KindName("weights")
TOKENIZERS: "KindName[type[Embed], Embed]" = KindName("tokenizers")
ENCODERS: "KindName[type[Encoder], Encoder]" = KindName("encoders")
HEADS: "KindName[type[Head], Head]" = KindName("heads")
REGULARIZERS: "KindName[type[Regularizer], Regularizer]" = KindName("regularizers")
SCHEDULES: "KindName[Schedule[[]], Callable[[int], float]]" = KindName("schedules")
DECISIONS: "KindName[type[Decision], Decision]" = KindName("decisions")
READERS: "KindName[type[Reader], Reader]" = KindName("readers")
METRICS: "KindName[type[Family], Family]" = KindName("metrics")
KINDS: dict[KindName[object, object], str] = {  # kind -> the package of its parts
    LOSSES: "losses",
    TARGETS: "targets",
    MASKS: "masks",
    WEIGHTS: "weights",
    TOKENIZERS: "tokenizers",
    ENCODERS: "models.encoders",
    HEADS: "models.heads",
    REGULARIZERS: "training.regularizers",
    SCHEDULES: "training.schedules",
    DECISIONS: "decisions",
    READERS: "data.readers",
    METRICS: "metrics",
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHOICES = ("none", "auto", "name")  # what settings say in place of a part's name, or beside it


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a kind of part is, in the `__init__` of its folder.

    `facts` are the arguments that the program can give a part, each with a description. A part
    takes those it needs: by position, with a default if it can do without. All its other arguments
    are settings: keyword-only, with a default. Every part takes the facts of `always`. If `facts`
    is None, parts of this kind are not built. If there is a `base`, every part is a class that
    derives from it, or an instance of it where it is a `Function`. `own_facts` are further facts
    that a part declares for itself.
    """

    title: str
    facts: Mapping[str, str] | None = field(default_factory=dict)
    always: tuple[str, ...] = ()
    base: type | None = None
    own_facts: Callable[[object], Iterable[str]] = field(default=lambda part: ())
    reserved: Callable[[], frozenset[str]] = frozenset  # names that no part of the kind may have


class Function(Generic[P, R]):
    """A part that is a function, with what it declares beside its signature."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *facts: P.args, **settings: P.kwargs) -> R:
        """The function's own answer."""
        return self.function(*facts, **settings)


class _Maker(Protocol):
    """A part as it is called; its signature says what it takes."""

    def __call__(self, **given: object) -> object:
        """What the part makes."""


class Part(NamedTuple, Generic[F]):
    """One part: its folder, its name, the class or function that makes it, a line about it, and
    whose it is.
    """

    kind: str
    name: str
    factory: F  # derives from the kind's base, or is called with facts and settings
    summary: str
    package: str = OURS

    @property
    def settings(self) -> dict[str, object]:
        """What a user may set, with the defaults."""
        return {} if kind_of(self.kind).facts is None else options(self.factory)


def package_of(kind: str) -> str:
    """The package whose files are the parts of a kind.

    >>> package_of("encoders")
    'tagwright.models.encoders'
    """
    return f"tagwright.{KINDS[KindName(kind)]}"


@cache
def kind_of(kind: str) -> Kind:
    """What the folder of a kind declares."""
    found: Kind = import_module(package_of(kind)).KIND
    return found


@cache
def parameters_of(factory: object) -> Mapping[str, inspect.Parameter]:
    """The arguments of a part by name."""
    return inspect.signature(cast("_Maker", factory)).parameters


@cache
def names(kind: str) -> tuple[str, ...]:
    """The names of all parts of a kind, in order. Nothing of another package is imported."""
    return tuple(sorted({*built_in(kind), *_foreign(kind)}))


@cache
def built_in(kind: str) -> tuple[str, ...]:
    """Tagwright's own parts of a kind: files of its folder that do not begin with `_` and name a
    part in `PART`.
    """
    package = import_module(package_of(kind))
    stems = (module.name for module in iter_modules(package.__path__))
    return tuple(
        sorted(
            stem
            for stem in stems
            if not stem.startswith("_") and _declares_part(f"{package_of(kind)}.{stem}")
        )
    )


def find(kind: KindName[F, M], name: str) -> Part[F]:
    """The part of this name; one that is unknown, cannot be imported or does not keep to its
    contract is an error.
    """
    return cast("Part[F]", _sound(kind, name))


@cache
def _sound(kind: str, name: str) -> Part[object]:
    if name not in names(kind):
        raise SettingsError(unknown(kind_of(kind).title, name, names(kind)))
    owners = [OURS] * (name in built_in(kind)) + [
        _package(point) for point in _foreign(kind).get(name, ())
    ]
    if len(owners) > 1:
        raise SettingsError(
            f"there is more than one {kind_of(kind).title} {name!r}: of the packages"
            f" {' and '.join(owners)}; uninstall one of them, or have its authors rename it"
        )
    part = (
        _own_part(kind, name)
        if owners == [OURS]
        else _foreign_part(kind, name, _foreign(kind)[name][0])
    )
    _require_sound(part)
    return part


def refresh() -> None:
    """Look for parts anew, as after a package was installed."""
    invalidate_caches()
    for found in (names, _sound, built_in, _points, _found):
        found.cache_clear()


def usable(kind: KindName[F, M]) -> Iterator[Part[F]]:
    """All parts of a kind but those that `find` refuses."""
    found = (_found(kind, name) for name in names(kind))
    return (cast("Part[F]", part) for part in found if isinstance(part, Part))


def broken(kind: str) -> dict[str, str]:
    """Those that `find` refuses, by name, and why."""
    found = {name: _found(kind, name) for name in names(kind)}
    return {name: str(error) for name, error in found.items() if not isinstance(error, Part)}


def third_party(kind: str, name: str) -> str | None:
    """The package that a part comes from; None for Tagwright's own, and for a name that nobody
    knows. It is not imported."""
    found = _foreign(kind).get(name)
    return _package(found[0]) if found else None


def options(factory: object) -> dict[str, object]:
    """Keyword-only arguments with a default: what a user may set.

    >>> def ramp(step, *, start=0.0, total): ...
    >>> options(ramp)
    {'start': 0.0}
    """
    return {
        p.name: p.default
        for p in parameters_of(factory).values()
        if p.kind is p.KEYWORD_ONLY and p.default is not p.empty and p.name not in RESERVED
    }


def build(kind: KindName[F, M], name: str, settings: Mapping[str, object], **facts: object) -> M:
    """Make a part from its settings; of the facts of its kind it gets those its signature asks
    for.
    """
    part = find(kind, name)
    declared = declared_facts(kind, part.factory)
    for fact in facts:
        if fact not in declared:
            raise TypeError(
                _unknown_fact(
                    f"a {kind_of(kind).title} is told nothing of {fact!r}", fact, declared
                )
            )
    faults = check(kind, name, settings)
    if faults:
        raise SettingsError("; ".join(faults))
    return cast("M", made(part.factory, settings, **facts))


def made(factory: object, settings: Mapping[str, object], **facts: object) -> object:
    """Call a part with its settings, and with those of the facts that its signature asks for."""
    wanted = parameters_of(factory)
    given = {name: fact for name, fact in facts.items() if name in wanted}
    return cast("_Maker", factory)(**given, **settings)


def check(kind: str, name: str, settings: Mapping[str, object]) -> list[str]:
    """What is wrong with these settings of a part: unknown keys and values of another type than the
    default's.
    """
    allowed = options(_sound(kind, name).factory)
    faults = []
    for key, value in settings.items():
        if key not in allowed:
            faults.append(unknown(f"setting of {name}", key, allowed))
        elif not _fits(value, allowed[key]):
            expected = type(allowed[key]).__name__
            faults.append(f"{name}.{key} must be of type {expected}, got {value!r}")
    return faults


def refused(kind: str, name: str, settings: Mapping[str, object]) -> list[str]:
    """What a part itself says against settings of the right types. One that needs facts is not
    asked yet.
    """
    factory = _sound(kind, name).factory
    parameters = parameters_of(factory)
    if any(parameters[fact].default is inspect.Parameter.empty for fact in asked(factory)):
        return []
    try:
        made(factory, settings)
    except SettingsError as error:
        return [f"{name}: {error}"]
    return []


def _fits(value: object, default: object) -> bool:
    if default is None or value is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, tuple):
        return isinstance(value, list | tuple)
    return isinstance(value, type(default))


@cache
def _found(kind: str, name: str) -> Part[object] | SettingsError:
    try:
        return _sound(kind, name)
    except SettingsError as error:
        return error


def _declares_part(module: str) -> bool:
    # Read, not imported: a folder's files load much that one part of it does not need.
    loader = cast(SourceLoader, cast(ModuleSpec, find_spec(module)).loader)
    return "\nPART = " in (loader.get_source(module) or "")


def _own_part(kind: str, name: str) -> Part[object]:
    # sys.modules, not attributes: the package binds the function `zlpr` over the submodule `zlpr`
    module = import_module(f"{package_of(kind)}.{name}")
    return Part(kind, name, module.PART, _summary(module))


@cache
def _points() -> dict[str, dict[str, tuple[EntryPoint, ...]]]:
    """The parts of other packages by kind and name. Looked for once: it reads the list of all
    installed packages.
    """
    found: dict[str, dict[str, tuple[EntryPoint, ...]]] = {str(kind): {} for kind in KINDS}
    everything = entry_points()
    for kind, named in found.items():
        for point in everything.select(group=f"tagwright.{kind}"):
            named[point.name] = (*named.get(point.name, ()), point)
    return found


def _foreign(kind: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    return _points()[kind]


def _package(point: EntryPoint) -> str:
    return point.value.partition(".")[0] if point.dist is None else point.dist.name


def _foreign_part(kind: str, name: str, point: EntryPoint) -> Part[object]:
    title, package = kind_of(kind).title, _package(point)
    if not _NAME.fullmatch(name) or name in _CHOICES or name in kind_of(kind).reserved():
        raise SettingsError(
            f"the package {package} calls a {title} {name!r}, which cannot be the name of one"
        )
    try:
        made = point.load()
    except Exception as error:  # whatever its module does
        said = f"{type(error).__name__}: {error}"
        raise SettingsError(
            f"{title} {name!r} of the package {package} cannot be imported ({said})"
        ) from error
    factory = vars(made).get("PART") if isinstance(made, ModuleType) else made
    if not callable(factory):
        raise SettingsError(
            f"{title} {name!r} of the package {package}: its entry point {point.value} is neither a"
            " part nor a module with PART"
        )
    return Part(kind, name, factory, _summary(made), package)


def _require_sound(part: Part[object]) -> None:
    """Refuse a part that does not derive from its kind's base, or asks for what its kind does not
    tell.
    """
    kind, factory = kind_of(part.kind), part.factory
    whose = f"{kind.title} {part.name!r}" + (
        "" if part.package == OURS else f" of the package {part.package}"
    )
    if kind.base is not None and not _derives(factory, kind.base):
        base = f"{kind.base.__module__}.{kind.base.__name__}"
        how = (
            "a function made by" if issubclass(kind.base, Function) else "a class that derives from"
        )
        raise SettingsError(f"{whose} must be {how} {base}")
    if kind.facts is None:
        return
    declared = declared_facts(part.kind, factory)
    taken = parameters_of(factory)
    for fact in asked(factory):
        if fact not in declared:
            raise SettingsError(
                _unknown_fact(f"{whose} asks for {fact!r}, which it is not told", fact, declared)
            )
    for fact in kind.always:
        if fact not in taken:
            raise SettingsError(f"{whose} must take the argument {fact!r}: {kind.facts[fact]}")


def _derives(factory: object, base: type) -> bool:
    if issubclass(base, Function):
        return isinstance(factory, base)
    return isinstance(factory, type) and issubclass(factory, base)


def declared_facts(kind: str, factory: object) -> tuple[str, ...]:
    """What a part of this kind may ask for: the facts of the kind, and those that the part declares
    itself.
    """
    return (*(kind_of(kind).facts or ()), *kind_of(kind).own_facts(factory))


def asked(factory: object) -> tuple[str, ...]:
    """The facts that a part asks for: all its arguments that are not settings.

    >>> def ramp(step, width=None, *, start=0.0, total): ...
    >>> asked(ramp)
    ('step', 'width', 'total')
    """
    settings = options(factory)
    listed = parameters_of(factory).values()
    return tuple(
        p.name
        for p in listed
        if p.name not in settings and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )


def _unknown_fact(said: str, fact: str, declared: Sequence[str]) -> str:
    near = nearest(fact, declared)
    hint = f"; did you mean {near!r}?" if near else "."
    return f"{said}{hint} There are: {', '.join(declared) or 'none'}"


def _summary(made: object) -> str:
    """The first paragraph of its docstring."""
    return " ".join((inspect.getdoc(made) or "").strip().partition("\n\n")[0].split())

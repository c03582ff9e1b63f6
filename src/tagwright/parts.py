"""The folder is the registry: `losses/zlpr.py` is the loss "zlpr", its signature is the schema of its settings."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from tagwright.errors import SettingsError, unknown

# keyword arguments that the program sets itself
RESERVED = {"reduction", "vectors"}
KINDS = ("losses", "targets", "masks", "weights", "embed", "encoders", "heads", "regularise", "schedules", "decide")


class Part(NamedTuple):
    """One part: its folder, its name, the class or function that makes it, and the first line of its file."""

    kind: str
    name: str
    factory: Callable[..., Any]
    summary: str


@cache
def names(kind: str) -> tuple[str, ...]:
    """The parts of a folder, in order: files that do not begin with `_` and hold a part's class or function."""
    package = import_module(f"tagwright.{kind}")
    stems = [m.name for m in iter_modules(package.__path__) if not m.name.startswith("_")]
    return tuple(stem for stem in sorted(stems) if _factory(_module(kind, stem)) is not None)


@cache
def find(kind: str, name: str) -> Part:
    """The part of this name; an unknown one is an error that names the nearest."""
    if name not in names(kind):
        raise SettingsError(unknown("loss" if kind == "losses" else kind.removesuffix("s"), name, names(kind)))
    module = _module(kind, name)
    factory = _factory(module)
    summary = (module.__doc__ or "").strip().splitlines()[0]
    return Part(kind, name, factory, summary)  # type: ignore[arg-type]


def options(factory: Callable[..., Any]) -> dict[str, Any]:
    """Keyword-only arguments with a default: what a user may set.

    >>> def ramp(step, *, start=0.0, total): ...
    >>> options(ramp)
    {'start': 0.0}
    """
    signature = inspect.signature(factory)
    return {
        p.name: p.default
        for p in signature.parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.default is not p.empty and p.name not in RESERVED
    }


def build(kind: str, name: str, settings: Mapping[str, Any], **facts: Any) -> Any:
    """Make a part from its settings; of the facts of the data it gets those its signature asks for."""
    part = find(kind, name)
    faults = check(kind, name, settings)
    if faults:
        raise SettingsError("; ".join(faults))
    wanted = inspect.signature(part.factory).parameters
    return part.factory(**{k: v for k, v in facts.items() if k in wanted}, **settings)


def check(kind: str, name: str, settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with these settings of a part: unknown keys and values of another type than the default's."""
    allowed = options(find(kind, name).factory)
    faults = []
    for key, value in settings.items():
        if key not in allowed:
            faults.append(unknown(f"setting of {name}", key, allowed))
        elif not _fits(value, allowed[key]):
            expected = type(allowed[key]).__name__
            faults.append(f"{name}.{key} must be of type {expected}, got {value!r}")
    return faults


def _fits(value: Any, default: Any) -> bool:
    if default is None or value is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, tuple):
        return isinstance(value, list | tuple)
    return isinstance(value, type(default))


def _module(kind: str, stem: str) -> ModuleType:
    # sys.modules, not attributes: the package binds the function `zlpr` over the submodule `zlpr`
    return import_module(f"tagwright.{kind}.{stem}")


def _factory(module: ModuleType) -> Callable[..., Any] | None:
    """The class a part's file names in `PART`, else the function of the file's name."""
    stem = module.__name__.rpartition(".")[2]
    return getattr(module, "PART", None) or vars(module).get(stem)

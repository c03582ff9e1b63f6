"""Public names that have moved: the old name works for one minor version more, with a warning."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module


def moved(module: str, names: Mapping[str, str], *, removed_in: str) -> Callable[[str], object]:
    """A `__getattr__` for a module: each old name gives the object at its new place.

    A place is written "package.module:name". The warning names it, and the version in which the
    old name goes. Put it at the end of the module:

        __getattr__ = moved(__name__, {"Old": "tagwright.new:New"}, removed_in="0.3")
    """

    def found(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place, _, new = names[name].partition(":")
        said = f"{module}.{name} is now {place}.{new}; the old name goes in version {removed_in}"
        warnings.warn(said, FutureWarning, stacklevel=2)
        return getattr(import_module(place), new)

    return found

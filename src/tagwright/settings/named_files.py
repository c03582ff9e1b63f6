"""Files that settings name: their content decides what a run comes to, their path does not.

Any option of any part may name a file, or the folder of a model, or several with commas between
them. `fit.vectors` names one, too.
"""

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tagwright import registry
from tagwright.settings.schema import Settings
from tagwright.settings.sections import PART_SECTIONS
from tagwright.storage.folder import MANIFEST, sha256

LARGE = 1 << 24  # bytes


def with_contents(settings: Settings) -> dict[str, Any]:
    """The settings as plain values, with a digest in place of the path of every file.

    Settings that name no files come back as `as_dict` has them.
    """
    result = settings.as_dict()
    for section, key, value in _named(settings):
        digests = [_digest(path) for path in _paths(value)]
        if digests:
            result[section] = {**result[section], key: ",".join(digests)}
    return result


def file_digests(settings: Settings) -> list[str]:
    """The digests of all files that the settings name; of a model's folder that of its manifest."""
    return [_digest(path) for _, _, value in _named(settings) for path in _paths(value)]


def _named(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Section, key and value of every option that may name a file: a default never does."""
    chosen = [
        (section, kind, getattr(settings, section)) for section, kind in PART_SECTIONS.items()
    ]
    chosen += [(choice.name, registry.REGULARIZERS, choice) for choice in settings.regularize]
    for section, kind, choice in chosen:
        usual: Mapping[str, Any] = {}
        if choice.name in registry.names(kind):
            usual = registry.options(registry.find(kind, choice.name).factory)
        for key, value in choice.options.items():
            if isinstance(value, str) and value != usual.get(key):
                yield section, key, value
    if settings.fit.vectors:
        yield "fit", "vectors", settings.fit.vectors


def _paths(value: str) -> list[Path]:
    """The files that a value names. An array of vectors has its words in a file beside it; both
    count.
    """
    found = []
    # os.path says no, where Path would raise, of a long text that is no path at all
    names = [value] if os.path.isfile(value) else [name.strip() for name in value.split(",")]
    for name in filter(None, names):
        path = Path(name, MANIFEST) if os.path.isdir(name) else Path(name)
        if os.path.isfile(path):
            beside = (
                [path.with_suffix(".words"), path.with_suffix(".txt")]
                if path.suffix == ".npy"
                else []
            )
            found += [path, *(one for one in beside if one.is_file())]
    return found


def _digest(path: Path) -> str:
    """Of a file as it is now; a large one that did not change is not read again for every run."""
    about = path.stat()
    if about.st_size < LARGE:
        return sha256(path)
    return _kept_digest(path.absolute(), about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=64)
def _kept_digest(path: Path, size: int, changed: int) -> str:
    return sha256(path)

"""Which reader reads a file: each declares its suffixes."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tagwright import registry
from tagwright.data.files.opening import COMPRESSED, require_file
from tagwright.data.readers.reader import Reader
from tagwright.errors import DataError, unknown


def readers() -> dict[str, tuple[registry.Part, ...]]:
    """The readers of every suffix; there should be one. One that is broken is passed over."""
    found: dict[str, tuple[registry.Part, ...]] = {}
    for part in registry.usable(registry.READERS):
        for suffix in _class(part).suffixes:
            found[suffix] = (*found.get(suffix, ()), part)
    return found


def suffix_of(path: Path) -> str:
    """The suffix that says the format: ".csv" for both shop.csv and shop.csv.gz."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return inner.suffix.lower()


def reader_of(path: Path) -> type[Reader]:
    """The reader of a file; an unknown suffix is an error that lists the known ones."""
    known = readers()
    found = known.get(suffix_of(path), ())
    if not found:
        broken = "".join(f"; {said}" for said in registry.broken(registry.READERS).values())
        raise DataError(f"{path.name}: {unknown('suffix', suffix_of(path), known)}{broken}")
    if len(found) > 1:
        said = " and ".join(f"{part.name} of the package {part.package}" for part in found)
        raise DataError(
            f"{path.name}: more than one reader reads {suffix_of(path)}: {said}; uninstall one of"
            " them"
        )
    return _class(found[0])


def read_file(path: Path) -> pa.Table:
    """The raw columns of one file."""
    require_file(path)
    reader = reader_of(path)
    try:
        return reader.read(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def read_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The raw columns of one file, piece by piece where its reader can, else from the whole."""
    require_file(path)
    reader = reader_of(path)
    try:
        yield from reader.batches(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def _class(part: registry.Part) -> type[Reader]:
    return part.factory

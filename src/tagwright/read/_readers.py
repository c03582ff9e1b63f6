"""The folder is the registry: a module with SUFFIXES is a reader, and reads by the function of its name."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import cast

import pyarrow as pa

import tagwright.read
from tagwright.errors import DataError, unknown
from tagwright.read._bytes import COMPRESSED


@cache
def readers() -> dict[str, ModuleType]:
    """Every reader by the suffixes it reads."""
    names = [f"tagwright.read.{module.name}" for module in iter_modules(tagwright.read.__path__)]
    modules = [import_module(name) for name in names if _declares_suffixes(name)]
    return {suffix: module for module in modules for suffix in module.SUFFIXES}


def _declares_suffixes(name: str) -> bool:
    # Read, not imported: the other modules of this package (audit, split) load much that reading a file does not need.
    loader = cast(SourceLoader, cast(ModuleSpec, find_spec(name)).loader)
    return "\nSUFFIXES = " in (loader.get_source(name) or "")


def suffix_of(path: Path) -> str:
    """The suffix that says the format: ".csv" for both shop.csv and shop.csv.gz."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return inner.suffix.lower()


def reader_of(path: Path) -> ModuleType:
    """The reader of a file; an unknown suffix is an error that lists the known ones."""
    known = readers()
    if suffix_of(path) not in known:
        raise DataError(f"{path.name}: {unknown('suffix', suffix_of(path), known)}")
    return known[suffix_of(path)]


def read_file(path: Path) -> pa.Table:
    """The raw columns of one file."""
    module = reader_of(path)
    try:
        table: pa.Table = getattr(module, module.__name__.rpartition(".")[2])(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    return table


def read_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The raw columns of one file, piece by piece where its reader can, else from the whole."""
    module = reader_of(path)
    try:
        yield from module.batches(path) if hasattr(module, "batches") else read_file(path).to_batches()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error

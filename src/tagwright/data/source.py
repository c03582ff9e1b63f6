"""From what a user names (a file, a folder of splits, a known set) to labelled text."""

import os
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Protocol, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from tagwright.data.columns import TASKS, Canonical, canonical
from tagwright.data.dataset import SPLITS, Data, HeadColumns, Task
from tagwright.data.files.faults import Origin
from tagwright.data.find_columns import Names, quoted
from tagwright.data.heads import Heads, canonical_heads
from tagwright.data.readers.by_suffix import read_file, readers, suffix_of
from tagwright.errors import DataError

EMBEDDED = "shop"
BOTH_OF_SHOP = {
    "main": HeadColumns(task="many", columns=("labels",)),
    "tags": HeadColumns(task="tokens", columns=("tags",)),
}
SPELLINGS = {name: name for name in SPLITS} | dict.fromkeys(
    ("valid", "validation", "val", "development"), "dev"
)


class DataGiven(TypedDict, total=False):
    """What is set of a source, as `read_data` takes it."""

    text: Names
    labels: Names
    task: Task | None
    separator: str
    strict: bool
    heads: Heads | None
    optional: bool


class UnderHeads(Protocol):
    """Brings a table into canonical columns by named heads."""

    def __call__(self, table: pa.Table, origin: Origin, *, text: Names = None) -> Canonical:
        """The table, with the columns of every head."""


def read_data(
    source: str | Path,
    *,
    text: Names = None,
    labels: Names = None,
    task: Task | None = None,
    separator: str = "auto",
    strict: bool = False,
    heads: Heads | None = None,
    optional: bool = False,
) -> Data:
    """Labelled text from a file, a folder with train/dev/test files, a name under $TAGWRIGHT_DATA,
    or the set `shop`.

    `text` names one or more columns (a newline joins them), `labels` one column or several 0/1
    columns; several names are a list or a string with commas. `separator` splits label strings:
    "auto" finds it, "none" never splits. Tags of tokens that follow no scheme are mended, or with
    `strict` refused. The name `shop` is always the embedded set; a folder of that name is `./shop`.

    `heads` names several sets of labels, each with `labels` (by default the column of its name),
    `task` and `separator` of its own: `heads={"topic": {}, "urgency": {"labels": "priority",
    "task": "one"}}`. With `optional`, heads whose columns are not there are left out, as long as
    one is there.
    """
    if heads and labels is not None:
        raise DataError("heads have labels of their own; leave out labels beside them")
    under_heads = _under_heads(heads, separator=separator, strict=strict, optional=optional)
    if source == EMBEDDED:
        return _embedded(text, labels, task, under_heads)
    path = locate(source)
    files = split_files(path) if path.is_dir() else [("all", path)]
    tables = [_rows(file) for _, file in files]
    table = _concatenated(tables, [file for _, file in files])
    origin = Origin(tuple(file.name for _, file in files), tuple(part.num_rows for part in tables))
    if under_heads:
        made = under_heads(table, origin, text=text)
        if task not in (None, made.task):
            raise DataError(
                f"{origin}: the heads have {TASKS[made.task]}, and not {task}; leave out the task"
            )
    else:
        made = canonical(
            table, origin, text=text, labels=labels, task=task, separator=separator, strict=strict
        )
    notes = {
        part.schema.metadata[b"found"].decode()
        for part in tables
        if b"found" in (part.schema.metadata or {})
    }
    if not path.is_dir() and "split" in table.column_names:
        parts, said = _by_column(made.table, table["split"])
        notes.add(said)
    else:
        parts = _by_file(made.table, [split for split, _ in files], origin)
    return _data(str(source), parts, made, notes)


def locate(source: str | Path) -> Path:
    """The file or folder a source names: a path, else a name under $TAGWRIGHT_DATA; else an error
    with near names.
    """
    home = Path(os.environ.get("TAGWRIGHT_DATA", os.devnull))
    here = Path(source)
    for path in (here, home / source, *(home / f"{source}{suffix}" for suffix in readers())):
        if path.exists():
            return path
    folders = [folder for folder in (here.parent, home) if folder.is_dir()]
    near = get_close_matches(
        here.name, [EMBEDDED, *(entry.name for folder in folders for entry in folder.iterdir())]
    )
    hint = f"; did you mean {quoted(near)}?" if near else "."
    raise DataError(
        f"{source}: no such file, folder or known set{hint} Known sets: {EMBEDDED} and those in"
        " $TAGWRIGHT_DATA"
    )


def split_files(folder: Path) -> list[tuple[str, Path]]:
    """The files of train, dev and test, such as train.csv, valid.jsonl or
    test-00000-of-00002.parquet, in order.
    """
    known = readers()
    found = [
        (_split_of(path), path)
        for path in sorted(folder.iterdir())
        if path.is_file() and suffix_of(path) in known
    ]
    files = [(split, path) for wanted in SPLITS for split, path in found if split == wanted]
    if "train" not in (split for split, _ in files):
        names = quoted(sorted(path.name for path in folder.iterdir())[:8])
        raise DataError(
            f"{folder}: no train file among {names or 'no files'}; expected train.csv (or"
            f" {', '.join(known)})"
        )
    for wanted in SPLITS:
        suffixes = sorted({suffix_of(path) for split, path in files if split == wanted})
        if len(suffixes) > 1:
            raise DataError(f"{folder}: {wanted} comes as {' and as '.join(suffixes)}; keep one")
    return files


def _split_of(path: Path) -> str | None:
    stem = path.name.casefold()
    return next(
        (
            split
            for name, split in SPELLINGS.items()
            if stem.startswith(tuple(f"{name}{mark}" for mark in ".-_"))
        ),
        None,
    )


def _rows(path: Path) -> pa.Table:
    table = read_file(path)
    if not table.num_rows:
        raise DataError(
            f"{path.name}, line 1: a header ({quoted(table.column_names)}) but no rows after it"
        )
    return table


def _concatenated(tables: list[pa.Table], files: list[Path]) -> pa.Table:
    first = tables[0].column_names
    for table, file in zip(tables, files):
        differing = sorted(set(first) ^ set(table.column_names))
        if differing:
            which = (
                f"columns {quoted(differing)} are in only one of {files[0].name} and {file.name}"
            )
            raise DataError(f"{file.name}: {which}; the files of a set must have the same columns")
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise DataError(
            f"{files[0].parent}: a column has different types in the files of the set ({error})"
        ) from error


def _by_file(made: pa.Table, splits: list[str], origin: Origin) -> dict[str, pa.Table]:
    starts = [0, *accumulate(origin.rows)]
    cuts = [
        (split, made.slice(start, rows)) for split, start, rows in zip(splits, starts, origin.rows)
    ]
    names = dict.fromkeys(splits)
    return {
        name: pa.concat_tables([part for split, part in cuts if split == name]) for name in names
    }


def _by_column(made: pa.Table, column: pa.ChunkedArray) -> tuple[dict[str, pa.Table], str]:
    """The table cut by its column `split`, which must know train and hold no word of another
    kind.
    """
    words = {
        word: SPELLINGS.get(str(word).strip().casefold()) for word in pc.unique(column).to_pylist()
    }
    if None in words.values() or "train" not in words.values():
        return {
            "all": made
        }, f"splits: none; column 'split' holds more or other words than {', '.join(SPLITS)}"
    members = {name: [word for word, split in words.items() if split == name] for name in SPLITS}
    parts = {
        name: made.filter(pc.is_in(column, pa.array(members[name], column.type)))
        for name in SPLITS
        if members[name]
    }
    return parts, f"splits: column 'split' ({', '.join(parts)})"


def _data(source: str, parts: dict[str, pa.Table], made: Canonical, notes: set[str]) -> Data:
    return Data(
        tables=parts,
        task=made.task,
        source=source,
        text_columns=made.text_columns,
        label_columns=made.label_columns,
        separator=made.separator,
        heads=dict(made.heads),
        found=(*sorted(notes), *made.found),
    )


def _under_heads(
    heads: Heads | None, *, separator: str, strict: bool, optional: bool
) -> UnderHeads | None:
    """What brings a table into canonical columns where there are named heads."""
    if not heads:
        return None
    return partial(
        canonical_heads, heads=heads, separator=separator, strict=strict, optional=optional
    )


def _embedded(
    text: Names, labels: Names, task: Task | None, under_heads: UnderHeads | None
) -> Data:
    if text is not None or labels is not None:
        raise DataError(
            f"the embedded set {EMBEDDED!r} has its own columns; leave text and labels out"
        )
    from tagwright.data.shop import shop  # made only when asked for

    data: Data = shop()
    if under_heads:
        return _cut_anew(data, under_heads)
    if task is None:
        return data
    return replace(data, task=task, heads=BOTH_OF_SHOP if task == "both" else {})


def _cut_anew(data: Data, under_heads: UnderHeads) -> Data:
    """The embedded set with the columns of named heads, its parts the same."""
    table, sizes = (
        pa.concat_tables(data.tables.values()),
        tuple(part.num_rows for part in data.tables.values()),
    )
    made = under_heads(table, Origin((EMBEDDED,), (table.num_rows,)))
    parts = _by_file(made.table, list(data.tables), Origin(tuple(data.tables), sizes))
    return _data(EMBEDDED, parts, made._replace(text_columns=()), set())

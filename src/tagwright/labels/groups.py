"""Groups of labels that belong together: read off their names (`outdoor/tent`), or given as a table."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tagwright.errors import DataError, SettingsError

# The longer sign stands before the shorter one it contains: of equally good separators the first wins.
SEPARATORS = ("::", ":", "/", ".", "__", " > ", "-", "_")


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """Which labels form a group: label i belongs to names[group_ids[i]], or stands alone where the id is -1."""

    names: tuple[str, ...]  # groups with at least two labels, alphabetical
    group_ids: np.ndarray  # int64 (L,)
    separator: str | None = None  # None: no separator was found, or the groups came from a table
    strangers: tuple[str, ...] = ()  # labels of the table that are not among the names: perhaps misspelt

    def members(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """The labels of every group; `labels` in the order the groups were made from."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for label, group in zip(labels, self.group_ids.tolist()):
            if group >= 0:
                found[self.names[group]].append(label)
        return found


def groups_from_names(names: Sequence[str], separator: str | None = None) -> Groups:
    """Group labels by what stands before the first separator; without one, the best separator is looked for.

    A separator is taken when it puts at least half of the labels beside another one and finds more than one group.
    A label without the separator, or without a companion, stands alone. No separator found: all stand alone.

    >>> groups = groups_from_names(["cs.AI", "cs.LG", "stat.ML", "stat.AP", "hep-th"])
    >>> groups.separator, groups.names, groups.group_ids.tolist()
    ('.', ('cs', 'stat'), [0, 0, 1, 1, -1])
    """
    if separator is not None:
        prefixes = _prefixes(names, separator)
        if not any(prefixes):
            raise SettingsError(
                f"no label has the separator {separator!r} inside its name; labels look like {list(names[:3])}. "
                "Give another separator, or none to have it found"
            )
        return _grouped(prefixes, separator=separator)
    best = max(SEPARATORS, key=lambda candidate: _companioned(_prefixes(names, candidate)))
    prefixes = _prefixes(names, best)
    sensible = len(set(filter(None, prefixes))) >= 2 and 2 * _companioned(prefixes) >= len(names)
    return _grouped(prefixes if sensible else [None] * len(names), separator=best if sensible else None)


def groups_from_table(path: Path, names: Sequence[str]) -> Groups:
    """Read groups from a CSV file with the columns `label` and `group`, joined by name.

    A label that the table does not name, or whose group has no other label, stands alone.
    """
    group_of: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not {"label", "group"} <= set(reader.fieldnames or ()):
            raise DataError(
                f"{path}, line 1: the header must name label and group, found {reader.fieldnames}; add them"
            )
        for row in reader:
            label, group = row["label"], row["group"]
            if not label or not group:
                raise DataError(f"{path}, line {reader.line_num}: label or group is empty; fill it in or drop the line")
            if group_of.setdefault(label, group) != group:
                raise DataError(
                    f"{path}, line {reader.line_num}: {label!r} is in {group_of[label]!r} and in {group!r}; keep one"
                )
    return _joined(path, names, group_of)


def _joined(path: Path, names: Sequence[str], group_of: Mapping[str, str]) -> Groups:
    strangers = tuple(sorted(set(group_of) - set(names)))
    if len(strangers) == len(group_of):
        raise DataError(
            f"{path}: none of its labels is in the data; it has {strangers[:3]}, the data {list(names[:3])}"
        )
    return _grouped([group_of.get(name) for name in names], strangers=strangers)


def _prefixes(names: Sequence[str], separator: str) -> list[str | None]:
    """What stands before the first separator; None where nothing stands before or after it."""
    cuts = [name.partition(separator) for name in names]
    return [head.strip() if head.strip() and tail.strip() else None for head, _, tail in cuts]


def _companioned(prefixes: Sequence[str | None]) -> int:
    """How many labels share their prefix with another."""
    return sum(count for prefix, count in Counter(prefixes).items() if prefix is not None and count > 1)


def _grouped(
    group_of_label: Sequence[str | None], *, separator: str | None = None, strangers: tuple[str, ...] = ()
) -> Groups:
    counts = Counter(group_of_label)
    names = tuple(sorted(name for name, count in counts.items() if name is not None and count > 1))
    index = {name: i for i, name in enumerate(names)}
    ids = np.array([-1 if name is None else index.get(name, -1) for name in group_of_label], np.int64)
    return Groups(names=names, group_ids=ids, separator=separator, strangers=strangers)

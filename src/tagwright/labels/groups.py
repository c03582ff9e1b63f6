"""Groups of labels that belong together: read off their names (`outdoor/tent`), from a file, or
given as lists.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from tagwright.errors import DataError, SettingsError, nearest, some
from tagwright.labels.group_files import read_groups

# The longer sign stands before the shorter one it contains: of equally good separators the first
# wins.
SEPARATORS = ("::", ":", "/", ".", "__", " > ", "-", "_")
PREFIX = "prefix"


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """Which labels form a group. A label may stand in several groups, or in none."""

    names: tuple[str, ...]  # groups with at least two labels, alphabetical
    membership: csr_array  # bool (L, G), sparse: with a million labels (L, G) is large
    separator: str | None = None  # None: no separator was found, or the groups were given
    # labels of the groups that are not among the names: perhaps misspelt
    strangers: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        groups: Mapping[str, Iterable[str]],
        labels: Sequence[str],
        *,
        separator: str | None = None,
    ) -> "Groups":
        """Groups given as lists, joined by name; one without two known labels says nothing and is
            left out.

            >>> lists = {"wet": ["rain", "sea"], "big": ["sea", "sun", "sky"]}
        >>> groups = Groups.of(lists, ["rain", "sea", "sun"])
            >>> groups.members(["rain", "sea", "sun"]), groups.strangers
            ({'big': ['sea', 'sun'], 'wet': ['rain', 'sea']}, ('sky',))
        """
        index = {label: i for i, label in enumerate(labels)}
        found = {
            name: sorted({index[label] for label in members if label in index})
            for name, members in groups.items()
        }
        names = tuple(sorted(name for name, ids in found.items() if len(ids) > 1))
        rows = np.array([i for name in names for i in found[name]], np.int64)
        columns = np.repeat(np.arange(len(names)), [len(found[name]) for name in names])
        membership = csr_array(
            (np.ones(len(rows), bool), (rows, columns)), shape=(len(labels), len(names))
        )
        strangers = {label for members in groups.values() for label in members} - index.keys()
        return cls(
            names=names,
            membership=membership,
            separator=separator,
            strangers=tuple(sorted(strangers)),
        )

    def members(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """The labels of every group; `labels` in the order the groups were made from."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for label, group in zip(*self.membership.nonzero()):
            found[self.names[group]].append(labels[label])
        return found

    def shared(self, labels: Sequence[str]) -> list[str]:
        """The labels that stand in two groups or more."""
        return [
            labels[label] for label in np.flatnonzero(np.diff(self.membership.indptr) > 1).tolist()
        ]


def groups_of(choice: str, labels: Sequence[str], *, separator: str = "auto") -> Groups:
    """Groups by `choice`: "prefix", or the path of a file. None found, or a separator for a file,
    is an error.
    """
    if choice != PREFIX:
        if separator != "auto":
            raise SettingsError(
                f"a separator is for groups by {PREFIX}; leave it out, or the file {choice}"
            )
        return groups_from_file(Path(choice), labels)
    groups = groups_from_names(labels, None if separator == "auto" else separator)
    if not groups.names:
        raise SettingsError(
            "the names of the labels show no groups (like NUM:dist or cs.LG), such as"
            f" {some(labels, most=3)}; give the groups as a file"
        )
    return groups


def groups_from_names(names: Sequence[str], separator: str | None = None) -> Groups:
    """Group labels by what stands before the first separator; without one, the best separator is
    looked for.

    A separator is taken when it puts at least half of the labels beside another one and finds more
    than one group. A label without the separator, or without a companion, stands alone. No
    separator found: all stand alone.

    >>> labels = ["cs.AI", "cs.LG", "stat.ML", "stat.AP", "hep-th"]
    >>> groups = groups_from_names(labels)
    >>> groups.separator, groups.members(labels)
    ('.', {'cs': ['cs.AI', 'cs.LG'], 'stat': ['stat.ML', 'stat.AP']})
    """
    if separator is not None:
        prefixes = _prefixes(names, separator) if separator else []  # nothing cannot be cut at
        if not any(prefixes):
            raise SettingsError(
                f"no label has the separator {separator!r} inside its name; labels look like"
                f" {list(names[:3])}. Give another separator, or none to have it found"
            )
        return Groups.of(_by_prefix(names, prefixes), names, separator=separator)
    best = max(SEPARATORS, key=lambda candidate: _companioned(_prefixes(names, candidate)))
    prefixes = _prefixes(names, best)
    sensible = len(set(filter(None, prefixes))) >= 2 and 2 * _companioned(prefixes) >= len(names)
    return (
        Groups.of(_by_prefix(names, prefixes), names, separator=best)
        if sensible
        else Groups.of({}, names)
    )


def groups_from_file(path: Path, labels: Sequence[str]) -> Groups:
    """Groups from a CSV or TOML file (`group_files`), joined by name. No group of two known labels
    is an error.
    """
    given = read_groups(path)
    groups = Groups.of(given, labels)
    if groups.names:
        return groups
    if set(groups.strangers) == {label for members in given.values() for label in members}:
        guesses = [f"{label!r}{_guess(label, labels)}" for label in groups.strangers]
        raise DataError(
            f"{path}: none of its labels is in the data: {some(guesses)}. The data have"
            f" {some(labels)}"
        )
    strangers = f"; the data do not have {some(groups.strangers)}" if groups.strangers else ""
    raise SettingsError(
        f"{path}: no group has two labels of the data{strangers}; put at least two into one, or"
        f" take {PREFIX}"
    )


def said(groups: Groups, labels: Sequence[str]) -> tuple[str, ...]:
    """What a person should know of the groups, a sentence each."""
    shared, strangers = groups.shared(labels), groups.strangers
    sentences = {
        f"labels in several groups, excused in each of them: {some(shared)}": shared,
        f"labels of the groups that are not in train, left out: {some(strangers)}": strangers,
    }
    return tuple(sentence for sentence, about in sentences.items() if about)


def _guess(label: str, labels: Sequence[str]) -> str:
    near = nearest(label, labels)
    return f" (did you mean {near!r}?)" if near else ""


def _prefixes(names: Sequence[str], separator: str) -> list[str | None]:
    """What stands before the first separator; None where nothing stands before or after it."""
    cuts = [name.partition(separator) for name in names]
    return [head.strip() if head.strip() and tail.strip() else None for head, _, tail in cuts]


def _companioned(prefixes: Sequence[str | None]) -> int:
    """How many labels share their prefix with another."""
    return sum(
        count for prefix, count in Counter(prefixes).items() if prefix is not None and count > 1
    )


def _by_prefix(names: Sequence[str], prefixes: Sequence[str | None]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, prefix in zip(names, prefixes):
        if prefix is not None:
            found[prefix].append(name)
    return found

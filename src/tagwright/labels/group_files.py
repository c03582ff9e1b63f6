"""Files of groups: CSV with the columns label and group, or TOML with a table [groups] of lists, to
be edited.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tagwright.errors import DataError, SettingsError, nearest, unknown
from tagwright.storage import toml
from tagwright.storage.files import write_text

Lists = dict[str, list[str]]  # group -> its labels


def read_groups(path: Path) -> Lists:
    """The groups of a file, as they stand there. A label may stand in several."""
    readers = {".csv": _from_csv, ".toml": _from_toml}
    if path.suffix.lower() not in readers:
        hint = "; did you mean 'prefix'?" if nearest(str(path), ["prefix"]) else ""
        raise SettingsError(
            f"groups come from the labels' prefix, or a .csv or .toml file; got {str(path)!r}{hint}"
        )
    return readers[path.suffix.lower()](path, read_text(path, "groups"))


def read_text(path: Path, what: str) -> str:
    """The text of a file of `what`, which must be UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: the file of {what} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None


def write_groups(
    path: Path,
    groups: Mapping[str, Sequence[str]],
    *,
    about: Iterable[str] = (),
    beside: Mapping[str, Iterable[str]],
) -> None:
    """Write TOML: `about` as comments at its head, and what `beside` says of a group as comments
    above it.
    """
    lines = [*(f"# {line}" for line in about), "", "[groups]"]
    for name, labels in groups.items():
        lines += [*(f"# {line}" for line in beside.get(name, ())), f"{toml.scalar(name)} = ["]
        lines += [*(f"  {toml.scalar(label)}," for label in labels), "]", ""]
    write_text(path, "\n".join(lines))


def _from_csv(path: Path, text: str) -> Lists:
    reader, found = csv.DictReader(text.splitlines(keepends=True)), Lists()
    if not {"label", "group"} <= set(reader.fieldnames or ()):
        raise DataError(
            f"{path}, line 1: the header must name label and group, found {reader.fieldnames}; add"
            " them"
        )
    for row in reader:
        label, group = ((row[column] or "").strip() for column in ("label", "group"))
        if not label or not group:
            raise DataError(
                f"{path}, line {reader.line_num}: label or group is empty; fill it in or drop the"
                " line"
            )
        found.setdefault(group, []).append(label)
    return found


def _from_toml(path: Path, text: str) -> Lists:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: {error}") from None
    for name in content:
        if name != "groups":
            raise DataError(f"{path}: {unknown('table', name, ['groups'])}")
    groups = content.get("groups")
    if not isinstance(groups, dict) or not groups:
        raise DataError(
            f'{path}: expected a table [groups] with lines like name = ["label", "label"]'
        )
    for name, labels in groups.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise DataError(
                f"{path}: group {name!r} must be a list of labels in quotes, got {labels!r}; "
                "a name with dots needs quotes"
            )
    return groups

"""`tagwright parts`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Required, TypeAlias, TypedDict

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.registry import KindName


class About(TypedDict, total=False):
    """What is told of a part: what it is, its settings, the package that it comes from."""

    package: str
    summary: Required[str]
    settings: Required[Mapping[str, object]]
    broken: bool


Listed: TypeAlias = dict[str, dict[str, About]]  # by kind and name


def parts(
    kind: Annotated[
        str | None, typer.Argument(help="One kind only, such as losses.", show_default=False)
    ] = None,
    json: o.Json = False,
) -> None:
    """List every loss, target, encoder, … with one line and its settings.

    Examples:

        tagwright parts

        tagwright parts encoders
    """
    from rich.table import Table

    from tagwright.cli import _show
    from tagwright.registry import OURS

    listed = _listed(kind)
    if json:
        _show.emit(listed)
        return
    for name, members in listed.items():
        table = Table(
            title=name, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
        )
        columns = ("name", "made of") if name == "objectives" else ("name", "what", "settings")
        for column in columns:
            table.add_column(column, overflow="fold")
        for member, about in members.items():
            settings = " ".join(f"{k}={v}" for k, v in about["settings"].items())
            if about.get("package", OURS) != OURS:
                member = f"{member} ({about['package']})"
            table.add_row(*(member, about["summary"], settings)[: len(columns)])
        _show.show(table)


def _listed(kind: str | None) -> Listed:
    """Every part of the kind, or of all kinds; `none` where a part may be left out."""
    from tagwright import registry
    from tagwright.errors import SettingsError, unknown
    from tagwright.settings import presets
    from tagwright.settings.schema import OPTIONAL
    from tagwright.settings.sections import PART_SECTIONS

    kinds = [*registry.KINDS, "objectives"]
    if kind is not None and kind not in kinds:
        raise SettingsError(unknown("kind of part", kind, kinds))
    optional = {PART_SECTIONS[section] for section in OPTIONAL}
    listed: Listed = {}
    for one in registry.KINDS if kind is None else [one for one in registry.KINDS if one == kind]:
        listed[one] = {"none": {"summary": "Left out.", "settings": {}}} if one in optional else {}
        listed[one] |= _of_kind(one)
    if kind in (None, "objectives"):
        made = {name: presets.preset(name) for name in presets.names()}
        listed["objectives"] = {
            name: {"summary": _choices(row), "settings": row} for name, row in made.items()
        }
    return listed


def _of_kind(kind: "KindName[object, object]") -> dict[str, About]:
    """Every part of a kind with its summary, its settings and the package that it comes from; why
    one is broken.
    """
    from tagwright import registry

    broken = registry.broken(kind)
    listed: dict[str, About] = {}
    for name in registry.names(kind):
        package = registry.third_party(kind, name) or registry.OURS
        if name in broken:
            listed[name] = {
                "package": package,
                "summary": f"Broken: {broken[name]}",
                "settings": {},
                "broken": True,
            }
        else:
            part = registry.find(kind, name)
            listed[name] = {
                "package": package,
                "summary": part.summary,
                "settings": part.settings,
            }
    return listed


def _choices(row: Mapping[str, object]) -> str:
    """The choices of a preset that are more than plain: "loss bce (labels=mean), mask groups"."""
    from tagwright.settings.presets import PLAIN

    words = []
    for choice in sorted(row):
        value = row[choice]
        table: dict[str, object] = value if isinstance(value, dict) else {"name": value}
        if table != {"name": PLAIN.get(choice)}:
            more = ", ".join(f"{k}={v}" for k, v in table.items() if k != "name")
            told = (choice, table.get("name"), more and f"({more})")
            words.append(" ".join(str(word) for word in told if word))
    return ", ".join(words)

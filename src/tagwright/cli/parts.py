"""`tagwright parts`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagwright.cli import _options as o

if TYPE_CHECKING:
    from tagwright.registry import KindName

Listed = dict[str, dict[str, dict[str, Any]]]  # kind -> name -> summary, settings


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


def _of_kind(kind: "KindName[object, object]") -> dict[str, dict[str, Any]]:
    """Every part of a kind with its summary, its settings and the package that it comes from; why
    one is broken.
    """
    from tagwright import registry

    broken = registry.broken(kind)
    listed: dict[str, dict[str, Any]] = {}
    for name in registry.names(kind):
        about: dict[str, Any] = {"package": registry.third_party(kind, name) or registry.OURS}
        if name in broken:
            listed[name] = {
                **about,
                "summary": f"Broken: {broken[name]}",
                "settings": {},
                "broken": True,
            }
        else:
            part = registry.find(kind, name)
            listed[name] = {**about, "summary": part.summary, "settings": part.settings}
    return listed


def _choices(row: Mapping[str, Any]) -> str:
    """The choices of a preset that are more than plain: "loss bce (labels=mean), mask groups"."""
    from tagwright.settings.presets import PLAIN

    words = []
    for choice in sorted(row):
        value = row[choice] if isinstance(row[choice], dict) else {"name": row[choice]}
        if value != {"name": PLAIN.get(choice)}:
            more = ", ".join(f"{k}={v}" for k, v in value.items() if k != "name")
            words.append(" ".join(filter(None, (choice, value.get("name"), more and f"({more})"))))
    return ", ".join(words)

"""`tagwright parts`."""

from typing import Annotated

import typer

from tagwright.cli import _options as o


def parts(
    kind: Annotated[str | None, typer.Argument(help="One kind only, such as losses.", show_default=False)] = None,
    json: o.Json = False,
) -> None:
    """List every loss, target, encoder, … with one line and its settings.

    Examples:

        tagwright parts

        tagwright parts encoders
    """
    from rich.table import Table

    from tagwright import parts as registry
    from tagwright import presets
    from tagwright.cli import _show
    from tagwright.errors import SettingsError, unknown

    kinds = [*registry.KINDS, "objectives"]
    if kind is not None and kind not in kinds:
        raise SettingsError(unknown("kind of part", kind, kinds))
    found = {k: [registry.find(k, n) for n in registry.names(k)] for k in registry.KINDS if kind in (None, k)}
    if json:
        listed = {
            k: {p.name: {"summary": p.summary, "settings": registry.options(p.factory)} for p in v}
            for k, v in found.items()
        }
        _show.emit({**listed, **({"objectives": list(presets.names())} if kind in (None, "objectives") else {})})
        return
    for name, members in found.items():
        table = Table(title=name, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
        for column in ("name", "what", "settings"):
            table.add_column(column, overflow="fold")
        for part in members:
            table.add_row(
                part.name, part.summary, " ".join(f"{k}={v}" for k, v in registry.options(part.factory).items())
            )
        _show.show(table)
    if kind in (None, "objectives"):
        _show.say(f"objectives: {', '.join(presets.names())}")

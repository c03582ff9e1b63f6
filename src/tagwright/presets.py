"""Presets: a paper's objective as a row of choices. A preset named like a loss is that loss alone."""

from tagwright import parts
from tagwright.errors import SettingsError, unknown

PLAIN = {"targets": "hard", "mask": "none", "weights": "none"}

PRESETS: dict[str, dict[str, object]] = {
    "maskloss-label": {"loss": {"name": "bce", "labels": "mean"}, "mask": "groups"},
}


def names() -> tuple[str, ...]:
    """Every objective that `--objective` takes."""
    return tuple(sorted({*parts.names("losses"), *PRESETS}))


def preset(name: str) -> dict[str, object]:
    """The choices behind a name.

    >>> preset("zlpr")["loss"], preset("zlpr")["mask"]
    ('zlpr', 'none')
    """
    if name in PRESETS:
        return {**PLAIN, **PRESETS[name]}
    if name in parts.names("losses"):
        return {**PLAIN, "loss": name}
    raise SettingsError(unknown("objective", name, names()))

"""What regularizers ask of the settings, before anything is trained."""

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.settings.schema import Settings


def require_chances(name: str, *heads: Settings) -> None:
    """Refuse a loss whose logits give no probabilities to compare, and a head that makes no
    logits.
    """
    for settings in heads:
        if settings.head.options.get("chunk"):
            raise SettingsError(
                f"{name} compares all logits of a text, and a head in chunks makes none; leave"
                " head.chunk out"
            )
        if settings.link == "none":
            known = [
                one.name for one in registry.usable(registry.LOSSES) if one.factory.link != "none"
            ]
            raise SettingsError(
                f"{name} compares probabilities, and {settings.loss.name}'s logits are only an"
                f" order; take a loss that has some: {', '.join(known)}"
            )


def require_range(
    name: str, *, above: dict[str, float] | None = None, least: dict[str, float] | None = None
) -> None:
    """Refuse settings that are not above 0, or less than 0, all at once."""
    faults = [
        f"{name}.{key} must be above 0, got {value}"
        for key, value in (above or {}).items()
        if not value > 0
    ]
    faults += [
        f"{name}.{key} must be at least 0, got {value}"
        for key, value in (least or {}).items()
        if not value >= 0
    ]
    if faults:
        raise SettingsError("; ".join(faults))

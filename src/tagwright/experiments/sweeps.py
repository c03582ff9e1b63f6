"""Objectives with a setting that goes through several values."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tagwright.errors import SettingsError, unknown
from tagwright.experiments.recipe import Variant
from tagwright.settings.merge import assigned


class SweptSetting(NamedTuple):
    """The setting that an objective goes through, and the value of each of its names."""

    setting: str
    values: Mapping[str, float]


def swept_variants(
    objectives: Sequence[str], sweep: Sequence[str]
) -> tuple[list[Variant], dict[str, SweptSetting]]:
    """A variant an objective, or one for each value of its sweep; a sweep is written
    objective:section.key=a,b,c.

    >>> variants, swept = swept_variants(["bce", "focal"], ["focal:loss.gamma=1,2"])
    >>> [variant.name for variant in variants]
    ['bce', 'focal gamma 1', 'focal gamma 2']
    """
    swept: dict[str, SweptSetting] = {}
    settings: dict[str, list[Variant]] = {}
    for text in sweep:
        objective, _, rest = text.partition(":")
        setting, _, listed = rest.partition("=")
        words = [word.strip() for word in listed.split(",") if word.strip()]
        if "." not in setting or not words:
            raise SettingsError(
                f"a sweep is written objective:section.key=value,value; got {text!r}"
            )
        if objective not in objectives:
            raise SettingsError(unknown("objective of --sweep", objective, objectives))
        if objective == objectives[0] or objective in swept:
            which = "the baseline" if objective == objectives[0] else "one that is swept already"
            raise SettingsError(
                f"{objective} is {which}; sweep another objective, one setting each"
            )
        option = setting.partition(".")[2]
        names = {f"{objective} {option} {word}": word for word in words}
        try:
            swept[objective] = SweptSetting(
                setting, {name: float(word) for name, word in names.items()}
            )
        except ValueError:
            raise SettingsError(f"a sweep goes through numbers; got {text!r}") from None
        settings[objective] = [
            _variant(name, objective, assigned([f"{setting}={word}"]))
            for name, word in names.items()
        ]
    return [
        one for name in objectives for one in settings.get(name, [_variant(name, name, {})])
    ], swept


def _variant(name: str, objective: str, settings: Mapping[str, object]) -> Variant:
    return Variant(name=name, family=objective, settings={**settings, "objective": objective})

"""Model folders that an older version wrote: what this version writes and they do not hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from tagwright.models.build import HeadPart, described
from tagwright.settings.inference import InferenceSettings, Record, inference_of
from tagwright.settings.merge import settings_in
from tagwright.settings.schema import Settings, resolve


@dataclass(frozen=True, kw_only=True)
class Migrated:
    """What a folder of format 1 says by its settings alone; it does not know what was given and
    what was default.
    """

    settings: Settings
    written: Mapping[str, object]

    @property
    def inference(self) -> InferenceSettings:
        """What inference needs."""
        return inference_of(self.settings)

    @property
    def record(self) -> Record:
        """How it was trained."""
        return Record(given=self.written, resolved=self.written)

    def head(self, name: str) -> HeadPart:
        """What is in `head.json` from format 2 on."""
        return described(self.settings.of(name))


def migrated(text: str) -> Migrated:
    """From the resolved settings in `settings.toml` of a folder of format 1."""
    written = settings_in(text)
    both = written.get("data", {}).get("task") == "both"
    return Migrated(settings=resolve(written, "both" if both else "many"), written=written)

"""What a trained model needs in order to answer, apart from the settings it was trained with."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from tagwright.sections import DataSettings, SplitSettings
from tagwright.settings import Choice

if TYPE_CHECKING:
    from tagwright.settings import Settings


@dataclass(frozen=True, kw_only=True)
class InferenceSettings:
    """The encoder, and how texts are read, cut and shortened."""

    encoder: Choice
    data: DataSettings = field(default_factory=DataSettings)
    limit: int = 512  # tokens of a text
    precision: str = "auto"
    heads: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # where labels of several heads were read

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        data = {key: value for key, value in asdict(self.data).items() if value is not None}
        plain = {"data": data, "limit": self.limit, "precision": self.precision, "heads": dict(self.heads)}
        return {"encoder": choice_dict(self.encoder), **plain}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "InferenceSettings":
        """From what `as_dict` wrote."""
        encoder, data = choice_of(content["encoder"]), DataSettings(**content["data"])
        heads = content.get("heads", {})
        return cls(encoder=encoder, data=data, limit=content["limit"], precision=content["precision"], heads=heads)


def inference_of(settings: "Settings") -> InferenceSettings:
    """Those of a model that is trained with these settings."""
    chosen, heads = settings.fit, {name: head.own.source for name, head in settings.heads.items()}
    return InferenceSettings(
        encoder=settings.encoder,
        data=settings.data,
        limit=chosen.limit,
        precision=chosen.precision,
        heads={name: source for name, source in heads.items() if source},
    )


@dataclass(frozen=True, kw_only=True)
class Record:
    """How a model was trained: what was given, and what it resolved to. It is shown and given back, never validated."""

    given: Mapping[str, Any] = field(default_factory=dict)
    resolved: Mapping[str, Any] = field(default_factory=dict)

    @property
    def objective(self) -> str:
        """Its name, as a person chose or was given it."""
        return str(self.resolved.get("objective", "unknown"))

    @property
    def split(self) -> SplitSettings:
        """How its data were split, as far as this version knows the settings."""
        known, found = {one.name for one in fields(SplitSettings)}, self.resolved.get("split", {})
        return SplitSettings(**{key: value for key, value in found.items() if key in known})

    @property
    def refitted(self) -> bool:
        """Whether it was trained on dev as well."""
        return bool(self.resolved.get("fit", {}).get("refit", False))


def choice_dict(choice: Choice) -> dict[str, Any]:
    """A part and its options, ready for JSON."""
    return {"name": choice.name, "options": dict(choice.options)}


def choice_of(content: Mapping[str, Any]) -> Choice:
    """From what `choice_dict` wrote; lists are tuples again."""
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in content["options"].items()}
    return Choice(name=content["name"], options=options)

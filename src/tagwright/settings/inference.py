"""What a trained model needs in order to answer, apart from the settings it was trained with."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tagwright.settings.renamed import renamed
from tagwright.settings.schema import Choice
from tagwright.settings.sections import DataSettings, FitSettings, SplitSettings, read_section
from tagwright.storage.files import value_of

if TYPE_CHECKING:
    from tagwright.settings.schema import Settings

FARTHEST = 2**31  # token of a text that a model may say it reads


@dataclass(frozen=True, kw_only=True)
class InferenceSettings:
    """The encoder, and how texts are read, cut and shortened."""

    encoder: Choice
    data: DataSettings = field(default_factory=DataSettings)
    limit: int = 512  # tokens of a text
    precision: str = "auto"
    # where labels of several heads were read
    heads: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        data = {key: value for key, value in asdict(self.data).items() if value is not None}
        plain = {
            "data": data,
            "limit": self.limit,
            "precision": self.precision,
            "heads": dict(self.heads),
        }
        return {"encoder": choice_dict(self.encoder), **plain}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "InferenceSettings":
        """From what `as_dict` wrote; what is wrong with it is a ValueError."""
        faults: list[str] = []
        data = read_section("data", DataSettings, value_of(content, "data", dict), faults)
        fit = {name: content[name] for name in ("limit", "precision")}
        chosen: FitSettings = read_section("fit", FitSettings, fit, faults)
        if chosen.limit > FARTHEST:
            faults.append(f"limit must be at most {FARTHEST}, got {chosen.limit}")
        if faults:
            raise ValueError("; ".join(faults))
        heads = {
            name: _texts(source, name)
            for name, source in value_of({"heads": {}, **content}, "heads", dict).items()
        }
        return cls(
            encoder=choice_of(content["encoder"]),
            data=data,
            limit=chosen.limit,
            precision=chosen.precision,
            heads=heads,
        )


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
    """How a model was trained: what was given, and what it resolved to. It is shown and given back,
    never validated.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    resolved: Mapping[str, Any] = field(default_factory=dict)

    @property
    def objective(self) -> str:
        """Its name, as a person chose or was given it."""
        return str(self.resolved.get("objective", "unknown"))

    @property
    def split(self) -> SplitSettings:
        """How its data were split, as far as this version knows the settings."""
        found: SplitSettings = read_section("split", SplitSettings, self._section("split"), [])
        return found

    @property
    def refitted(self) -> bool:
        """Whether it was trained on dev as well."""
        return bool(self._section("fit").get("refit", False))

    def _section(self, name: str) -> Mapping[str, Any]:
        found = self.resolved.get(name)
        return found if isinstance(found, Mapping) else {}


def choice_dict(choice: Choice) -> dict[str, Any]:
    """A part and its options, ready for JSON."""
    return {"name": choice.name, "options": dict(choice.options)}


def choice_of(content: object) -> Choice:
    """From what `choice_dict` wrote; lists are tuples again. What is wrong with it is a
    ValueError.
    """
    if not isinstance(content, Mapping):
        raise ValueError(f"a part must be an object with name and options, got {content!r}")
    name, options = value_of(content, "name", str), renamed(value_of(content, "options", dict))
    return Choice(
        name=name,
        options={key: tuple(v) if isinstance(v, list) else v for key, v in options.items()},
    )


def _texts(values: Any, name: str) -> dict[str, str]:
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ValueError(f"heads.{name} must be an object of strings, got {values!r}")
    return values

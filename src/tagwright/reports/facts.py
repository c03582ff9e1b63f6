"""What a report is made of: plain numbers and strings, no model. A section whose fact is None is
left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Required, TypedDict

from tagwright.arrays import Floats, Ints, Numbers

if TYPE_CHECKING:
    from tagwright.explain.correlation import Likeness

Values = Numbers | Sequence[float]


def refitted(texts: int) -> str:
    """What a reader of the figures must know of a model that was trained again."""
    return (
        f"The saved model was then trained again on train and dev ({texts:,} texts); "
        "the figures are of the model before that."
    )


class EvaluationPoint(TypedDict, total=False):
    """One look at the model during training; `loss` and `score` may be NaN or absent.

    Where tokens are tagged, three metrics stand beside the score.
    """

    step: Required[int]
    epoch: float
    seconds: float
    loss: float
    rate: float
    score: float
    macro_f1: float
    macro_f2: float
    entity_f1: float


class PerLabel(TypedDict, total=False):
    """Arrays (L,) in the order of the label names; NaN = undefined. `threshold` is absent under
    argmax.
    """

    precision: Values
    recall: Values
    f1: Required[Values]
    f2: Values
    support: Values
    predicted: Values
    threshold: Values


class Band(TypedDict):
    """The labels whose count in train lies in [from_count, to_count]; a NaN score leaves its bar
    out.
    """

    band: str
    labels: int
    from_count: int
    to_count: int
    macro_f1: float
    micro_f1: float


class ThresholdCurve(TypedDict, total=False):
    """Arrays (K,): what one threshold for all labels would score. `unit` names the axis,
    "probability" by default.
    """

    thresholds: Required[Values]
    micro_f1: Required[Values]
    macro_f1: Required[Values]
    chosen: float | None
    unit: str


class Piece(NamedTuple):
    """A stretch of a text; with a `kind` it is set apart: right, missed (true, not found), wrong
    (found, not true).
    """

    text: str
    type: str = ""
    kind: Literal["", "right", "missed", "wrong"] = ""


class Example(NamedTuple):
    """A text twice: with its true spans, and with the spans that were found. Where all are right,
    both are the same.
    """

    true: Sequence[Piece]
    found: Sequence[Piece]


class Confused(TypedDict):
    """`count` texts of label `true` were given `chosen` instead; `examples` are some of those
    texts.

    Where tokens are tagged, `count` tokens were, and each example is a text with one of them set
    apart.
    """

    true: str
    chosen: str
    count: int
    examples: Sequence[str] | Sequence[Sequence[Piece]]


class ReliabilityBins(TypedDict):
    """Arrays (K,): mean predicted probability, share that was right, and how many decisions fell
    into the bin.
    """

    centers: Values
    observed: Values
    counts: Values


@dataclass(frozen=True, kw_only=True)
class TagFacts:
    """What a model that tags tokens has beside its tags, which are its labels. Nothing here may
    hold a text.

    Without `per_type` its tags tell of no spans: every token has a class of its own, as parts of
    speech.
    """

    tokens: Mapping[str, int]  # of each of `split_sizes`
    cut: str  # the way in which texts become tokens
    types: Sequence[str] = ()
    per_type: PerLabel | None = None  # of whole spans, arrays (types,)
    # (types,) spans in train; None where only their tokens were counted
    type_counts: Values | None = None


@dataclass(frozen=True, kw_only=True)
class FitFacts:
    """One training run. `metrics` is flat (name -> value), measured on `split` under `convention`.

    With `tags` it is of tokens: labels are tags, and are counted in tokens.
    """

    title: str
    label_names: Sequence[str]
    label_counts: Values  # (L,) in train
    exclusive: bool
    metrics: Mapping[str, float]
    split: str = "dev"
    convention: str = "sklearn"
    # texts of train and dev that it was trained on again, after it was measured
    refitted_on: int | None = None
    settings: Mapping[str, object] | None = None
    data_found: Sequence[str] = ()
    split_sizes: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    history: Sequence[EvaluationPoint] | None = None
    watched: str = "score"  # the metric that history's `score` is
    best_step: int | None = None
    per_label: PerLabel | None = None
    bands: Sequence[Band] | None = None
    threshold_curve: ThresholdCurve | None = None
    confused: Sequence[Confused] | None = None
    calibration: ReliabilityBins | None = None
    seconds: float | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    tags: TagFacts | None = None
    examples: Sequence[Example] = ()
    card: str | None = None  # the README.md of the model folder, as `model_card` wrote it


@dataclass(frozen=True, kw_only=True)
class HeadFacts:
    """One of several heads of a model, in short."""

    name: str
    label_count: int
    exclusive: bool
    tags_tokens: bool
    decision: str  # a sentence
    metrics: Mapping[str, float]  # empty where nothing was measured since the decision was made
    split: str | None = "dev"


@dataclass(frozen=True, kw_only=True)
class CardFacts:
    """What the model card says. It travels with the model, so nothing here may hold a text of the
    data.
    """

    title: str
    label_names: Sequence[str]
    label_counts: Values  # (L,) in train
    exclusive: bool
    metrics: Mapping[str, float]
    decision: str  # a sentence: how scores become labels
    split: str = "dev"
    convention: str = "sklearn"
    # texts of train and dev that it was trained on again, after it was measured
    refitted_on: int | None = None
    source: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    split_sizes: Mapping[str, int] = field(default_factory=dict)
    per_label: PerLabel | None = None
    bands: Sequence[Band] | None = None
    nothing_predicted: float | None = None  # share of the split's texts that got no label
    tags: TagFacts | None = None
    seconds: float | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    name: str = "main"  # of the head that the card is about
    others: Sequence[HeadFacts] = ()  # beside it


@dataclass(frozen=True, kw_only=True)
class AttentionFacts:
    """How much label slots look at each other, and which labels come together. Nothing here may
    hold a text.
    """

    title: str
    label_names: Sequence[str]
    # number -> attention (L, L) from row to column, NaN where there is none
    layers: Mapping[int, Floats]
    depth: int  # layers that the encoder has
    shown: Sequence[int]  # labels to draw, in the order of the axes
    split: str
    texts: int  # that attention is a mean over
    rows: int  # texts of the split
    correlation: Floats | None = None  # (L, L); None where the data have no labels
    together: Ints | None = None  # (L, L), texts with both labels
    labelled: int = 0  # texts that the correlation is of
    # of each layer and the correlation
    likeness: "Mapping[int, Likeness]" = field(default_factory=dict)
    # the same of each layer and how near slots stand
    nearness: Mapping[int, float] = field(default_factory=dict)
    warnings: Sequence[str] = ()

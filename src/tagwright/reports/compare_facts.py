"""What the report of a comparison is made of: plain numbers and strings. A section whose fact is
empty is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from tagwright.reports.facts import ReliabilityBins, Values


class RunRow(TypedDict):
    """One objective on one encoder, trained with one seed. One that failed has its error and
    nothing else.

    `untuned` are the metrics with no threshold fitted; {} where none was. `memory` is the peak in
    bytes, None: unknown.
    """

    objective: str
    encoder: str
    seed: int
    metrics: Mapping[str, float]
    untuned: Mapping[str, float]
    seconds: float
    memory: float | None
    failed: str
    page: str  # of the run, beside the report; "" where there is none


class Summary(TypedDict):
    """One objective on one encoder over its seeds: metric -> (mean, standard deviation); {} where
    all runs failed.
    """

    objective: str
    encoder: str
    metrics: Mapping[str, tuple[float, float]]
    untuned: Mapping[str, tuple[float, float]]
    seconds: float
    memory: float | None
    finished: int
    failed: int


class Difference(TypedDict):
    """Objective minus baseline on the same encoder, paired by seed: mean and the ends of its
    interval.

    With `over_texts` the interval speaks of other seeds and other texts, else of other seeds alone.
    `adjusted` is the p-value after Holm's correction, of the primary metric alone, else NaN.
    `p_value` may be NaN.
    """

    objective: str
    encoder: str
    metric: str
    mean: float
    low: float
    high: float
    p_value: float
    adjusted: float
    over_texts: bool


class Wins(TypedDict):
    """How often an objective had the best value, ties counted for each: metric -> encoders and
    seeds it won.
    """

    objective: str
    metrics: Mapping[str, int]


class BandScore(TypedDict):
    """Macro-F1 of the labels whose count in train lies in [from_count, to_count], mean and spread
    over seeds.
    """

    objective: str
    encoder: str
    band: str
    labels: int
    from_count: int
    to_count: int
    macro_f1: float
    spread: float


class Gains(TypedDict):
    """F1 of every label, arrays (L,): means over the seeds that both the objective and the baseline
    have.
    """

    objective: str
    encoder: str
    f1: Values
    base: Values  # F1 of the baseline with the same seeds
    spread: Values  # standard deviation over seeds of the difference to the baseline


class Sweep(TypedDict):
    """One objective with several values of one setting: arrays (K,) of the primary metric, means
    and spreads.
    """

    objective: str
    encoder: str
    setting: str
    values: Values
    means: Values
    spreads: Values


class Curve(TypedDict):
    """One training: arrays (K,) of steps, the watched score and the loss there; NaN where there was
    none.
    """

    objective: str
    encoder: str
    seed: int
    steps: Values
    scores: Values
    losses: Values


class Reliability(TypedDict):
    """Calibration of an objective, all seeds together; `error` is the mean of its expected
    calibration error.
    """

    objective: str
    encoder: str
    curve: ReliabilityBins
    error: float


class Exchange(TypedDict):
    """Texts of label `true` that got `chosen` in its place, means over seeds: by the baseline, and
    by the other.
    """

    objective: str
    encoder: str
    true: str
    chosen: str
    before: float
    after: float


class Flip(TypedDict):
    """A text on which most seeds of the one are right and most of the other wrong; labels are those
    of most seeds.

    `before` and `after` are how many seeds are right, of `seeds`, by the baseline and by the
    objective.
    """

    objective: str
    encoder: str
    text: str
    true: Sequence[str]
    labels_before: Sequence[str]
    labels_after: Sequence[str]
    before: int
    after: int
    seeds: int


@dataclass(frozen=True, kw_only=True)
class CompareFacts:
    """Several objectives on one or more encoders, several seeds, one split.

    `shown` has for each encoder the objective that details are about: the best but for the
    baseline.
    """

    title: str
    baseline: str
    metric: str  # the primary one: it is drawn, and orders the table
    objectives: Sequence[str]  # as given, the baseline first; with a sweep, a name for every value
    encoders: Sequence[str]
    rows: Sequence[RunRow]
    summary: Sequence[Summary]
    differences: Sequence[Difference] = ()
    verdict: str = ""
    split: str = "dev"
    texts: int = 0
    confidence: float = 0.95
    lower_is_better: Sequence[str] = (
        "hamming_loss",
        "ranking_loss",
        "one_error",
        "coverage",
        "calibration_error",
    )
    wins: Sequence[Wins] = ()
    games: int = 0  # encoders and seeds in which all objectives finished
    bands: Sequence[BandScore] = ()
    label_names: Sequence[str] = ()
    label_counts: Values = ()  # (L,) in train
    gains: Sequence[Gains] = ()  # the baseline's own among them
    sweeps: Sequence[Sweep] = ()
    curves: Sequence[Curve] = ()
    watched: str = "score"
    reliability: Sequence[Reliability] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    exchanges: Sequence[Exchange] = ()
    flips: Sequence[Flip] = ()
    seconds: float | None = None  # of the whole comparison
    settings: Mapping[str, object] | None = None
    # setting -> objective -> value
    differing: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    warnings: Sequence[str] = ()

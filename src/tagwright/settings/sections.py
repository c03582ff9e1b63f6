"""The sections of the settings: which there are, what the plain ones hold, and what is wrong with a
value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from tagwright import registry
from tagwright.errors import unknown


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """How a file is read."""

    text: str | None = None
    labels: str | None = None
    task: str | None = None
    separator: str = "auto"
    strict: bool = False  # refuse tags of tokens that follow no scheme, where they would be mended
    # how texts become tokens where these are tagged: words, characters, jieba or fugashi
    cut: str = "auto"


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """What is held out where the data do not say, and what of train is left out."""

    dev_share: float = 0.1
    test_share: float = 0.0
    seed: int = 0
    # label -> texts of train with it that stay
    keep: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SoftSettings:
    """What becomes of soft labels, where the targets give some beside the labels."""

    role: str = "replace"  # the labels; or "auxiliary": stand beside them (KWLS eq. 9)
    alpha: float = 1.0  # what the auxiliary term weighs
    halved: bool = True  # by the 2 in the divisor of eq. 9, which the paper's own code leaves out
    heads: int = 1  # 2: the auxiliary term has a head of its own, which training ends with
    from_step: int = 0  # before it, the labels alone count


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The run. An encoder class may bring its own values for any section: `defaults(task,
    objective)`.
    """

    epochs: float = 20.0
    batch: int = 32
    accumulate: int = 1
    # adamw, row Adagrad for sparse features; or sgd; exact solves bow with bce
    optimizer: str = "auto"
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    # of errors beside large weights where these are solved for: C of logistic regression
    cost: float = 10.0
    beta2: float = 0.999  # of AdamW
    epsilon: float = 1e-8
    layer_decay: float = 1.0  # of the rate, a layer down from the top; for pretrained encoders
    clip: float = 1.0
    evaluations: float = 1.0  # an epoch
    metric: str = "auto"
    patience: int = 5  # evaluations without a better score; 0 never stops early
    refit: bool = False
    limit: int = 512  # tokens of a text
    vectors: str | None = None  # word vectors to start from: GloVe text, or npy with words beside
    seed: int = 0
    device: str = "auto"
    # of a pretrained encoder: bfloat16 where a timed trial shows a gain; or float32, bfloat16
    precision: str = "auto"
    capture: bool = True  # on a GPU, whole steps as CUDA graphs where that can be
    deterministic: bool = False
    save_seconds: float = 30.0


LEAST = {
    "soft.alpha": 0.0,
    "soft.heads": 1,
    "soft.from_step": 0,
    "fit.epochs": 0.01,
    "fit.batch": 1,
    "fit.accumulate": 1,
    "fit.evaluations": 0.01,
    "fit.limit": 1,
    "fit.patience": 0,
    "fit.learning_rate": 0.0,
    "fit.weight_decay": 0.0,
    "fit.cost": 1e-9,
    "fit.clip": 0.0,
    "fit.beta2": 0.0,
    "fit.epsilon": 0.0,
    "fit.layer_decay": 0.0,
    "split.dev_share": 0.0,
    "split.test_share": 0.0,
}
CHOICES = {
    "soft.role": ("replace", "auxiliary"),
    "fit.optimizer": ("auto", "sgd", "exact"),
    "fit.precision": ("auto", "float32", "bfloat16"),
}
PLAIN_SECTIONS = {
    "data": DataSettings,
    "split": SplitSettings,
    "soft": SoftSettings,
    "fit": FitSettings,
}


# section -> folder of its parts: a table of the part's `name` and its options
PART_SECTIONS: dict[str, registry.KindName[Any, Any]] = {
    "embed": registry.TOKENIZERS,
    "encoder": registry.ENCODERS,
    "head": registry.HEADS,
    "loss": registry.LOSSES,
    "targets": registry.TARGETS,
    "mask": registry.MASKS,
    "weights": registry.WEIGHTS,
    "schedule": registry.SCHEDULES,
    "decide": registry.DECISIONS,
}
# what every head of a model has of its own, and what its heads share; [heads.NAME] has any of the
# former
OF_A_HEAD = ("objective", "soft", "head", "loss", "targets", "mask", "weights", "decide")
OF_THE_RUN = ("data", "split", "fit", "embed", "encoder", "schedule")
HEADS = "heads"


def read_section(
    section: str,
    maker: type,
    given: Mapping[str, Any],
    faults: list[str],
    *,
    beside: Sequence[str] = (),
) -> Any:
    """The section with the given values; what is wrong with them is added to the faults. `beside`
    are tables in it.
    """
    known: dict[str, Any] = {
        f.name: {} if f.default is MISSING else f.default for f in fields(maker)
    }
    values = {}
    for key, value in given.items():
        if key not in known:
            faults.append(unknown(f"setting of [{section}]", key, [*known, *beside]))
            continue
        wanted: Any = str if known[key] is None else type(known[key])
        fault = _fault(f"{section}.{key}", value, wanted)
        if fault:
            faults.append(fault)
        else:
            values[key] = wanted(value)
    return maker(**values)


def _fault(name: str, value: Any, wanted: Any) -> str | None:
    """What is wrong with a value: its type (a whole number serves as a float), that it is no
    choice, or too small.
    """
    taken = (int, float) if wanted is float else wanted
    if not isinstance(value, taken) or (isinstance(value, bool) and wanted is not bool):
        kind = "a table" if wanted is dict else f"of type {wanted.__name__}"
        return f"{name} must be {kind}, got {value!r}"
    if name in CHOICES and value not in CHOICES[name]:
        return unknown(name, str(value), CHOICES[name])
    least = 0.0 if name.startswith("heads.") and name.endswith(".weight") else LEAST.get(name)
    return (
        f"{name} must be at least {least}, got {value!r}"
        if least is not None and not value >= least
        else None
    )

"""Parts that another package adds to Tagwright: a part is a class that derives from its kind's
base.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn

from tagwright.data import Reader
from tagwright.decisions import Decision, HeldOut
from tagwright.errors import DataError
from tagwright.losses import LossModule
from tagwright.metrics import Family, check, merge
from tagwright.models.encoders import Encoder
from tagwright.models.hidden import Hidden


class AbsoluteErrorLoss(LossModule):
    """Absolute difference of probability and label, summed over labels."""

    link = "sigmoid"
    tasks = ("one", "many")
    soft = True
    sparse = False

    def __init__(
        self, *, scale: float = 1.0, reduction: Literal["mean", "sum", "none"] = "mean"
    ) -> None:
        super().__init__()
        self.scale, self.reduction = scale, reduction

    def forward(
        self,
        logits: Tensor,
        target: Tensor,
        *,
        example_weight: Tensor | None = None,
        mask: Tensor | None = None,
        positive_weight: Tensor | None = None,
        negative_weight: Tensor | None = None,
        validate: bool = False,
    ) -> Tensor:
        """Logits and target (B, L) -> a scalar, or (B,) when the reduction is "none"."""
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        target = target.to(logits.dtype)
        high, low = target * logits.neg().sigmoid(), (1 - target) * logits.sigmoid()
        if positive_weight is not None:
            high = high * positive_weight
        if negative_weight is not None:
            low = low * negative_weight
        cells = high + low
        values = self.scale * (cells if mask is None else cells.masked_fill(~mask, 0)).sum(-1)
        if example_weight is not None:
            values = values * example_weight
        if self.reduction == "none":
            return values
        rows = len(values) if example_weight is None else example_weight.sum()
        return values.sum() / (max(float(rows), 1.0) if self.reduction == "mean" else 1)


class MeanWords(Encoder):
    """The mean of a text's word vectors."""

    whole_texts = True

    def __init__(self, sizes: tuple[int, ...], *, width: int = 32) -> None:
        super().__init__()
        self.width_out = width
        self.tables = nn.ModuleList(nn.Embedding(size, width) for size in sizes)

    def forward(self, ids: Tensor, lengths: Tensor) -> Hidden:
        """Ids (B, T) or (B, T, F) and lengths (B,) -> `pooled` (B, width)."""
        channels = ids[..., None] if ids.dim() == 2 else ids
        words = sum(table(channels[..., number]) for number, table in enumerate(self.tables))
        inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        total = (words * inside[..., None]).sum(1)  # type: ignore[union-attr]
        return Hidden(None, total / lengths.clamp(min=1)[:, None])


class OneLevel(Decision):
    """Labels whose probability is above one level, the same for all, that has the highest
    micro-F1.
    """

    FITTED = ("level",)

    def __init__(self, level: np.ndarray, *, levels: int = 19) -> None:
        self.level, self.levels = level, levels

    def choose(self, logits: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Scores (n, L) -> bool (n, L)."""
        return probabilities > self.level

    def describe(self) -> str:
        """A sentence for the model card."""
        return f"Every label whose probability is above {float(self.level):.2f}."

    @classmethod
    def fit(cls, held_out: HeldOut, *, levels: int) -> tuple["OneLevel", np.ndarray]:
        """Half of the rows decides for the other half."""
        likely, truth = held_out.likely(), held_out.truth
        half = np.random.default_rng(held_out.seed).permutation(len(truth)) % 2 == 0
        chosen = np.zeros(truth.shape, bool)
        for own in (half, ~half):
            chosen[own] = likely[own] > _best_level(likely[~own], truth[~own], levels)
        return cls(_best_level(likely, truth, levels), levels=levels), chosen


def _best_level(likely: np.ndarray, truth: np.ndarray, levels: int) -> np.ndarray:
    grid = np.linspace(0, 1, levels + 2)[1:-1]
    scores = [
        2 * (truth & (likely > level)).sum() / max(truth.sum() + (likely > level).sum(), 1)
        for level in grid
    ]
    return np.array(grid[int(np.argmax(scores))])


class Pipes(Reader):
    """Text files whose columns are separated by `|`, the names in the first line."""

    suffixes = (".psv",)

    @staticmethod
    def read(path: Path) -> pa.Table:
        """The whole file, all columns strings."""
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [line.split("|") for line in lines if line.strip()]
        if not rows:
            raise DataError(f"{path.name}, line 1: the file is empty; expected names of columns")
        for number, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise DataError(
                    f"{path.name}, line {number}: {len(row)} columns, expected {len(rows[0])}"
                )
        columns = zip(*rows[1:]) if rows[1:] else [()] * len(rows[0])
        return pa.table(
            {name: pa.array(column, pa.string()) for name, column in zip(rows[0], columns)}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Cardinality(Family):
    """How many labels a text is given, against how many it has."""

    METRICS: ClassVar[dict[str, tuple[str, bool]]] = {
        "cardinality_error": (
            "mean difference between the number of chosen and of true labels",
            False,
        )
    }
    FACTS: ClassVar[dict[str, str]] = {"mean_cardinality": "mean number of true labels"}
    TITLES = {"cardinality_error": "labels too many or too few"}  # noqa: RUF012
    FIRST = ("cardinality_error",)

    rows: int
    apart: int
    true: int

    @classmethod
    def of(cls, scores: np.ndarray, truth: np.ndarray, chosen: np.ndarray) -> "Cardinality":
        """Count one chunk of rows: scores (n, L), truth (n, L) bool, chosen (n, L) bool."""
        check(scores, truth, chosen)
        apart = np.abs(chosen.sum(1) - truth.sum(1)).sum()
        return cls(rows=len(truth), apart=int(apart), true=int(truth.sum()))

    def __add__(self, other: "Cardinality") -> "Cardinality":
        """The counts of both."""
        return merge(self, other)

    def results(self, **_: Any) -> dict[str, float]:
        """The metric and the fact; NaN without rows."""
        rows = self.rows or float("nan")
        return {"cardinality_error": self.apart / rows, "mean_cardinality": self.true / rows}

"""What happened: every step's loss in short, every evaluation in full. Best and patience are
derived from it.
"""

import math
from typing import Required, TypeAlias, TypedDict

from tagwright.training.loop import Step

# step, epoch, loss since the last evaluation, rate, score, and the metrics beside it
Row: TypeAlias = dict[str, float]


class HistoryState(TypedDict, total=False):
    """What a checkpoint keeps of the course of training, ready for JSON."""

    rows: Required[list[Row]]
    loss: Required[float]
    steps: Required[int]
    precision: str  # that the encoder computes in
    parts: int  # of a batch


class History:
    """Evaluations as rows, ready for JSON.

    `sign` is -1 where a lower score is better.
    """

    def __init__(self, *, sign: int = 1) -> None:
        self.rows: list[Row] = []
        self.sign = sign
        self._loss, self._steps = 0.0, 0

    def add(self, step: Step) -> bool:
        """Record a step; True when it carries the best score so far, or the same again."""
        self._loss, self._steps = self._loss + step.loss, self._steps + 1
        if step.score is None:
            return False
        better = self.best is None or self._key(step.score) >= self._key(self.best["score"])
        row = {"step": step.number, "epoch": step.epoch, "loss": self._loss / self._steps}
        self.rows.append({**row, "rate": step.rate, "score": step.score, **step.beside})
        self._loss, self._steps = 0.0, 0
        return better

    @property
    def best(self) -> Row | None:
        """The row with the best score, the last of equals: once at its top, it says nothing against
        more.
        """
        return max(reversed(self.rows), key=lambda row: self._key(row["score"]), default=None)

    def _key(self, score: float) -> float:
        """Higher is better; what is no number is worst."""
        return -math.inf if math.isnan(score) else self.sign * score

    @property
    def stale(self) -> int:
        """Evaluations since the best score was first reached: the same again is no improvement."""
        if self.best is None:
            return 0
        keys = [self._key(row["score"]) for row in self.rows]
        return len(keys) - 1 - keys.index(max(keys))

    def state(self) -> HistoryState:
        """What a checkpoint keeps."""
        return {"rows": self.rows, "loss": self._loss, "steps": self._steps}

    def restore(self, state: HistoryState) -> None:
        """Take up a checkpoint's state."""
        self.rows, self._loss, self._steps = list(state["rows"]), state["loss"], state["steps"]

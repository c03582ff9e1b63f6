"""One training: its moving state, which checkpoints hold, and what stands around it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from tagwright.models.distributed import ALONE, Ranks
from tagwright.models.network import Network
from tagwright.models.precision import settle
from tagwright.training import checkpoint
from tagwright.training.history import History
from tagwright.training.loop import Step
from tagwright.training.optimizers.joint import Optimizer

OF_HEAD = "head-"  # begins the folder of what one of several heads keeps in a run
Progress = Callable[[Iterator[Step], str, int, int], Iterator[Step]]


def nothing(text: str) -> None:
    """Says nothing."""


def silent(stream: Iterator[Step], title: str, start: int, total: int) -> Iterator[Step]:
    """Progress that shows nothing."""
    return stream


@dataclass(frozen=True, kw_only=True)
class Run:
    """Where a run keeps its state (nowhere: None), how it shows progress and what it finds, how it
    is asked to stop, who shares it, and where teachers stand that several runs share (None: each
    run has its own)."""

    folder: Path | None = None
    progress: Progress = silent
    say: Callable[[str], None] = nothing
    asked: Callable[[], bool] = lambda: False
    ranks: Ranks = ALONE
    teachers: Path | None = None

    def lasting(self, name: str) -> Path | None:
        """A file that stays in the run folder when the run ends; that of one of several heads has
        the head's name.
        """
        if self.folder is None or not self.folder.name.startswith(OF_HEAD):
            return None if self.folder is None else self.folder / name
        path = self.folder.with_name(name)
        return path.with_stem(f"{path.stem}-{self.folder.name.removeprefix(OF_HEAD)}")


@dataclass(kw_only=True)
class Training:
    """The moving state of one training: what a checkpoint holds, and what it takes to make the next
    step.
    """

    network: Network
    optimizer: Optimizer
    history: History
    best: dict[str, Tensor] = field(default_factory=dict)
    step: int = 0
    parts: int = 1  # of a batch, that are computed one after the other

    def keep(self) -> None:
        """Remember the weights as the best so far, on the host: a device has better use for its
        memory.
        """
        self.best = checkpoint.snapshot(self.network)

    def save(self, step: int, folder: Path, fingerprint: str) -> None:
        """Write a checkpoint of this step."""
        history = self.history.state()
        history |= {"precision": self.network.encoder.precision, "parts": self.parts}
        state = (self.network.state_dict(), self.best, self.optimizer.state_dict(), history)
        checkpoint.save(checkpoint.Checkpoint(step, *state, fingerprint), folder)

    def take_up(self, folder: Path, fingerprint: str) -> None:
        """Go on from the newest checkpoint, if there is one."""
        found = checkpoint.load_last(folder, fingerprint=fingerprint)
        if found is not None:
            self.step, self.best = found.step, found.best
            self.network.load_state_dict(found.weights)
            self.optimizer.load_state_dict(found.optimizer)
            self.history.restore(found.history)
            self.parts = found.history.get("parts", self.parts)
            settle(self.network.encoder, kept=found.history.get("precision"))

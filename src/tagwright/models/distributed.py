"""Several processes that train one model: which one this is, and the few things that they do
together.

torchrun starts them and tells each its place. A process that is alone has no process group and pays
nothing.
"""

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, distributed

from tagwright.arrays import Ints, Numbers
from tagwright.errors import SettingsError, TagwrightError

N = TypeVar("N", bound=Numbers)
NOTE = 1024  # bytes of an error that the others are told


class RankError(TagwrightError):
    """Another process of the run failed or ended, so this one ends too."""


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """One process of `world`. `local` counts on its machine; what all do together, all must call in
    the same order.
    """

    rank: int = 0
    world: int = 1
    local: int = 0

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes and speaks."""
        return self.rank == 0

    def share(self, rows: Ints) -> Ints:
        """This process's part of a batch; empty where rows are fewer than processes.

        >>> [Ranks(rank=rank, world=3).share(np.arange(5)).tolist() for rank in range(3)]
        [[0, 1], [2, 3], [4]]
        """
        return np.array_split(rows, self.world)[self.rank]

    def purpose(self, name: str) -> str:
        """The name of a draw that must differ from process to process; the first draws as one
        alone.
        """
        return name if self.first else f"{name}/{self.rank}"

    def add(self, tensor: Tensor) -> None:
        """The sum over all processes, in place. Tensors of the host and of a GPU go different
        ways.
        """
        if self.world == 1:
            return
        try:
            distributed.all_reduce(tensor)
        except RuntimeError as error:  # how a lost connection shows
            raise RankError(
                "another process of this run ended, its own message says why; go on with the same"
                " command and --resume"
            ) from error

    def total(self, values: Sequence[float]) -> list[float]:
        """Sums over all processes."""
        if self.world == 1:
            return list(values)
        table = torch.tensor(values, dtype=torch.float64)
        self.add(table)
        return table.tolist()

    def any(self, flag: bool) -> bool:
        """Whether it is true in some process."""
        return self.total([flag])[0] > 0

    def all(self, flag: bool) -> bool:
        """Whether it is true in every process."""
        return self.total([flag])[0] == self.world

    def of_first(self, value: float) -> float:
        """The first process's value, so that all decide alike."""
        return self.total([value if self.first else 0.0])[0]

    def merged(self, array: N) -> N:
        """An array whose rows were filled by one process each and are 0 in the others, filled in
        all: to the bit.
        """
        if self.world > 1 and array.size:
            self.add(torch.from_numpy(array.view(np.int32)))  # bits: -0.0 stays what it is
        return array

    def require_same(self, numbers: Sequence[int], what: str) -> None:
        """Refuse to go on where processes differ in these whole numbers."""
        table = np.zeros((self.world, len(numbers)), np.int64)
        table[self.rank] = numbers
        if (self.merged(table) != table[0]).any():
            raise RankError(
                f"the processes differ in {what}; they need the same files, versions and command"
            )

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that succeeds in all processes or fails in all, so that none waits for one that
        is gone.
        """
        try:
            yield
        except RankError:
            raise
        except Exception as error:
            if self._noted(str(error) or type(error).__name__) == self.rank:
                raise
            raise RankError(
                str(error)
            ) from error  # one voice a machine: another process says the same
        self._noted("")

    def _noted(self, problem: str) -> int:
        """The lowest process with a problem: its number where this one has a problem too, else an
        error that tells.
        """
        if self.world == 1:
            return self.rank
        table = np.zeros((self.world, NOTE), np.uint8)
        content = problem.encode()[:NOTE]
        table[self.rank, : len(content)] = np.frombuffer(content, np.uint8)
        self.merged(table)
        failed = [rank for rank in range(self.world) if table[rank].any()]
        if failed and not problem:
            told = table[failed[0]].tobytes().rstrip(b"\0").decode(errors="ignore")
            raise RankError(f"process {failed[0]} of {self.world} failed: {told}")
        return failed[0] if failed else self.rank


ALONE = Ranks()


@contextmanager
def joined(environment: Mapping[str, str] = os.environ) -> Iterator[Ranks]:
    """This process's place among those that torchrun started, connected inside the block."""
    ranks = ranks_of(environment)
    if ranks.world == 1:
        yield ranks
        return
    cuda = torch.cuda.is_available()
    if cuda and ranks.local < torch.cuda.device_count():
        torch.cuda.set_device(ranks.local)  # what "cuda" means from here on
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if cuda else "gloo", rank=ranks.rank, world_size=ranks.world
    )
    try:
        yield ranks
    finally:
        distributed.destroy_process_group()
        # a group that something still holds would end with the interpreter, its threads running: an
        # abort
        gc.collect()


def ranks_of(environment: Mapping[str, str]) -> Ranks:
    """The place that torchrun's variables name.

    >>> address = {"MASTER_ADDR": "a", "MASTER_PORT": "29500"}
    >>> ranks_of({"WORLD_SIZE": "4", "RANK": "3", "LOCAL_RANK": "1", **address})
    Ranks(rank=3, world=4, local=1)
    """
    world = int(environment.get("WORLD_SIZE") or 1)
    if world == 1:
        return ALONE
    missing = [
        n for n in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT") if n not in environment
    ]
    if missing:
        raise SettingsError(
            f"WORLD_SIZE is {world}, but {', '.join(missing)} not set: start with torchrun, or"
            " unset WORLD_SIZE"
        )
    return Ranks(rank=int(environment["RANK"]), world=world, local=int(environment["LOCAL_RANK"]))

"""The training loop on a GPU without Python inside its steps: each shape of step is captured once,
as a CUDA graph.

Rows, rates and draws enter a graph as tensors. Losses are read some steps later, so that nobody
waits for the device.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from tagwright.arrays import Floats, Ints
from tagwright.batches.resident import Resident
from tagwright.batches.rows import Batch
from tagwright.randomness import seed_of
from tagwright.training.loop import Course, Dial, Step, seed_draws

GROUP = 64  # steps whose losses are read together, at most
# seconds that a group should not take much longer than: a run is asked to stop between groups
PATIENCE = 0.5


class NotCaptured(Exception):
    """A step cannot be captured here. Nothing was moved: the plain loop can go on."""


class CapturedStep:
    """Forward, loss, backward, clip and update of a batch, a graph for each width of batch. A CPU
    runs it as it is.
    """

    def __init__(
        self,
        resident: Resident,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        loss_of: Callable[[Batch, torch.Generator], Tensor],
        *,
        batch: int,
        accumulate: int = 1,
        clip: float = 0.0,
        dials: Sequence[Dial] = (),
    ) -> None:
        self.resident, self.network, self.optimizer, self.loss_of = (
            resident,
            network,
            optimizer,
            loss_of,
        )
        self.accumulate, self.clip, self.dials = accumulate, clip, dials
        self.device = device = resident.ids.device
        self.generator = torch.Generator(device)
        # what a group of steps is fed: the graph finds its own by the place, and moves that on
        self.place = torch.zeros(1, dtype=torch.int64, device=device)
        self.rows = torch.zeros((GROUP, batch), dtype=torch.int64, device=device)
        self.real = torch.zeros((GROUP, batch), device=device)
        self.rates = torch.zeros((GROUP, len(optimizer.param_groups)), device=device)
        self.settings = torch.zeros((GROUP, len(dials)), device=device)
        self.losses = torch.zeros(GROUP, device=device)
        self.rate = torch.zeros(len(optimizer.param_groups), device=device)
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}
        # one for all widths: cuBLAS keeps 64 MiB of working space for every stream that it meets
        if device.type == "cuda":
            self.side = torch.cuda.Stream(device)

    @contextmanager
    def holding(self) -> Iterator[None]:
        """The optimizer reads its rates from the device inside the block."""
        for group, rate in zip(self.optimizer.param_groups, self.rate):
            group["lr"], group["capturable"] = rate, rate.is_cuda
        try:
            yield
        finally:
            for group in self.optimizer.param_groups:
                group["lr"], group["capturable"] = float(group["lr"]), False

    def feed(self, first: int, batches: Sequence[Ints], rates: Floats) -> None:
        """Rows of the steps from `first` on and their rates (steps, parameter groups); fillers
        weigh nothing.
        """
        rows, real = np.zeros(self.rows.shape, np.int64), np.zeros(self.real.shape, np.float32)
        for place, index in enumerate(batches):
            rows[place, : len(index)], real[place, : len(index)] = index, 1
        self.rows.copy_(torch.from_numpy(rows))
        self.real.copy_(torch.from_numpy(real))
        self.rates[: len(rates)].copy_(torch.from_numpy(rates))
        if self.dials:
            values = [
                [dial.at(first + place) for dial in self.dials] for place in range(len(batches))
            ]
            self.settings[: len(batches)].copy_(torch.tensor(values))
        self.place.zero_()
        if self.device.type == "cuda":
            # the widest first: the others then find room in the memory it took
            widths = {self.resident.widest, *(self.resident.width_of(index) for index in batches)}
            for width in sorted(widths - self.graphs.keys(), reverse=True):
                self.graphs[width] = self._capture(width)

    def __call__(self, width: int) -> None:
        """The next step of those that were fed."""
        if self.device.type == "cuda":
            self.graphs[width].replay()
        else:
            self._step(width)

    def _step(self, width: int) -> None:
        torch.index_select(self.rates, 0, self.place, out=self.rate[None])
        loss = self._gradients(width)
        self.optimizer.step()
        self.losses.index_copy_(0, self.place, loss[None])
        self.place += 1

    def _gradients(self, width: int) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        for number, dial in enumerate(self.dials):
            dial.tensor.copy_(self.settings.index_select(0, self.place)[0, number])
        rows, real = (one.index_select(0, self.place)[0] for one in (self.rows, self.real))
        total, count = torch.zeros((), device=self.device), self.resident.size_of(rows, real)
        for part, weight in zip(rows.chunk(self.accumulate), real.chunk(self.accumulate)):
            loss = self.loss_of(self.resident.batch(part, weight, width), self.generator) / count
            loss.backward()
            total = total + loss.detach()
        if self.clip > 0:
            moved = [
                parameter for parameter in self.network.parameters() if parameter.grad is not None
            ]
            nn.utils.clip_grad_norm_(moved, self.clip, foreach=True)
        return total

    def _capture(self, width: int) -> torch.cuda.CUDAGraph:
        self.network.train()
        self._warm_up(width)
        # a graph has a pool of its own, and finds no room in what the trial left
        torch.cuda.empty_cache()
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.generator)
        pool = next(iter(self.graphs.values())).pool() if self.graphs else None
        try:
            with torch.cuda.graph(graph, pool=pool, stream=self.side):
                self._step(width)
        except RuntimeError as error:
            self._recover()
            reason = str(error.__context__ or error).splitlines()[0]
            raise NotCaptured(f"a step waits for the host ({reason})") from None
        # a replay makes its own: their room is free between steps
        self.optimizer.zero_grad(set_to_none=True)
        return graph

    def _warm_up(self, width: int) -> None:
        """Run what a graph will hold, for libraries start and kernels are compiled outside of it.
        Moves no weights.
        """
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            try:
                self._gradients(width)
            except torch.OutOfMemoryError:
                self.optimizer.zero_grad(set_to_none=True)
                raise NotCaptured("a whole step does not fit into the GPU's memory") from None
            if not self.optimizer.state:
                self._make_state()
        torch.cuda.current_stream().wait_stream(self.side)
        self.optimizer.zero_grad(set_to_none=True)

    def _recover(self) -> None:
        """Generators refuse to draw after a capture that failed, until one ends well."""
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.generator)
        with torch.cuda.graph(graph):
            torch.rand(1, device=self.device)
            torch.rand(1, device=self.device, generator=self.generator)

    def _make_state(self) -> None:
        """The optimizer's averages must be there before a graph finds them: a step without gradient
        makes them.
        """
        self.rate.zero_()
        torch._foreach_zero_([p.grad for p in self.network.parameters() if p.grad is not None])
        self.optimizer.step()
        for state in self.optimizer.state.values():
            state["step"].zero_()


def captured_steps(
    step: CapturedStep,
    course: Course,
    factor: Callable[[int], float],
    *,
    start: int = 0,
    due: Callable[[int], bool] = lambda number: False,
    seed: int = 0,
) -> Iterator[Step]:
    """Like `steps`: trains from step `start` to the last. Steps come in groups, when their losses
    have been read.

    Only the last of a group is `settled`. A step after which something is `due` ends its group.
    """
    rates = [
        group.setdefault("initial_lr", float(group["lr"])) for group in step.optimizer.param_groups
    ]
    number, size = start, 1
    with step.holding():
        while number < course.total:
            started = time.monotonic()
            group = _group(number, min(number + size, course.total), due)
            batches = [course.rows(one) for one in group]
            step.feed(
                number, batches, np.outer([factor(one) for one in group], rates).astype(np.float32)
            )
            for one, index in zip(group, batches):
                step.generator.manual_seed(seed_of(seed, "draw", one))
                seed_draws(step.device, seed_of(seed, "dropout", one))
                step(step.resident.width_of(index))
            losses = step.losses[: len(group)].tolist()
            size = (
                min(2 * size, GROUP) if time.monotonic() - started < PATIENCE else max(size // 2, 1)
            )
            for one, value in zip(group, losses):
                done = one + 1
                facts = {"number": done, "epoch": done / course.per_epoch, "loss": value}
                yield Step(**facts, rate=rates[0] * factor(one), settled=one == group[-1])
            number = group[-1] + 1


def _group(first: int, last: int, due: Callable[[int], bool]) -> range:
    """Steps from `first`, before `last`, up to one after which something is due."""
    return next(
        (range(first, one + 1) for one in range(first, last) if due(one + 1)), range(first, last)
    )

"""The training loop: a generator of steps. Keeping, stopping, saving and progress are pipes around
it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from tagwright.arrays import Ints
from tagwright.models.distributed import ALONE, Ranks
from tagwright.randomness import seed_of
from tagwright.training._gradients import summed
from tagwright.training.optimizers.joint import Optimizer


@dataclass(frozen=True, kw_only=True)
class Step:
    """One update of the weights. `number` counts from 1; an evaluation brings a `score` and metrics
    `beside` it. Where labels are solved one by one, the `unit` is a label.

    `settled`: the weights are those of this step. A loop that runs ahead says so only of the last
    step it made.
    """

    number: int
    epoch: float
    loss: float
    rate: float
    score: float | None = None
    beside: Mapping[str, float] = field(default_factory=dict)
    settled: bool = True
    unit: str = "step"


@dataclass(frozen=True, kw_only=True)
class Course:
    """Which rows every step sees: a function of the step alone, so that any step can be the
    first.
    """

    plan: Callable[[int], Sequence[Ints]]  # epoch -> batches of row numbers
    per_epoch: int
    total: int
    size: Callable[[Ints], float] = len  # what the mean over some rows divides by

    def rows(self, step: int) -> Ints:
        """Row numbers of the batch of step 0, 1, …"""
        epoch, position = divmod(step, self.per_epoch)
        return self.plan(epoch)[position]


def seed_draws(device: torch.device, seed: int) -> None:
    """Seed what dropout draws from. `torch.manual_seed` would queue a call for every absent GPU,
    with a stack trace.
    """
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)


class Dial(NamedTuple):
    """A number on the device that is set before every step, to a value of its own."""

    tensor: Tensor  # ()
    at: Callable[[int], float]  # step 0, 1, … -> value


def _parts(rows: Ints, count: int) -> list[Ints]:
    return np.array_split(rows, min(count, len(rows))) if len(rows) else []


def _backward(loss: Tensor) -> float:
    loss.backward()
    return loss.item()


def steps(
    network: nn.Module,
    optimizer: Optimizer,
    course: Course,
    loss_of: Callable[[Ints, torch.Generator], Tensor],
    factor: Callable[[int], float],
    *,
    start: int = 0,
    accumulate: int = 1,
    crowded: Callable[[int, int], int] | None = None,
    clip: float = 0.0,
    seed: int = 0,
    device: torch.device | str = "cpu",
    dials: Sequence[Dial] = (),
    ranks: Ranks = ALONE,
) -> Iterator[Step]:
    """Trains from step `start` to the last, and yields after each update.

    `loss_of` gives the loss summed over some rows; the mean over the batch is the same however it
    was cut in parts, and however many processes (`ranks`) shared them: gradients are added up, and
    all take the same step. Where a device's memory does not hold a part, `crowded(parts, rows)`
    says into how many to cut from now on.
    """
    # a restored optimizer carries the rate of its last step in "lr"
    rates = [
        cast(float, group.setdefault("initial_lr", group["lr"])) for group in optimizer.param_groups
    ]
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    for number in range(start, course.total):
        rows = course.rows(number)
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate * factor(number)
        for dial in dials:
            dial.tensor.fill_(dial.at(number))
        network.train()
        value = None
        while value is None:
            generator = torch.Generator(device).manual_seed(
                seed_of(seed, ranks.purpose("draw"), number)
            )
            seed_draws(torch.device(device), seed_of(seed, ranks.purpose("dropout"), number))
            optimizer.zero_grad(set_to_none=True)
            own = ranks.share(rows)
            try:
                size = course.size(rows)
                value = sum(
                    _backward(loss_of(part, generator) / size) for part in _parts(own, accumulate)
                )
            except torch.OutOfMemoryError:
                if crowded is None:
                    raise
                accumulate = crowded(min(accumulate, len(own)), len(own))
        if ranks.world > 1:
            value = summed(trained, value, ranks)
        if clip > 0:
            nn.utils.clip_grad_norm_([p for p in network.parameters() if p.grad is not None], clip)
        optimizer.step()
        yield Step(
            number=number + 1,
            epoch=(number + 1) / course.per_epoch,
            loss=value,
            rate=rates[0] * factor(number),
        )

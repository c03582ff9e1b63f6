"""The losses as `compute_loss_func` of Hugging Face `Trainer`: the gradient of one big batch,
however it is cut.

Trainer hands over one micro-batch and the number of its labels that are not -100 in all
micro-batches of the step. Of multi-hot labels that counts cells, not examples, so it is divided by
L here. Takes class numbers too.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, distributed, nn

from tagwright.errors import SettingsError, ShapeError
from tagwright.loss_math.check import eager
from tagwright.losses import LossModule
from tagwright.objective import Objective
from tagwright.weights.label_weights import LabelWeights

IGNORED = -100  # what Trainer and its collators write where there is no label


class TrainerLoss(nn.Module):
    """The mean of a loss over the examples, or tokens, of a whole optimizer step: all
    micro-batches, all processes.

    Logits (B, L) or (B, T, L), with the loss's extra logits after those of the labels. Labels are
    multi-hot in the logits' shape (floats, bools, or integers 0 and 1), or class numbers (B,) or
    (B, T). A row of -100 and the class number -100 are left out. No label at all: 0.

    The loss is copied with its settings; its parameters are shared, its reduction is not used.
    `mask_of(target)` gives the terms that take part, `weights` are the labels' own.

    >>> from tagwright.losses import ZLPRLoss
    >>> labels = torch.tensor([[1, 0, 0], [-100, -100, -100]])
    >>> TrainerLoss(ZLPRLoss())({"logits": torch.zeros(2, 3)}, labels)
    tensor(1.7918)
    """

    def __init__(
        self,
        loss: LossModule,
        *,
        mask_of: Callable[..., Tensor] | None = None,
        weights: LabelWeights | None = None,
    ) -> None:
        super().__init__()
        self.name = type(loss).__name__
        self.tasks, self.extra_logits = _declared(loss)
        copied = deepcopy(loss, {id(parameter): parameter for parameter in loss.parameters()})
        copied.reduction = "sum"
        self.objective = Objective(copied, mask_of=mask_of, weights=weights)

    def forward(
        self, outputs: Any, labels: Tensor | None, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        """What Trainer calls: its part of the step's mean; without a number of items, the mean of
        these rows.
        """
        logits = _logits(outputs)
        target, known, cells = self._target(labels, logits)
        _move_buffers(self.objective, logits.device)
        total: Tensor = self.objective(logits.flatten(0, -2), target, example_weight=known.float())
        examples = (
            known.sum()
            if num_items_in_batch is None
            else _examples(num_items_in_batch, cells, logits.device)
        )
        return total / torch.where(examples > 0, examples, 1)

    def _target(self, labels: Tensor | None, logits: Tensor) -> tuple[Tensor, Tensor, int]:
        """Targets (N, L), whether each row is labelled (N,), and how many items Trainer counts for
        a row.
        """
        if not isinstance(labels, Tensor):
            raise ShapeError(
                f"labels must be a tensor, got {type(labels).__name__}; name their column labels,"
                " and let the model's forward have an argument of that name: Trainer drops columns"
                " that it has not"
            )
        labels = labels.to(logits.device)
        shape = (*logits.shape[:-1], logits.shape[-1] - self.extra_logits)
        if labels.shape == shape:
            return *_multi_hot(labels.flatten(0, -2)), shape[-1]
        whole = not (labels.is_floating_point() or labels.dtype == torch.bool)
        if labels.shape != shape[:-1] or not whole:
            raise ShapeError(
                f"labels must be multi-hot {shape} or whole class numbers {shape[:-1]} for logits "
                f"{tuple(logits.shape)}, got {labels.dtype} {tuple(labels.shape)}"
            )
        if ("one" if labels.ndim == 1 else "tokens") not in self.tasks:
            raise SettingsError(
                f"{self.name} is not for one class"
                f" {'an example' if labels.ndim == 1 else 'a token'}: it is for"
                f" {', '.join(self.tasks)}; give multi-hot labels {shape} or take cross_entropy"
            )
        return *_one_hot(labels.flatten(), shape[-1]), 1


def _declared(loss: nn.Module) -> tuple[tuple[str, ...], int]:
    """The tasks and extra logits of a loss that may be cut into parts."""
    name = type(loss).__name__
    if not isinstance(loss, LossModule):
        raise SettingsError(f"TrainerLoss takes a module of tagwright.losses, got {name}")
    if loss.batchwise:
        raise SettingsError(
            f"{name} looks at a whole batch, and its parts do not add up: it is right only with"
            " gradient_accumulation_steps=1 and one process; there, give Trainer a function of"
            " your own that returns loss(outputs.logits, labels)"
        )
    return tuple(loss.tasks), int(loss.extra_logits)


def _logits(outputs: Any) -> Tensor:
    """The logits of a model's outputs: by name, or the first of a tuple."""
    named = outputs if isinstance(outputs, dict) else {}
    first = outputs[0] if isinstance(outputs, tuple) and outputs else None
    found = named.get("logits", getattr(outputs, "logits", first))
    if not isinstance(found, Tensor) or found.ndim not in (2, 3):
        got = (
            f"{tuple(found.shape)}"
            if isinstance(found, Tensor)
            else f"none in {type(outputs).__name__}"
        )
        raise ShapeError(f"the model must give logits (B, L) or (B, T, L), got {got}")
    return found


def _multi_hot(labels: Tensor) -> tuple[Tensor, Tensor]:
    """Labels (N, L) as floats with 0 in rows of -100, and which rows are not of -100."""
    missing = labels == IGNORED
    known = ~missing.any(-1)
    target = labels.masked_fill(~known[:, None], 0)
    # Trainer itself waits for the device in every step, so looking at the values costs little
    # anywhere
    if eager(labels):
        if (missing.any(-1) != missing.all(-1)).any():
            raise ShapeError(
                "a row of labels must be -100 as a whole or nowhere: Trainer's count cannot tell"
                " them"
            )
        if not target.is_floating_point() and ((target < 0) | (target > 1)).any():
            raise ShapeError(
                "integer labels in the logits' shape are multi-hot and must be 0 or 1, got"
                f" {target.min()} to {target.max()}; class numbers have one dimension less"
            )
    return target if target.is_floating_point() else target.float(), known


def _one_hot(numbers: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Class numbers (N,) as one-hot rows (N, L), class 0 for -100, and which are not -100."""
    known = numbers != IGNORED
    if eager(numbers) and (known & ((numbers < 0) | (numbers >= width))).any():
        wrong = numbers[known & ((numbers < 0) | (numbers >= width))][0]
        raise ShapeError(
            f"class numbers must lie in 0 to {width - 1}, or be -100 to be left out, got {wrong}"
        )
    classes = torch.arange(width, device=numbers.device)
    return (numbers.clamp_min(0)[:, None] == classes).float(), known


def _examples(items: Tensor | int, cells: int, device: torch.device) -> Tensor:
    """Examples of the step, of which Trainer counts `cells` items each: the mean over processes.

    With `average_tokens_across_devices` every process has the count of all, and Trainer multiplies
    the loss by the number of processes; without it, each has its own count, and Trainer multiplies
    nothing. Then gradients are averaged. Dividing by the mean of the counts makes both the mean
    over all examples.
    """
    # DataParallel: the count comes once for each GPU, and the loss, made once, is multiplied by as
    # many
    total = torch.as_tensor(items, device=device).sum()
    processes = 1
    if distributed.is_available() and distributed.is_initialized():
        processes = distributed.get_world_size()
        distributed.all_reduce(total)
    # to the nearest: Trainer rounds the count down when it divides it among GPUs
    return (total / cells).round() / processes


def _move_buffers(module: nn.Module, device: torch.device) -> None:
    """Buffers to the logits' device, for Trainer moves the model only; parameters are the user's
    and stay.
    """
    for owner in module.modules():
        for name, buffer in owner.named_buffers(recurse=False):
            if buffer.device != device:
                setattr(owner, name, buffer.to(device))

"""The objective: loss, targets, mask and weights, composed into one value for a batch."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tagwright import parts
from tagwright.errors import SettingsError
from tagwright.labels.groups import groups_from_names
from tagwright.labels.space import LabelSpace
from tagwright.settings import Settings


class Objective(nn.Module):
    """Sums the loss over the examples of a batch, so that parts of a batch add up to the whole.

    `positive_weight`, `negative_weight`: (L,) or None. `mask_of(target, generator)` draws the terms that take part.
    """

    def __init__(
        self,
        loss: nn.Module,
        *,
        mask_of: Callable[[Tensor, torch.Generator | None], Tensor] | None = None,
        positive_weight: Tensor | None = None,
        negative_weight: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.loss, self.mask_of = loss, mask_of
        self.register_buffer("positive_weight", positive_weight, persistent=False)
        self.register_buffer("negative_weight", negative_weight, persistent=False)

    def forward(
        self,
        logits: Tensor,
        target: Tensor,
        *,
        known: Tensor | None = None,
        example_weight: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Logits and target (B, L) -> the sum over examples. `known` (B, L) is False where nobody judged a label."""
        mask = known if self.mask_of is None else self.mask_of(target, generator)
        if self.mask_of is not None and known is not None:
            mask = mask & known  # type: ignore[operator]
        value: Tensor = self.loss(
            logits,
            target,
            mask=mask,
            positive_weight=self.positive_weight,
            negative_weight=self.negative_weight,
            example_weight=example_weight,
        )
        return value * len(logits) if self.loss.batchwise else value


def build_objective(settings: Settings, space: LabelSpace) -> Objective:
    """The objective that the settings name, for these labels."""
    task = "one" if space.exclusive else "many"
    factory = parts.find("losses", settings.loss.name).factory
    if task not in factory.tasks:  # type: ignore[attr-defined]
        valid = [n for n in parts.names("losses") if task in parts.find("losses", n).factory.tasks]  # type: ignore[attr-defined]
        words = "exactly one label" if task == "one" else "any number of labels"
        raise SettingsError(f"{settings.loss.name} does not fit texts with {words}; losses that do: {', '.join(valid)}")
    if factory.batchwise and settings.fit.accumulate > 1:  # type: ignore[attr-defined]
        raise SettingsError(f"{settings.loss.name} looks at a whole batch, so fit.accumulate must be 1")
    reduction = "mean" if factory.batchwise else "sum"  # type: ignore[attr-defined]
    loss = parts.build("losses", settings.loss.name, settings.loss.options, reduction=reduction)
    return Objective(loss, mask_of=_mask(settings, space), **_weights(settings, space))


def _mask(settings: Settings, space: LabelSpace) -> Callable[[Tensor, torch.Generator | None], Tensor] | None:
    if settings.mask.name == "none":
        return None
    groups = groups_from_names(space.names)
    if (groups.group_ids < 0).all():
        raise SettingsError("a mask needs groups of labels, and the names show none (like NUM:dist or cs.LG)")
    return parts.build("masks", settings.mask.name, settings.mask.options, group_ids=groups.group_ids)


def _weights(settings: Settings, space: LabelSpace) -> dict[str, Tensor | None]:
    if settings.weights.name == "none":
        return {}
    made = parts.build("weights", settings.weights.name, settings.weights.options, label_counts=space.counts)
    pairs = {"positive_weight": made.positive, "negative_weight": made.negative}
    return {k: None if v is None else torch.as_tensor(v, dtype=torch.float32) for k, v in pairs.items()}

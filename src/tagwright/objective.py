"""The objective: loss, targets, mask and weights, composed into one value for a batch."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tagwright import parts
from tagwright.errors import SettingsError
from tagwright.labels.groups import groups_from_names
from tagwright.labels.space import LabelSpace
from tagwright.settings import Settings
from tagwright.weights._weights import LabelWeights

MaskOf = Callable[[Tensor, torch.Generator | None], Tensor]


class Objective(nn.Module):
    """Sums the loss over the examples of a batch, so that parts of a batch add up to the whole.

    `mask_of(target, generator)` draws the terms that take part; `weights` are the labels' own.
    """

    def __init__(self, loss: nn.Module, *, mask_of: MaskOf | None = None, weights: LabelWeights | None = None) -> None:
        super().__init__()
        self.loss, self.mask_of = loss, mask_of
        for name, weight in (weights or LabelWeights())._asdict().items():
            made = None if weight is None else torch.as_tensor(weight, dtype=torch.float32)
            self.register_buffer(name, made, persistent=False)

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
        cells = weight_cells(target, self.positive, self.negative, self.of_gold)  # type: ignore[arg-type]
        value: Tensor = self.loss(logits, target, mask=mask, example_weight=example_weight, **cells)
        return value * len(logits) if self.loss.batchwise else value


def weight_cells(
    target: Tensor, positive: Tensor | None, negative: Tensor | None, of_gold: Tensor | None
) -> dict[str, Tensor | None]:
    """LabelWeights as a loss's keyword arguments for these targets (B, L): (L,) each, or (B, 1) where gold decides."""
    if of_gold is not None:
        negative = target.to(of_gold.dtype) @ of_gold[:, None]
    return {"positive_weight": positive, "negative_weight": negative}


def auxiliary(hard: Tensor, soft: Tensor, *, alpha: float = 1.0, halved: bool = True) -> Tensor:
    """KWLS eq. 9: (hard + alpha * soft) / (2 (1 + alpha)²), of a loss of the hard labels and one of the soft ones.

    The paper's own code leaves the 2 out: `halved=False`. Its soft loss is `squared_error`.

    >>> auxiliary(torch.tensor(3.0), torch.tensor(1.0))
    tensor(0.5000)
    """
    return (hard + alpha * soft) / ((2 if halved else 1) * (1 + alpha) ** 2)


def build_objective(settings: Settings, space: LabelSpace, *, row_count: int) -> Objective:
    """The objective that the settings name, for these labels of `row_count` texts."""
    _check(settings, space)
    facts = {"label_counts": space.counts, "row_count": row_count}
    loss = parts.build("losses", settings.loss.name, settings.loss.options, reduction="sum", **facts)
    weights = None
    if settings.weights.name != "none":
        weights = parts.build("weights", settings.weights.name, settings.weights.options, **facts)
    return Objective(loss, mask_of=_mask(settings, space), weights=weights)


def _check(settings: Settings, space: LabelSpace) -> None:
    """Refuse choices that do not go together, naming those that do."""
    name, task = settings.loss.name, "one" if space.exclusive else "many"
    factory = parts.find("losses", name).factory
    words = "exactly one label" if task == "one" else "any number of labels"
    if task not in factory.tasks:  # type: ignore[attr-defined]
        valid = [n for n in parts.names("losses") if task in parts.find("losses", n).factory.tasks]  # type: ignore[attr-defined]
        raise SettingsError(f"{name} does not fit texts with {words}; losses that do: {', '.join(valid)}")
    if task == "many" and settings.loss.options.get("link", factory.link) == "softmax":  # type: ignore[attr-defined]
        raise SettingsError(f"{name} with link softmax does not fit texts with {words}; set loss.link=sigmoid")
    if factory.batchwise and settings.fit.accumulate > 1:  # type: ignore[attr-defined]
        raise SettingsError(f"{name} looks at a whole batch, so fit.accumulate must be 1")
    weights = settings.weights.name
    if task == "many" and weights != "none" and hasattr(parts.find("weights", weights).factory, "exclusive"):
        valid = [n for n in parts.names("weights") if n != weights]
        raise SettingsError(f"weights {weights} are for exactly one label a text; take {', '.join(valid)}")


def _mask(settings: Settings, space: LabelSpace) -> MaskOf | None:
    if settings.mask.name == "none":
        return None
    groups = groups_from_names(space.names)
    if (groups.group_ids < 0).all():
        raise SettingsError("a mask needs groups of labels, and the names show none (like NUM:dist or cs.LG)")
    made: MaskOf = parts.build("masks", settings.mask.name, settings.mask.options, group_ids=groups.group_ids)
    return made

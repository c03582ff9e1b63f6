"""The objective: loss, targets, mask and weights, composed into one value for a batch."""

from collections.abc import Callable
from typing import TypedDict, Unpack

import torch
from torch import Tensor, nn

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.losses import LossModule, SparseMask, SparseTarget, SquaredErrorLoss
from tagwright.masks import Mask
from tagwright.models.label_matrix.linear_objective import linear_loss
from tagwright.models.label_matrix.row_sums import kind_of
from tagwright.models.shortlist import FULL, shortlisted
from tagwright.settings.schema import Settings
from tagwright.weights.label_weights import LabelWeights

LINKS = ("softmax", "sigmoid", "sigmoid2")  # that make probabilities of logits


class Objective(nn.Module):
    """Sums the loss over the examples of a batch, so that parts of a batch add up to the whole.

    `mask_of(target, generator, …)` draws the terms that take part; `weights` are the labels' own;
    `beside` is what soft labels add to the loss where they do not replace the labels. `begun` is 1
    from the step on at which they count.
    """

    def __init__(
        self,
        loss: LossModule,
        *,
        mask_of: Mask | Callable[[Tensor, torch.Generator | None], Tensor] | None = None,
        weights: LabelWeights | None = None,
        beside: "Beside | None" = None,
    ) -> None:
        super().__init__()
        self.loss, self.mask_of, self.beside = loss, mask_of, beside
        # what a mask that draws once a step finds drawn; None: it draws itself
        self.of_step: Tensor | None = None
        self.begun: Tensor
        self.register_buffer("begun", torch.ones(()), persistent=False)
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
        soft: Tensor | None = None,
        soft_logits: Tensor | None = None,
        excused: Tensor | None = None,
    ) -> Tensor:
        """Logits and target (B, L) -> the sum over examples. `known` (B, L) is False where nobody
        judged a label.

        `excused` (B, L), for a mask by words, is True where a label need not be pushed down. `soft`
        labels (B, L) change nothing of which labels are gold: masks and weights go by the target.
        """
        mask = known
        if self.mask_of is not None:
            facts = {"excused": excused, "of_step": self.of_step}
            mask = self.mask_of(
                target, generator, **{k: v for k, v in facts.items() if v is not None}
            )
            mask = mask if known is None else mask & known
        cells = weight_cells(target, self.positive, self.negative, self.of_gold)  # type: ignore[arg-type]
        truth = target if soft is None or self.beside else torch.where(self.begun > 0, soft, target)
        value: Tensor = self.loss(logits, truth, mask=mask, example_weight=example_weight, **cells)
        if soft is not None and self.beside:
            logits = logits if soft_logits is None else soft_logits
            both = self.beside(value, logits, soft, mask=mask, example_weight=example_weight)
            value = torch.where(self.begun > 0, both, value)
        return value * len(logits) if self.loss.batchwise else value

    def of_tokens(
        self,
        logits: Tensor,
        tags: Tensor,
        *,
        weight: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Logits (B, T, L) and the tags' ids (B, T) -> the sum over tokens; those below 0 take no
        part.

        `weight` (B,) are the texts' own.
        """
        counted = (tags >= 0).to(logits.dtype)
        counted = counted if weight is None else counted * weight[:, None]
        if self.loss.batchwise:  # what takes no part must not be seen at all
            kept = tags >= 0
            logits, tags, counted = logits[kept][None], tags[kept][None], counted[kept][None]
        target = (tags[..., None] == torch.arange(logits.shape[-1], device=tags.device)).to(
            logits.dtype
        )
        facts = {"example_weight": counted.flatten(), "generator": generator}
        value: Tensor = self(logits.flatten(0, 1), target.flatten(0, 1), **facts)
        return value

    def linear(
        self,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        target: SparseTarget,
        *,
        chunk: int,
        known: SparseMask | None = None,
        example_weight: Tensor | None = None,
    ) -> Tensor:
        """The same of logits that are never made: hidden (B, D), the label matrix (L, D) and its
        bias (L,).
        """
        cells = weight_cells(target, self.positive, self.negative, self.of_gold)  # type: ignore[arg-type]
        return linear_loss(
            self.loss,
            hidden,
            weight,
            bias,
            target,
            chunk=chunk,
            mask=known,
            example_weight=example_weight,
            **cells,
        )


def weight_cells(
    target: Tensor | SparseTarget,
    positive: Tensor | None,
    negative: Tensor | None,
    of_gold: Tensor | None,
) -> dict[str, Tensor | None]:
    """LabelWeights as a loss's keyword arguments for these targets (B, L): (L,) each, or (B, 1)
    where gold decides.
    """
    if of_gold is not None and isinstance(target, SparseTarget):
        values = (
            of_gold[target.ids] if target.values is None else of_gold[target.ids] * target.values
        )
        owners = (
            torch.searchsorted(
                target.offsets, torch.arange(len(values), device=values.device), right=True
            )
            - 1
        )
        negative = values.new_zeros(len(target.offsets) - 1).index_add(0, owners, values)[:, None]
    elif of_gold is not None:
        negative = target.to(of_gold.dtype) @ of_gold[:, None]  # type: ignore[union-attr]
    return {"positive_weight": positive, "negative_weight": negative}


class Terms(TypedDict):
    """Which terms of a loss count, and what each text weighs."""

    mask: Tensor | None
    example_weight: Tensor | None


class Beside(nn.Module):
    """KWLS eq. 9: a loss of the labels, and the squared error of soft ones beside it."""

    def __init__(self, *, link: str, alpha: float = 1.0, halved: bool = True) -> None:
        super().__init__()
        self.alpha, self.halved, self.scale = alpha, halved, 2 if link == "sigmoid2" else 1
        self.error = SquaredErrorLoss(
            link="softmax" if link == "softmax" else "sigmoid", reduction="sum"
        )

    def forward(
        self, value: Tensor, logits: Tensor, soft: Tensor, **cells: Unpack[Terms]
    ) -> Tensor:
        """The sum of the loss over examples, logits and soft labels (B, L) -> the sum of both."""
        return auxiliary(
            value,
            self.error(self.scale * logits, soft, **cells),
            alpha=self.alpha,
            halved=self.halved,
        )


def auxiliary(hard: Tensor, soft: Tensor, *, alpha: float = 1.0, halved: bool = True) -> Tensor:
    """KWLS eq. 9: (hard + alpha * soft) / (2 (1 + alpha)²), of a loss of the hard labels and one of
    the soft ones.

    The paper's own code leaves the 2 out: `halved=False`. Its soft loss is `squared_error`.

    >>> auxiliary(torch.tensor(3.0), torch.tensor(1.0))
    tensor(0.5000)
    """
    return (hard + alpha * soft) / ((2 if halved else 1) * (1 + alpha) ** 2)


def build_objective(settings: Settings, space: LabelSpace, *, row_count: int) -> Objective:
    """The objective that the settings name, for these labels of `row_count` texts."""
    _check(settings, space)
    facts = {"label_counts": space.counts, "row_count": row_count}
    loss = registry.build(
        registry.LOSSES, settings.loss.name, settings.loss.options, reduction="sum", **facts
    )
    if settings.head.options.get("chunk"):
        kind_of(loss)
    weights = None
    if settings.weights.name != "none":
        weights = registry.build(
            registry.WEIGHTS, settings.weights.name, settings.weights.options, **facts
        )
    beside = None
    if settings.soft.role == "auxiliary" and settings.targets.name != "hard":
        beside = Beside(link=loss.link, alpha=settings.soft.alpha, halved=settings.soft.halved)
    return Objective(loss, mask_of=_mask(settings, space), weights=weights, beside=beside)


LEARNT = {
    "one": "exactly one label",
    "many": "any number of labels",
    "tokens": "a tag for each token",
}


def _check(settings: Settings, space: LabelSpace) -> None:
    """Refuse choices that do not go together, naming those that do."""
    tagged = registry.find(registry.HEADS, settings.head.name).factory.tags_tokens
    of_texts = "one" if space.exclusive else "many"
    name, task = settings.loss.name, "tokens" if tagged else of_texts
    factory = registry.find(registry.LOSSES, name).factory
    words = LEARNT[task]
    if tagged and (settings.targets.name != "hard" or settings.mask.name != "none"):
        raise SettingsError(
            "soft labels and masks are for labels of whole texts; to tag tokens take hard and none"
        )
    if task not in factory.tasks:
        valid = [
            part.name for part in registry.usable(registry.LOSSES) if task in part.factory.tasks
        ]
        raise SettingsError(
            f"{name} does not fit texts with {words}; losses that do: {', '.join(valid)}"
        )
    if task == "many" and settings.link == "softmax":
        raise SettingsError(
            f"{name} with link softmax does not fit texts with {words}; set loss.link=sigmoid"
        )
    if factory.batchwise and settings.fit.accumulate > 1:
        raise SettingsError(f"{name} looks at a whole batch, so fit.accumulate must be 1")
    _check_chunk(settings, space)
    _check_soft(settings, task)
    weights = settings.weights.name
    if (
        task == "many"
        and weights != "none"
        and registry.find(registry.WEIGHTS, weights).factory.exclusive
    ):
        valid = [one.name for one in registry.usable(registry.WEIGHTS) if not one.factory.exclusive]
        raise SettingsError(
            f"weights {weights} are for exactly one label a text; take {', '.join(valid)}"
        )


def _check_soft(settings: Settings, task: str) -> None:
    """Refuse soft labels where the loss cannot take them."""
    name, factory = settings.loss.name, registry.find(registry.LOSSES, settings.loss.name).factory
    if settings.targets.name == "hard":
        return
    if settings.head.options.get("chunk"):
        raise SettingsError(
            f"targets {settings.targets.name} are of all labels at once; with head.chunk take hard"
        )
    if settings.soft.heads not in (1, 2) or (
        settings.soft.heads == 2 and settings.soft.role != "auxiliary"
    ):
        raise SettingsError(
            f"soft.heads must be 1, or 2 with soft.role=auxiliary, got {settings.soft.heads}"
        )
    link = settings.link
    if settings.soft.role == "auxiliary" and link not in LINKS:
        raise SettingsError(
            f"{name}'s logits give no probabilities to hold beside soft labels; take a loss with"
            f" one of the links {', '.join(LINKS)}, such as bce, zlpr or cross_entropy"
        )
    if settings.soft.role == "replace" and not factory.soft:
        known = [(part.name, part.factory) for part in registry.usable(registry.LOSSES)]
        valid = [n for n, one in known if one.soft and task in one.tasks]
        way = "take soft.role=auxiliary, or" if link in LINKS else "take"
        raise SettingsError(
            f"{name} takes no soft labels; {way} a loss that does: {', '.join(valid)}"
        )


def _check_chunk(settings: Settings, space: LabelSpace) -> None:
    """Refuse what needs all logits or targets of a text at once where labels come in chunks."""
    if not settings.head.options.get("chunk"):
        return
    if registry.find(registry.ENCODERS, settings.encoder.name).factory.sparse:
        raise SettingsError(
            "head.chunk is for encoders with dense vectors, such as cnn and lstm;"
            f" {settings.encoder.name}'s features are sparse: leave --head-chunk out"
        )
    if settings.fit.optimizer == "sgd":
        raise SettingsError("fit.optimizer=sgd does not go with head.chunk; take auto")
    if settings.mask.name != "none":
        raise SettingsError(
            f"mask {settings.mask.name} looks at all labels of a text at once; with head.chunk take"
            " none"
        )
    if shortlisted(settings.head, len(space)) and settings.link == "none":
        raise SettingsError(
            f"{settings.loss.name}'s logits are only an order, and all of dev's are needed to make"
            f" probabilities of them; with head.chunk and more than {FULL:,} labels take bce, focal"
            " or zlpr, or cross_entropy"
        )


def _mask(settings: Settings, space: LabelSpace) -> Mask | None:
    if settings.mask.name == "none":
        return None
    made: Mask = registry.build(
        registry.MASKS, settings.mask.name, settings.mask.options, label_names=space.names
    )
    return made

"""R-Drop: two passes that differ in dropout must agree (arxiv.org/abs/2106.14448), with ZLPR's
divergence, eq. 37.

½ (L₁ + L₂) + α/2 · (KL(p₁ ‖ p₂) + KL(p₂ ‖ p₁)), where p comes of the loss's own link: sigmoid(2s)
for zlpr (eq. 35), sigmoid(s) for bce and its kind, a softmax where a text has one label.
"""

from collections.abc import Mapping

import torch

from tagwright import registry
from tagwright.batches.rows import Batch
from tagwright.errors import SettingsError
from tagwright.losses import symmetric_kl
from tagwright.settings.schema import Settings
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import BatchLoss, Learn
from tagwright.training.regularizers import Regularizer
from tagwright.training.regularizers._checks import require_chances, require_range
from tagwright.training.regularizers._divergence import Divergence, Logits
from tagwright.training.regularizers._two_passes import doubled, first_half, second_half


class RDrop(Regularizer):
    """Both passes are one pass over the batch twice over, but for losses that look at a whole
    batch.

    `alpha` is R-Drop's own in its public code, ½ (L₁ + L₂) + α · ½ (KL + KL). Its paper takes 5 for
    translation and up to 1 for classifying texts, which are what is learnt here; ZLPR's names none.
    """

    depth = 0

    @staticmethod
    def check(settings: Settings, *others: Settings, alpha: float) -> None:
        """Refuse what has no chances to compare, and passes that do not differ."""
        require_range("rdrop", least={"alpha": alpha})
        require_chances("rdrop", settings, *others)
        known = registry.options(
            registry.find(registry.ENCODERS, settings.encoder.name).factory
        ) | dict(settings.encoder.options)
        # a pretrained encoder has dropout inside, whatever falls on its answer
        if not known.get("dropout") and "attention_dropout" not in known:
            way = (
                "set encoder.dropout, for example 0.1"
                if "dropout" in known
                else "take cnn, lstm, bat or minilm"
            )
            raise SettingsError(
                f"rdrop compares two passes that differ in dropout, and {settings.encoder.name} has"
                f" none here; {way}"
            )

    def __init__(
        self, learn: Learn, objectives: Mapping[str, HeadObjective], *, alpha: float = 1.0
    ) -> None:
        self.learn, self.alpha = learn, alpha
        self.divergence = Divergence(symmetric_kl, objectives)
        self.batchwise = any(head.batchwise for head in objectives.values())

    def __call__(self, batch: Batch, generator: torch.Generator) -> BatchLoss:
        """The outcome of the first pass, and the value of both."""
        first, other = self._twice(batch, generator)
        apart = self.divergence.total(first.logits, other, batch)
        return first._replace(value=first.value / 2 + self.alpha / 2 * apart)

    def _twice(self, batch: Batch, generator: torch.Generator) -> tuple[BatchLoss, Logits]:
        """The first pass with the sum of both losses, and the logits of the second."""
        if self.batchwise:
            first, second = (self.learn(batch, generator) for _ in range(2))
            return first._replace(value=first.value + second.value), second.logits
        both = self.learn(doubled(batch), generator)
        return BatchLoss(both.value, first_half(both.logits), first_half(both.hidden)), second_half(
            both.logits
        )


PART = RDrop

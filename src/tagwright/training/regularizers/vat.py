"""Virtual adversarial training: words moved where it hurts most must change little
(arxiv.org/abs/1704.03976).

On word vectors, as in arxiv.org/abs/1605.07725. Adds weight · KL(p(x) ‖ p(x + r)) to the objective,
with ZLPR's divergence (eq. 36) and the loss's own link. r is short, and points where the divergence
grows fastest: the dominant direction of its Hessian, found by power iteration.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from tagwright import registry
from tagwright.batches.rows import Batch
from tagwright.errors import SettingsError
from tagwright.losses import kl
from tagwright.models.network import Network
from tagwright.settings.schema import Settings
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import BatchLoss, Learn
from tagwright.training.regularizers import Regularizer
from tagwright.training.regularizers._checks import require_chances, require_range
from tagwright.training.regularizers._divergence import Divergence, Logits
from tagwright.training.regularizers._without_dropout import with_weights, without_dropout
from tagwright.training.regularizers._word_vectors import Words


class VAT(Regularizer):
    """Moves all words of a text together, by `epsilon` of the text's own length; `xi` is that of
    the trial moves.

    A text's length is that of its word vectors one after the other, so that its words move by
    `epsilon` of themselves in the mean, in texts of 5 words and of 500, with vectors of MiniLM and
    random ones; and that vectors grow is no way out. The papers' 5 for texts of IMDb, some 240
    words of 256 numbers of variance 1, is 0.02 of them. `steps` is how often the direction is
    improved; the papers find one enough. A trial as long as the move itself (docs/regularize.md) is
    short enough for the Hessian to hold, and long enough to move logits by more than bfloat16
    rounds them.

    No pass of it draws dropout, the one that it compares with included: else the divergence would
    be dropout's.
    """

    depth = 1

    @staticmethod
    def check(
        settings: Settings, *others: Settings, xi: float, epsilon: float, steps: int, weight: float
    ) -> None:
        """Refuse what has no chances to compare, and texts without word vectors."""
        require_range(
            "vat", above={"xi": xi, "epsilon": epsilon, "steps": steps}, least={"weight": weight}
        )
        require_chances("vat", settings, *others)
        if registry.find(registry.ENCODERS, settings.encoder.name).factory.sparse:
            raise SettingsError(
                f"vat moves word vectors, and {settings.encoder.name} has none; take cnn, lstm, bat"
                " or minilm"
            )

    def __init__(
        self,
        learn: Learn,
        network: Network,
        objectives: Mapping[str, HeadObjective],
        *,
        xi: float = 0.02,
        epsilon: float = 0.02,
        steps: int = 1,
        weight: float = 1.0,
    ) -> None:
        self.learn, self.network = learn, network
        self.xi, self.epsilon, self.steps, self.weight = xi, epsilon, steps, weight
        self.divergence = Divergence(kl, objectives)

    def __call__(self, batch: Batch, generator: torch.Generator) -> BatchLoss:
        """The outcome as it was, its value with the divergence."""
        found = self.learn(batch, generator)
        with without_dropout(self.network):
            words = Words(self.network, batch.inputs)
            length = words.lengths(words.vectors)
            with torch.no_grad():
                clean = self._logits(batch)
            direction = words.drawn(generator)
            for _ in range(self.steps):
                direction = self._improved(direction, self.xi * length, words, clean, batch)
            with words.moved(self.epsilon * length * direction):
                apart = self.divergence.total(clean, self._logits(batch), batch)
        return found._replace(value=found.value + self.weight * apart)

    def _improved(
        self, direction: Tensor, length: Tensor, words: Words, clean: Logits, batch: Batch
    ) -> Tensor:
        """The Hessian's product with a direction, as one of length 1: at 0 the divergence and its
        gradient vanish.
        """
        direction = direction.requires_grad_()
        with with_weights(self.network), words.moved(length * direction):
            apart = self.divergence(clean, self._logits(batch), batch).sum()
        return words.unit(torch.autograd.grad(apart, direction)[0])

    def _logits(self, batch: Batch) -> Logits:
        return self.network.run(*batch.inputs, shown=batch.shown)[1]


PART = VAT

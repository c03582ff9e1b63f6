"""Every label whose logit is above 0: the natural decision of ZLPR, and p > 0.5 of a sigmoid."""

from tagwright.arrays import Bools, Floats
from tagwright.decisions import Decision


class Zero(Decision):
    """Chooses any number of labels, without a threshold to fit."""

    def describe(self) -> str:
        """A sentence for the model card."""
        return "Every label whose logit is above 0."

    def choose(self, logits: Floats, probabilities: Floats) -> Bools:
        """Scores (n, L) -> bool (n, L)."""
        return logits > 0


PART = Zero

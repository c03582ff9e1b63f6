"""Every label whose probability is above one given value."""

from tagwright.arrays import Bools, Floats
from tagwright.decisions import Decision
from tagwright.errors import SettingsError


class Fixed(Decision):
    """Chooses any number of labels; the same bar for all."""

    def __init__(self, *, probability: float = 0.5) -> None:
        self.check(probability=probability)
        self.probability: float = probability

    @classmethod
    def check(cls, *, probability: float) -> None:
        """Refuse what is no probability."""
        if not 0 <= probability <= 1:
            raise SettingsError(f"decide.probability must lie in [0, 1], got {probability}")

    def describe(self) -> str:
        """A sentence for the model card."""
        return "Every label whose probability is above one fixed value."

    def choose(self, logits: Floats, probabilities: Floats) -> Bools:
        """Scores (n, L) -> bool (n, L)."""
        return probabilities > self.probability


PART = Fixed

"""A trained model: network, tokeniser, and for each head its labels, link and decision."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tagwright.batches.inputs import FeatureInputs, Inputs, TokenInputs
from tagwright.batches.tokens import Tokens
from tagwright.embed import Tokeniser
from tagwright.fit.evaluate import logits_of
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, Calibration, probabilities
from tagwright.network import Network
from tagwright.settings import Settings


class Scores(NamedTuple):
    """What a model says of n texts, each (n, L)."""

    logits: np.ndarray
    probabilities: np.ndarray
    chosen: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Head:
    """A head as the world sees it. `decision` has `choose(logits, probabilities)`; `metrics` were measured on dev."""

    space: LabelSpace
    link: str
    rule: str
    decision: Any
    metrics: dict[str, Any] = field(default_factory=dict)
    calibration: Calibration = IDENTITY

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Logits (n, L) -> probabilities (n, L)."""
        return probabilities(logits, self.link, exclusive=self.space.exclusive, calibration=self.calibration)

    def scores(self, logits: np.ndarray) -> Scores:
        """Logits (n, L) -> all three."""
        values = self.probabilities(logits)
        return Scores(logits, values, self.decision.choose(logits, values))


@dataclass(frozen=True, kw_only=True)
class Model:
    """Ready to tag. `learned` are arrays that the encoder took from the training texts, if it does."""

    settings: Settings
    tokeniser: Tokeniser
    network: Network
    heads: dict[str, Head]
    learned: dict[str, np.ndarray] = field(default_factory=dict)

    def scores(self, texts: pa.ChunkedArray | Sequence[str], *, head: str = "main", batch: int = 256) -> Scores:
        """What the model says of these texts; an empty text is scored like any other."""
        inputs = inputs_of(self.network, self.tokeniser.encode(texts), limit=self.settings.fit.limit)
        logits = logits_of(self.network, inputs, head=head, batch=batch)
        return self.heads[head].scores(logits.reshape(len(texts), len(self.heads[head].space)))


def inputs_of(network: Network, tokens: Tokens, *, limit: int) -> Inputs:
    """Tokens as the network's encoder wants them: as they are, its own way, or as sparse features."""
    own = getattr(network.encoder, "inputs_of", None)
    if own is not None:
        return own(tokens, limit=limit)
    features = getattr(network.encoder, "features", None)
    return TokenInputs(tokens, limit) if features is None else FeatureInputs(features(tokens))

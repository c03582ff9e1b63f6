"""The head of masked-language modelling (BERT, arxiv.org/abs/1810.04805): states to logits of word
pieces.

It stands beside the other heads while they are trained, and is no part of a model.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from tagwright.models.heads import Head

CELLS = 2**25  # logits that are made at once
LINEAR = 3.0  # so far above 0 an activation is as good as none


MASKED = "masked pieces"  # its name in a network; no head of a model is called so


class MaskedPieces(Head):
    """Dense, activation, norm, and the product with word vectors (V, E), which the encoder keeps,
    plus a bias (V,).

    `mask` is the id of the token that hides a piece, `pieces` (P,) are the ids of those that may be
    hidden, or put in another's place. It starts as the identity into the word vectors; `back` (E,
    D) is what undoes the encoder's own projection where widths differ.
    """

    beside = True  # the network's logits are without it

    def __init__(
        self,
        width: int,
        vectors: Tensor,
        pieces: Tensor,
        *,
        mask: int,
        back: Tensor | None = None,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        epsilon: float = 1e-12,
    ) -> None:
        super().__init__()
        count, own = vectors.shape
        self.mask, self.activation = mask, activation
        self.dense, self.norm = (
            nn.utils.skip_init(nn.Linear, width, own),
            nn.LayerNorm(own, eps=epsilon),
        )
        self.bias = nn.Parameter(torch.zeros(count))
        with torch.no_grad():
            self.dense.weight.copy_(torch.eye(own, width) if back is None else back)
            self.dense.bias.fill_(LINEAR)  # the norm takes off what is added to all
        self.pieces: Tensor
        self.maskable: Tensor  # bool (V,)
        self.register_buffer("pieces", pieces, persistent=False)
        self.register_buffer("maskable", torch.zeros(count, dtype=torch.bool), persistent=False)
        self.maskable[pieces] = True

    def forward(self, states: Tensor, vectors: Tensor) -> Tensor:
        """States (N, D) and word vectors (V, E) -> logits (N, V)."""
        return F.linear(self._into(states), vectors, self.bias)

    def losses(self, states: Tensor, vectors: Tensor, gold: Tensor) -> Tensor:
        """Minus the log chance of the piece `gold` (N,) at each of the states (N, D): (N,), at
        least in float32.

        Where all logits would be many, they are made some rows at a time, and again for the
        gradient.
        """
        states, rows = self._into(states), max(CELLS // len(vectors), 1)
        if len(states) <= rows:
            return _losses(states, vectors, self.bias, gold)
        # the state of generators is not asked for: nothing is drawn, and a captured step could not
        # tell
        parts = zip(states.split(rows), gold.split(rows))
        return torch.cat(
            [
                checkpoint(
                    _losses,
                    some,
                    vectors,
                    self.bias,
                    own,
                    use_reentrant=False,
                    preserve_rng_state=False,
                )
                for some, own in parts
            ]
        )

    def _into(self, states: Tensor) -> Tensor:
        found: Tensor = self.norm(self.activation(self.dense(states)))
        return found


def _losses(states: Tensor, vectors: Tensor, bias: Tensor, gold: Tensor) -> Tensor:
    logits = F.linear(states, vectors, bias)
    return F.cross_entropy(
        logits.to(torch.promote_types(logits.dtype, torch.float32)), gold, reduction="none"
    )

"""The document head: one logit a label, from a text's pooled vector or its sparse features."""

import torch
from torch import Tensor, nn

from tagwright.encoders.hidden import Hidden
from tagwright.heads._sparse_linear import SparseLinear


class Document(nn.Module):
    """A linear map from the encoder's `width` to the labels; `sparse` where the encoder gives sparse rows.

    `bias` (L,) is where the labels start: what the loss would predict knowing only how frequent they are.
    """

    def __init__(self, width: int, label_count: int, sparse: bool, bias: Tensor) -> None:
        super().__init__()
        self.linear = (SparseLinear if sparse else nn.Linear)(width, label_count)
        with torch.no_grad():
            self.linear.bias.copy_(bias)

    def forward(self, hidden: Hidden) -> Tensor:
        """Hidden -> logits (B, L)."""
        logits: Tensor = self.linear(hidden.pooled)
        return logits


PART = Document

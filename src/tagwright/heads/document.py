"""The document head: one logit a label, from a text's pooled vector or its sparse features."""

import torch
from torch import Tensor, nn

from tagwright.encoders.hidden import Hidden
from tagwright.heads._sparse_linear import SparseLinear


class Document(nn.Module):
    """A linear map from the encoder's `width` to the labels; `sparse` where the encoder gives sparse rows.

    `bias` (L,) is where the labels start: what the loss would predict knowing only how frequent they are.
    `extra_logits` is 1 for a loss with a threshold class; its logit comes last. `zero` is the loss's own threshold.
    """

    def __init__(
        self, width: int, label_count: int, sparse: bool, bias: Tensor, extra_logits: int, zero: float
    ) -> None:
        super().__init__()
        self.label_count, self.zero = label_count, zero
        self.linear = (SparseLinear if sparse else nn.Linear)(width, label_count + extra_logits)
        with torch.no_grad():
            self.linear.bias.copy_(nn.functional.pad(bias, (0, extra_logits)))

    def forward(self, hidden: Hidden) -> Tensor:
        """Hidden -> logits (B, L), or (B, L + 1) with a threshold class."""
        logits: Tensor = self.linear(hidden.pooled)
        return logits

    def of_labels(self, logits: Tensor) -> Tensor:
        """The logits of labels (B, L), measured from the loss's threshold or from the threshold class."""
        if logits.shape[-1] == self.label_count:
            return logits - self.zero
        return logits[:, : self.label_count] - logits[:, self.label_count :]


PART = Document

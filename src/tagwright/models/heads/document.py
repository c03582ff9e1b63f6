"""The document head: one logit a label, from a text's pooled vector or its sparse features."""

from functools import partial

import torch
from torch import Tensor, nn

from tagwright.errors import SettingsError
from tagwright.models.heads import Head
from tagwright.models.heads._sparse_linear import SparseLinear
from tagwright.models.hidden import Hidden

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
OPTIMIZERS = ("auto", "adamw", "row_adagrad")


class Document(Head):
    """A linear map from the encoder's `width` to the labels; `sparse` where the encoder gives
    sparse rows.

    `bias` (L,) is where the labels start: what the loss would predict knowing only how frequent
    they are. `extra_logits` is 1 for a loss with a threshold class; its logit comes last. `zero` is
    the loss's own threshold. For very many labels: with a `chunk` the loss takes so many labels at
    a time and never makes all logits; `dtype` is that of the label matrix, `optimizer` and
    `learning_rate` move it (the rate is row Adagrad's); more than 16,384 labels are scored by a
    `shortlist` of the highest.
    """

    def __init__(
        self,
        width: int,
        label_count: int,
        sparse: bool,
        bias: Tensor,
        extra_logits: int,
        zero: float,
        *,
        chunk: int = 0,
        dtype: str = "float32",
        shortlist: int = 100,
        optimizer: str = "auto",
        learning_rate: float = 0.3,
    ) -> None:
        super().__init__()
        _check(chunk, dtype, shortlist, optimizer, sparse=sparse)
        self.label_count, self.zero, self.chunk, self.shortlist = (
            label_count,
            zero,
            chunk,
            shortlist,
        )
        made = SparseLinear if sparse else partial(nn.Linear, dtype=DTYPES[dtype])
        self.linear = made(width, label_count + extra_logits)
        # of a bias little is gained by half precision, and its steps are small
        self.linear.bias = nn.Parameter(nn.functional.pad(bias.float(), (0, extra_logits)))

    def forward(self, hidden: Hidden) -> Tensor:
        """Hidden -> logits (B, L), or (B, L + 1) with a threshold class."""
        weight, bias = self.linear.weight, self.linear.bias
        if weight.dtype == torch.float32:
            logits: Tensor = self.linear(hidden.pooled)
            return logits
        logits = nn.functional.linear(hidden.pooled.to(weight.dtype), weight)
        return logits.float() + bias

    def of_labels(self, logits: Tensor) -> Tensor:
        """The logits of labels (B, L), measured from the loss's threshold or from the threshold
        class.
        """
        if logits.shape[-1] == self.label_count:
            return logits - self.zero
        return logits[:, : self.label_count] - logits[:, self.label_count :]


def _check(chunk: int, dtype: str, shortlist: int, optimizer: str, *, sparse: bool) -> None:
    if chunk < 0 or shortlist < 5:
        raise SettingsError(
            f"head.chunk must be at least 0 and head.shortlist at least 5, got {chunk} and"
            f" {shortlist}"
        )
    for name, value, choices in (
        ("dtype", dtype, tuple(DTYPES)),
        ("optimizer", optimizer, OPTIMIZERS),
    ):
        if value not in choices:
            raise SettingsError(f"head.{name} must be {' or '.join(choices)}, got {value!r}")
    if sparse and chunk:
        raise SettingsError(
            "head.chunk is for encoders with dense vectors; bow's features are sparse: take cnn or"
            " lstm"
        )
    if not chunk and (dtype != "float32" or optimizer != "auto"):
        raise SettingsError(
            "head.dtype and head.optimizer go with head.chunk; set it, for example --head-chunk"
            " 16384"
        )
    if dtype == "bfloat16" and optimizer == "adamw":
        raise SettingsError(
            "AdamW's steps are lost in bfloat16 weights; head.dtype=bfloat16 goes with row_adagrad"
        )


PART = Document

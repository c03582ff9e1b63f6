"""The token head: one logit a tag for every token, from the encoder's states."""

from torch import Tensor, nn

from tagwright.errors import SettingsError
from tagwright.models.heads import Head
from tagwright.models.hidden import Hidden


class TokenTags(Head):
    """A linear map from the encoder's `width` to the tags, position by position.

    `bias` (L,) is where the tags start. A text longer than `fit.limit` is read in windows that
    share `overlap` tokens.
    """

    tags_tokens = True

    def __init__(
        self,
        width: int,
        label_count: int,
        whole_texts: bool,
        bias: Tensor,
        extra_logits: int,
        *,
        overlap: int = 64,
    ) -> None:
        super().__init__()
        if whole_texts:
            raise SettingsError(
                "this encoder knows texts only as a whole; to tag tokens take bat, lstm or"
                " pretrained"
            )
        if extra_logits:
            raise SettingsError(
                "a loss with a threshold class is for labels of whole texts; take cross_entropy or"
                " cecl"
            )
        if overlap < 0:
            raise SettingsError(f"head.overlap must be at least 0, got {overlap}")
        self.label_count = label_count
        self.linear = nn.Linear(width, label_count)
        self.linear.bias = nn.Parameter(bias.float())

    def forward(self, hidden: Hidden) -> Tensor:
        """Hidden -> logits (B, T, L)."""
        logits: Tensor = self.linear(hidden.states)
        return logits


PART = TokenTags

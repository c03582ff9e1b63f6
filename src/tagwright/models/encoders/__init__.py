"""Tokens to hidden vectors: one file, one encoder. `Encoder` is what they have in common."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Generic

from torch import Tensor, nn

from tagwright.arrays import Numbers
from tagwright.registry import Kind, P

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from tagwright.batches.inputs import Inputs
    from tagwright.data.dataset import Size
    from tagwright.models.encoders.without_words import Removals
    from tagwright.models.hidden import Hidden
    from tagwright.tokenizers.tokens import Tokens

__all__ = ["KIND", "Encoder"]


class Encoder(nn.Module, Generic[P]):
    """What every encoder derives from: tokens of texts in, `Hidden` out.

    `forward` takes the tensors that `inputs_of(…).batch` gives, which are ids (B, T), or (B, T, F)
    of F channels, and lengths (B,) unless an encoder makes its own. It returns `Hidden` with
    `pooled` (B, D) and, unless it declares `whole_texts`, `states` (B, T, D). What stands past a
    text's length must change nothing, and no text may change another. An empty text is a text.
    """

    width_out: int  # D
    sparse: ClassVar[bool] = False  # `pooled` is `SparseRows`, for a head whose gradient is sparse
    whole_texts: ClassVar[bool] = False  # there are no states of tokens, so it cannot tag them
    embed: ClassVar[str | None] = None  # the only tokens that it reads, if it was trained with some
    reads_slots: bool = False  # `forward` takes `slots`, vectors to read before a text
    skips: ClassVar[bool] = False  # it has `without`
    every_place: bool = True  # each place of a text has a word vector of its own; may be set
    # of one that reads slots: the kind of its model, and the positions that slots may take
    family: str
    slot_room: int | None
    precision: str = "float32"  # what it computes in; "auto" is settled when training starts

    if TYPE_CHECKING:

        @property
        def words(self) -> nn.Embedding:
            """Of one that reads slots: the vectors of word pieces."""

    @staticmethod
    def defaults(
        task: str, objective: str | None, options: Mapping[str, object], size: "Size | None"
    ) -> Mapping[str, object]:
        """Settings of any section that suit this encoder; what the user gives goes before them.

        `task` is one, many, tokens or both; `options` are the encoder's own settings as given, and
        `size` says how much there is to learn from, where that is known.
        """
        return {}

    @staticmethod
    def learn(tokens: "Tokens", *given: P.args, **options: P.kwargs) -> dict[str, Numbers]:
        """Arrays made of the training texts before the encoder is, which the model folder keeps.

        They reach the encoder as `learned`, and take at most eight times the bytes of the weights.
        `given` is the tokenizer, and `options` are all its settings.
        """
        return {}

    @staticmethod
    def said(
        tokens: "Tokens", learned: Mapping[str, Numbers], *_: P.args, **options: P.kwargs
    ) -> str | None:
        """A sentence about texts that it will not read whole, if it knows of any.

        `options` are all its settings, and `limit`, the most tokens of a text that are read.
        """
        return None

    def inputs_of(self, tokens: "Tokens", *, limit: int) -> "Inputs":
        """Tokens as the encoder takes them, in batches."""
        from tagwright.batches.inputs import TokenInputs

        return TokenInputs(tokens, limit)

    def features(self, tokens: "Tokens") -> "csr_array":
        """Rows of features (n, D) of texts; for an encoder that is `sparse`."""
        raise NotImplementedError

    def word_vectors(self) -> nn.Module | None:
        """The module inside that turns ids into word vectors (R, T, E), if there is one."""
        from tagwright.models.embeddings import Lookup

        return next((module for module in self.modules() if isinstance(module, Lookup)), None)

    def without(self, ids: Tensor, lengths: Tensor, cuts: "Removals") -> "Iterator[Hidden]":
        """`forward` of copies of texts that leave some tokens out; for an encoder that `skips`."""
        raise NotImplementedError

    def depths(self) -> dict[Tensor, int] | None:
        """How many layers lie above each parameter, for a rate that falls with depth; None: no
        layers.
        """
        return None

    def finish(self) -> None:
        """Called once at the end of training, before the weights are saved."""


KIND = Kind(
    title="encoder",
    facts={
        "sizes": "how many ids each channel of the tokens has",
        "learned": "the arrays that the encoder's `learn` made of the training texts",
        "vectors": "given word vectors (sizes[0], D), or None",
        "fresh": "whether weights start from their source; else they are loaded afterwards",
        "precision": "what to compute in: auto, float32 or bfloat16",
        "limit": "how many tokens of a text are read",
    },
    base=Encoder,
)

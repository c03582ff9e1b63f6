"""The word pieces of a pretrained encoder, by its own tokenizer; nothing is learnt."""

from dataclasses import dataclass

from tagwright.errors import SettingsError
from tagwright.tokenizers._texts import Texts
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.pretrained import OwnPieces, read_pieces
from tagwright.tokenizers.source import find_source


@dataclass(frozen=True, kw_only=True)
class Pieces(Embed):
    """`source` is where the encoder comes from; other encoders have none, and cannot use its
    pieces.
    """

    source: str | None

    def train(self, texts: Texts, *, seed: int = 0) -> OwnPieces:
        """The encoder's tokenizer, as it is."""
        if self.source is None:
            raise SettingsError(
                "embed pieces belongs to a pretrained encoder; take --encoder minilm, or embed"
                " subword"
            )
        return read_pieces(find_source(self.source))


PART = Pieces

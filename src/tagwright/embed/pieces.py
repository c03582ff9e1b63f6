"""The word pieces of a pretrained encoder, by its own tokenizer; nothing is learnt."""

from dataclasses import dataclass

from tagwright.embed._embed import Embed
from tagwright.embed._pieces import OwnPieces, read_pieces
from tagwright.embed._source import find_source
from tagwright.embed._texts import Texts
from tagwright.errors import SettingsError


@dataclass(frozen=True, kw_only=True)
class Pieces(Embed):
    """`source` is where the encoder comes from; other encoders have none, and cannot use its pieces."""

    source: str | None

    def train(self, texts: Texts, *, seed: int = 0) -> OwnPieces:
        """The encoder's tokeniser, as it is."""
        if self.source is None:
            raise SettingsError("embed pieces belongs to a pretrained encoder; take --encoder minilm, or embed subword")
        return read_pieces(find_source(self.source))


PART = Pieces

"""Texts to ids and ids to vectors: one file, one way to cut a text into tokens."""

from tagwright.registry import Kind
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.tokenizer import Tokeniser, load_tokeniser, read_tokeniser

__all__ = ["KIND", "Embed", "Tokeniser", "load_tokeniser", "read_tokeniser"]

KIND = Kind(
    title="tokeniser",
    base=Embed,
    facts={
        "source": (
            "where a pretrained encoder comes from that reads these tokens; None for other encoders"
        )
    },
)

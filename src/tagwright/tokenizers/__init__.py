"""Texts to ids and ids to vectors: one file, one way to cut a text into tokens."""

from tagwright.registry import Kind
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.tokenizer import Tokenizer, load_tokenizer, read_tokenizer

__all__ = ["KIND", "Embed", "Tokenizer", "load_tokenizer", "read_tokenizer"]

KIND = Kind(
    title="tokenizer",
    base=Embed,
    facts={
        "source": (
            "where a pretrained encoder comes from that reads these tokens; None for other encoders"
        )
    },
)

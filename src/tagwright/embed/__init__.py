"""Texts to ids and ids to vectors: one file, one way to cut a text into tokens."""

from tagwright.embed._tokeniser import Tokeniser, load_tokeniser

__all__ = ["Tokeniser", "load_tokeniser"]

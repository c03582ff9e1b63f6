"""Hashed word, prefix, suffix and shape: no vocabulary to train, rare and misspelt words keep their
parts.
"""

from dataclasses import dataclass

from tagwright.tokenizers._hashed import Hashed
from tagwright.tokenizers._texts import Texts
from tagwright.tokenizers.base import Embed


@dataclass(frozen=True, kw_only=True)
class Hashes(Embed):
    """`size` ids for words, `affix_size` for the first and the last `affix` letters, `shape_size`
    for shapes.

    >>> Hashes().train([]).sizes
    (30000, 5000, 5000, 1000)
    """

    size: int = 30_000
    affix_size: int = 5_000
    shape_size: int = 1_000
    affix: int = 3

    def train(self, texts: Texts, *, seed: int = 0) -> Hashed:
        """The tokenizer; nothing is learnt from the texts."""
        return Hashed(
            size=self.size, affix_size=self.affix_size, shape_size=self.shape_size, affix=self.affix
        )


PART = Hashes

"""Words and their letters side by side: a word that train has never seen is still known by its
parts.
"""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from tagwright.errors import SettingsError
from tagwright.tokenizers._spelling import Spelling, words_of
from tagwright.tokenizers._texts import Texts, slices
from tagwright.tokenizers.base import Embed


@dataclass(frozen=True, kw_only=True)
class Spelled(Embed):
    """The `size` most frequent words and every letter, if they occur at least `minimum` times.

    >>> Spelled(minimum=1).train(["a ab"]).sizes
    (5, 6)
    """

    whole_texts: ClassVar[bool] = True

    size: int = 500_000
    minimum: int = 2
    lowercase: bool = True

    def train(self, texts: Texts, *, seed: int = 0) -> Spelling:
        """Count words and letters; among equally frequent ones the lower code point wins, so no
        seed is needed.
        """
        if self.size < 4 or self.minimum < 1:
            raise SettingsError(
                f"spelled needs a size of at least 4 and a minimum of at least 1, got {self}"
            )
        words: Counter[str] = Counter()
        letters: Counter[str] = Counter()
        for part in slices(texts):
            for entry in words_of(part, lowercase=self.lowercase)[0].value_counts().to_pylist():
                words[entry["values"]] += entry["counts"]
                for letter in entry["values"]:
                    letters[letter] += entry["counts"]
        ranked = sorted((-count, word) for word, count in words.items() if count >= self.minimum)
        known = tuple(word for _, word in ranked[: self.size - 3])
        return Spelling(
            lexicon=known,
            letters="".join(
                sorted(letter for letter, count in letters.items() if count >= self.minimum)
            ),
            lowercase=self.lowercase,
        )


PART = Spelled

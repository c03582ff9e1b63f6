"""What every way to cut texts into tokens is."""

from typing import TYPE_CHECKING, ClassVar

from tagwright.tokenizers._texts import Texts

if TYPE_CHECKING:
    from tagwright.tokenizers.tokenizer import Tokenizer


class Embed:
    """What every part derives from: texts of train in, a tokenizer out."""

    whole_texts: ClassVar[bool] = False  # its tokenizer does not take tokens that are cut already

    def train(self, texts: Texts, *, seed: int = 0) -> "Tokenizer":
        """A tokenizer that has learnt from these texts; the same texts and seed give the same
        one.
        """
        raise NotImplementedError

    def train_tokens(self, words: Texts, *, seed: int = 0) -> "Tokenizer":
        """The same where texts come as tokens that are cut already, one after the other."""
        return self.train(words, seed=seed)

"""Words: cut at white space and punctuation; a character of a script without spaces is a word."""

from dataclasses import dataclass

from tokenizers import Regex, models, pre_tokenizers, trainers

from tagwright.tokenizers._texts import PADDING, UNKNOWN, UNSPACED, Texts
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.tokenizer import TrainedTokenizer, train

_WORD = rf"[{UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]&&[^{UNSPACED}]]+|\S"


@dataclass(frozen=True, kw_only=True)
class Word(Embed):
    """The `size` most frequent words that occur at least `minimum` times, two ids for padding and
    unknown included.

    >>> Word(minimum=1).train(["a b", "b 手机"]).vocabulary
    {'[PAD]': 0, '[UNK]': 1, 'b': 2, 'a': 3, '手': 4, '机': 5}
    """

    size: int = 30_000
    minimum: int = 2
    lowercase: bool = True

    def train_tokens(self, words: Texts, *, seed: int = 0) -> TrainedTokenizer:
        """The same of tokens that are cut already: each is one word, whatever it is made of."""
        return self.train(
            words, seed=seed, pieces=pre_tokenizers.Split(Regex(r"[\s\S]+"), "isolated")
        )

    def train(
        self, texts: Texts, *, seed: int = 0, pieces: pre_tokenizers.PreTokenizer | None = None
    ) -> TrainedTokenizer:
        """Count the words; of equally frequent ones the first in code point order comes first, so
        no seed is needed.
        """
        trainer = trainers.WordLevelTrainer(
            vocab_size=self.size,
            min_frequency=self.minimum,
            special_tokens=[PADDING, UNKNOWN],
            show_progress=False,
        )
        model = models.WordLevel(unk_token=UNKNOWN)
        return train(model, trainer, texts, lowercase=self.lowercase, pieces=pieces or _cut())


def _cut() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)


PART = Word

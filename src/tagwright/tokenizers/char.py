"""Characters: every code point of the NFC text is a token, a run of white space is one."""

from dataclasses import dataclass

from tokenizers import Regex, models, pre_tokenizers, trainers

from tagwright.tokenizers._texts import PADDING, UNKNOWN, Texts
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.tokenizer import TrainedTokenizer, train


@dataclass(frozen=True, kw_only=True)
class Char(Embed):
    """The `size` most frequent characters that occur at least `minimum` times.

    >>> Char(minimum=1).train(["aba"]).vocabulary
    {'[PAD]': 0, '[UNK]': 1, 'a': 2, 'b': 3}
    """

    size: int = 10_000
    minimum: int = 2
    lowercase: bool = False

    def train(self, texts: Texts, *, seed: int = 0) -> TrainedTokenizer:
        """Count the characters; of equally frequent ones the lower code point comes first, so no
        seed is needed.
        """
        trainer = trainers.WordLevelTrainer(
            vocab_size=self.size,
            min_frequency=self.minimum,
            special_tokens=[PADDING, UNKNOWN],
            show_progress=False,
        )
        model, pieces = (
            models.WordLevel(unk_token=UNKNOWN),
            pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated"),
        )
        return train(model, trainer, texts, lowercase=self.lowercase, pieces=pieces, spaces=True)


PART = Char

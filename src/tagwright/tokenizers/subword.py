"""Sub-words: byte-pair encoding inside words (Sennrich 2016, arxiv.org/abs/1508.07909); "▁" marks a
preceding space.
"""

import unicodedata
from dataclasses import dataclass

import numpy as np
from tokenizers import Regex, models, pre_tokenizers, trainers

from tagwright.tokenizers._texts import PADDING, UNKNOWN, Texts, slices
from tagwright.tokenizers.base import Embed
from tagwright.tokenizers.tokenizer import TrainedTokenizer, train

_SPACE = "▁"


@dataclass(frozen=True, kw_only=True)
class Subword(Embed):
    """`size` pieces at most; pairs and characters that occur less than `minimum` times are not
    learnt.

    Text without spaces is a single long word, in which frequent sequences become pieces.
    """

    size: int = 16_000
    minimum: int = 2
    lowercase: bool = True

    def train(self, texts: Texts, *, seed: int = 0) -> TrainedTokenizer:
        """Merge the most frequent pairs; ties are broken by the pair, so no seed is needed."""
        alphabet = self._alphabet(texts)
        trainer = trainers.BpeTrainer(
            vocab_size=self.size,
            min_frequency=self.minimum,
            special_tokens=[PADDING, UNKNOWN],
            # the trainer's own choice among equally rare characters is not stable; given ones
            # always win
            initial_alphabet=alphabet,
            limit_alphabet=len(alphabet),
            show_progress=False,
        )
        marks = pre_tokenizers.Split(Regex(r"[^\p{L}\p{M}\p{N}\s]"), "isolated")
        pieces = pre_tokenizers.Sequence(
            [marks, pre_tokenizers.Metaspace(_SPACE, prepend_scheme="first")]
        )
        model = models.BPE(unk_token=UNKNOWN)
        return train(model, trainer, texts, lowercase=self.lowercase, pieces=pieces, spaces=True)

    def _alphabet(self, texts: Texts) -> list[str]:
        """The most frequent characters, at most half of the pieces, lower code points first among
        equals.
        """
        counts = np.zeros(0x110000, np.int64)
        for part in slices(texts):
            text = unicodedata.normalize("NFC", " ".join(part))
            text = text.lower() if self.lowercase else text
            counts += np.bincount(
                np.frombuffer(text.encode("utf-32-le"), np.uint32), minlength=len(counts)
            )
        order = np.argsort(-counts, kind="stable")[: max(self.size // 2, 1)]
        frequent = [chr(code) for code in order[counts[order] >= max(self.minimum, 1)]]
        return [
            _SPACE,
            *(
                character
                for character in frequent
                if not character.isspace() and character != _SPACE
            ),
        ]


PART = Subword

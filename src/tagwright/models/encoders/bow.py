"""Bag of words: TF-IDF of words and word pairs, straight to a linear head; the honest baseline."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from scipy.sparse import csr_array, hstack
from torch import Tensor

from tagwright.arrays import Numbers
from tagwright.batches.inputs import FeatureInputs
from tagwright.batches.sparse import SparseRows
from tagwright.data.dataset import Size
from tagwright.errors import ShapeError
from tagwright.models.encoders import Encoder
from tagwright.models.encoders._ngrams import NGrams
from tagwright.models.hidden import Hidden
from tagwright.tokenizers.tokens import Tokens

_PADDING_AND_UNKNOWN = (0, 1)


class BagOfWords(Encoder):
    """Has no weights: its features are the text's n-grams, and the head is the linear model.

    `learned` are the arrays that `learn` made from the training texts. Tokens with a channel of
    letters (`spelled`) add a block of 3 to 5 letters inside words, of length `spelling` where the
    words' is 1.
    """

    sparse = True
    whole_texts = True  # no states of tokens

    @staticmethod
    def defaults(
        task: str, objective: str | None, options: Mapping[str, object], size: Size | None
    ) -> Mapping[str, object]:
        """With one label a text: letters beside words, and a support vector machine (docs/log.md
        says why).
        """
        fit: dict[str, object] = {
            "epochs": 8,
            "batch": 256,
            "learning_rate": 3.0,
            "clip": 0.0,
            "patience": 0,
            "refit": True,
        }
        schedule = {"name": "linear", "warmup": 0.0}
        if task != "one":
            # the second fit moves logits: cuts that are drawn to the common one bear that best
            # (docs/log.md)
            cuts = {"name": "threshold", "shrink": 2.0, "micro": 0.0}
            own = {"objective": "bce", "decide": cuts} if task == "many" else {}
            return {
                "embed": {"name": "word", "size": 500_000},
                "schedule": schedule,
                "fit": fit,
                **own,
            }
        if objective in (None, "squared_hinge"):
            fit |= {
                "epochs": 20,
                "batch": 32,
                "learning_rate": 2.0,
                "optimizer": "sgd",
                "weight_decay": 2e-4,
            }
        return {
            "objective": "squared_hinge",
            "embed": {"name": "spelled"},
            "encoder": {"name": "bow", "longest": 3},
            "schedule": schedule,
            "fit": fit,
        }

    def __init__(
        self,
        learned: Mapping[str, Numbers],
        *,
        longest: int = 2,
        minimum: int = 2,
        spelling: float = 0.7,
    ) -> None:
        super().__init__()
        self.spelling = spelling
        own = {name: array for name, array in learned.items() if not name.startswith("letters_")}
        letters = {
            name.removeprefix("letters_"): array
            for name, array in learned.items()
            if name not in own
        }
        self.grams = NGrams.from_arrays(own)
        self.letters = NGrams.from_arrays(letters) if letters else None
        self.width_out = self.grams.width + (self.letters.width if self.letters else 0)

    @staticmethod
    def learn(
        tokens: Tokens,
        tokenizer: object = None,
        *,
        longest: int = 2,
        minimum: int = 2,
        **others: object,
    ) -> dict[str, Numbers]:
        """The n-grams of up to `longest` words that at least `minimum` texts hold, with their idf;
        those of letters.
        """
        words, letters = _channels(tokens)
        grams = partial(NGrams.learn, min_documents=minimum, ignore=_PADDING_AND_UNKNOWN)
        learned = grams(words, longest=longest).arrays()
        if letters is not None:
            spelt = grams(letters, shortest=3, longest=5).arrays()
            learned |= {f"letters_{name}": array for name, array in spelt.items()}
        return learned

    def inputs_of(self, tokens: Tokens, *, limit: int) -> FeatureInputs:
        """The features of whole texts; there is no limit."""
        return FeatureInputs(self.features(tokens))

    def features(self, tokens: Tokens) -> csr_array:
        """Rows of features (n, D), made once for a data set."""
        words, letters = _channels(tokens)
        rows = self.grams.features(words)
        if self.letters is None or letters is None:
            return rows
        return hstack(
            [rows, np.float32(self.spelling) * self.letters.features(letters)], format="csr"
        )

    def forward(self, ids: Tensor, values: Tensor, offsets: Tensor) -> Hidden:
        """Sparse rows -> Hidden with those rows as `pooled`."""
        return Hidden(None, SparseRows(ids, values, offsets))  # type: ignore[arg-type]


def _channels(tokens: Tokens) -> tuple[Tokens, Tokens | None]:
    """Words and letters, each a text of its own, without what is padding in its channel."""
    if tokens.ids.ndim == 1:
        return tokens, None
    if tokens.ids.shape[1] != 2:
        raise ShapeError(
            f"bow wants tokens of words, or of words and letters, got {tokens.ids.shape[1]}"
            " channels"
        )
    return _without_padding(tokens, 0), _without_padding(tokens, 1)


def _without_padding(tokens: Tokens, channel: int) -> Tokens:
    ids = tokens.ids[:, channel]
    kept = ids != 0
    return Tokens(ids[kept], np.concatenate([[0], np.cumsum(kept)])[tokens.offsets])


PART = BagOfWords

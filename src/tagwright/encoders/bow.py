"""Bag of words: TF-IDF of words and word pairs, straight to a linear head; the honest baseline."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from torch import Tensor, nn

from tagwright.batches.sparse import SparseRows
from tagwright.batches.tokens import Tokens
from tagwright.encoders._ngrams import NGrams
from tagwright.encoders.hidden import Hidden


class BagOfWords(nn.Module):
    """Has no weights: its features are the text's n-grams, and the head is the linear model.

    `learned` are the arrays that `learn` made from the training texts.
    """

    sparse = True
    defaults: ClassVar[Mapping[str, Any]] = {
        "embed": {"name": "word", "size": 500_000},
        "schedule": {"name": "linear", "warmup": 0.0},
        "fit": {"epochs": 8, "batch": 256, "learning_rate": 3.0, "clip": 0.0, "patience": 0, "refit": True},
    }

    def __init__(self, learned: Mapping[str, np.ndarray], *, longest: int = 2, minimum: int = 2) -> None:
        super().__init__()
        self.grams = NGrams.from_arrays(learned)
        self.width_out = self.grams.width

    @staticmethod
    def learn(tokens: Tokens, *, longest: int = 2, minimum: int = 2) -> dict[str, np.ndarray]:
        """The n-grams of up to `longest` words that at least `minimum` texts hold, with their idf."""
        padding_and_unknown = (0, 1)
        return NGrams.learn(tokens, longest=longest, min_documents=minimum, ignore=padding_and_unknown).arrays()

    def features(self, tokens: Tokens) -> csr_array:
        """Rows of features (n, D), made once for a data set."""
        return self.grams.features(tokens)

    def forward(self, ids: Tensor, values: Tensor, offsets: Tensor) -> Hidden:
        """Sparse rows -> Hidden with those rows as `pooled`."""
        return Hidden(None, SparseRows(ids, values, offsets))  # type: ignore[arg-type]


PART = BagOfWords

"""Soft labels (n, L) from the relevance of labels to texts, eq. 8 of KWLS (Liu 2022)."""

from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
from scipy.special import expit

from tagwright.arrays import Floats
from tagwright.errors import SettingsError, unknown
from tagwright.labels.space import Encoded, LabelSpace
from tagwright.targets.hard import hard
from tagwright.targets.relevance import relevances
from tagwright.targets.weighting import Weighting
from tagwright.tokenizers.tokens import Tokens

Normalize: TypeAlias = Literal["auto", "softmax", "sigmoid"]


def soft_labels(
    table: pa.Table,
    space: LabelSpace,
    tokens: Tokens,
    weighting: Weighting,
    *,
    leave_one_out: bool,
    normalize: Normalize,
) -> Floats:
    """Soft labels (n, L), float32. A label with a given value counts where the value is above 0.5,
    as in scoring.
    """
    if normalize not in ("auto", "softmax", "sigmoid"):
        raise SettingsError(unknown("normalize", normalize, ["auto", "softmax", "sigmoid"]))
    by_row = normalize == "softmax" or (normalize == "auto" and space.exclusive)
    given = hard(table, space)
    if "values" in table.column_names:
        given = (given > 0.5).tocsr()
    labels = Encoded(given.indices, given.indptr, {})
    soft, start = np.empty((table.num_rows, len(space)), np.float32), 0
    for block in relevances(tokens, labels, len(space), weighting, leave_one_out=leave_one_out):
        soft[start : start + len(block)] = softmax(block) if by_row else expit(block)
        start += len(block)
    return soft


def softmax(relevance: Floats) -> Floats:
    """Shares of a row, (n, L); the highest is subtracted first, so that none is too large for exp.

    >>> softmax(np.array([[1e6, 1e6], [0.0, 0.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    # sums over the first axis are several times faster where labels are few
    shares = relevance.T.copy()
    shares -= shares.max(axis=0)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=0)
    return shares.T

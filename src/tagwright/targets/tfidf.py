"""LS-TFIDF: soft labels as KWLS makes them, from plain TF-IDF in place of its relevances (Liu 2022,
section 5.2).
"""

from math import inf

import pyarrow as pa

from tagwright.arrays import Floats
from tagwright.labels.space import LabelSpace
from tagwright.targets._soft import Normalize, soft_labels
from tagwright.targets.weighting import Weighting
from tagwright.tokenizers.tokens import Tokens

PLAIN = Weighting(k1=inf, b=0.0, k2=inf, base=0.0)


def tfidf(
    table: pa.Table,
    space: LabelSpace,
    tokens: Tokens,
    *,
    leave_one_out: bool = False,
    normalize: Normalize = "auto",
) -> Floats:
    """Soft labels (n, L), float32: raw counts times log(all / those that have the word), for labels
    and for texts.

    A word that every label has counts nothing. Raw counts are large, so most rows are close to one
    label. The settings are those of `kwls`.
    """
    return soft_labels(
        table, space, tokens, PLAIN, leave_one_out=leave_one_out, normalize=normalize
    )


PART = tfidf

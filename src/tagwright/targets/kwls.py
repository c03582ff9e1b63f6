"""KWLS: soft labels from the keywords that a text shares with labels, eqs. 1 to 8 (Liu 2022)."""

import pyarrow as pa

from tagwright.arrays import Floats
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.targets._soft import Normalize, soft_labels
from tagwright.targets.weighting import Weighting
from tagwright.tokenizers.tokens import Tokens


def kwls(
    table: pa.Table,
    space: LabelSpace,
    tokens: Tokens,
    *,
    k1: float = 2.0,
    b: float = 0.75,
    k2: float = 2.0,
    leave_one_out: bool = False,
    normalize: Normalize = "auto",
) -> Floats:
    """Soft labels (n, L), float32, of the rows of `table`, whose tokens are `tokens`; `_counts`
    says what a word is.

    `k1` and `k2` bound the weight of repeated words in a label and in a text, `b` (0 to 1) says how
    far large labels are held back; `leave_one_out` counts all texts but the one at hand.
    `normalize` is softmax over the labels, sigmoid of each (0.5 where no word is shared), or auto:
    softmax where a text has exactly one label. A text without words gets the same share for every
    label.
    """
    if not (k1 > 0 and k2 > 0 and 0 <= b <= 1):
        raise SettingsError(
            f"kwls needs k1 and k2 above 0 and b from 0 to 1, got k1={k1}, b={b}, k2={k2}"
        )
    weighting = Weighting(k1=k1, b=b, k2=k2, base=1.0)
    return soft_labels(
        table, space, tokens, weighting, leave_one_out=leave_one_out, normalize=normalize
    )


PART = kwls

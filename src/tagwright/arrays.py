"""Names for NumPy arrays by what they hold, and for ranges of them.

The shape is in the docstring of whoever takes one.
"""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

# one number of an array; every width, because arrays of other libraries come in any of them
Float: TypeAlias = np.float16 | np.float32 | np.float64
Int: TypeAlias = (
    np.int8
    | np.int16
    | np.int32
    | np.int64
    | np.intp
    | np.uint8
    | np.uint16
    | np.uint32
    | np.uint64
)

# logits, probabilities, weights, thresholds, embeddings
Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Float]]
# ids, offsets, lengths, counts, indices of rows
Ints: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Int]]
# bits or characters of UTF-8
Bytes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
# truth, chosen labels, masks
Bools: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
# whatever can be counted and averaged: floats, integers and bools alike
Numbers: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Float | Int | np.bool_]]
# texts padded to one width
Strings: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.str_]]

# a range of rows or labels, from its start to before its stop; Python 3.11 cannot write it so
if TYPE_CHECKING:
    Range: TypeAlias = slice[int, int, int | None]
else:
    Range = slice

"""Token lists and the text they make: joined by blanks, or by nothing where a sentence is single
CJK characters.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Bools, Ints
from tagwright.data.files.faults import Origin
from tagwright.errors import DataError
from tagwright.labels.list_columns import offsets_of

CJK = r"^[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]$"


def join(tokens: pa.ListArray) -> tuple[pa.StringArray, pa.ListArray]:
    """The text of every sentence and the start of each of its tokens, in characters.

    No blanks in a sentence that has a token of one CJK character and is made of single characters
    for more than half.

    >>> text, starts = join(pa.array([["a", "bc"], ["点", "卡", "x"]]))
    >>> text.to_pylist(), starts.to_pylist()
    (['a bc', '点卡x'], [[0, 2], [0, 1, 2]])
    """
    flat = tokens.flatten()
    offsets = offsets_of(tokens)
    sizes = pc.utf8_length(flat).to_numpy(zero_copy_only=False).astype(np.int64)
    cjk = _sums(pc.match_substring_regex(flat, CJK).to_numpy(zero_copy_only=False), offsets)
    single = _sums(sizes == 1, offsets)
    gaps = np.where((cjk > 0) & (2 * single > np.diff(offsets)), 0, 1)
    text = pc.fill_null(
        pc.binary_join(tokens, pa.array(np.where(gaps == 0, "", " "), pa.string())), ""
    )
    steps = np.concatenate([[0], np.cumsum(sizes + np.repeat(gaps, np.diff(offsets)))])
    starts = steps[:-1] - np.repeat(steps[offsets[:-1]], np.diff(offsets))
    lists = pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)), pa.array(starts.astype(np.int32))
    )
    return text, lists


def paired(tokens: pa.Array, tags: pa.Array, origin: Origin) -> tuple[pa.ListArray, pa.ListArray]:
    """Tokens and their tags from two columns of lists, or of strings that blanks separate.

    Tokens without any tags stay, for nobody judged them.
    """
    tokens, tags = _lists(tokens), _lists(tags)
    counts = [np.diff(offsets_of(column)) for column in (tokens, tags)]
    wrong = np.flatnonzero(
        (counts[0] != counts[1]) & pc.is_valid(tags).to_numpy(zero_copy_only=False)
    )
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{origin.at(row)}: {counts[0][row]} tokens but {counts[1][row]} tags; expected a tag"
            " for each"
        )
    for column, what in ((tokens, "token"), (tags, "tag")):
        _refuse_missing(column, what, origin)
    return tokens, tags


def _refuse_missing(lists: pa.ListArray, what: str, origin: Origin) -> None:
    place = pc.index(pc.is_null(lists.flatten()), True).as_py()
    if place >= 0:
        offsets = offsets_of(lists)
        row = int(np.searchsorted(offsets, place, side="right")) - 1
        raise DataError(
            f"{origin.at(row)}, {what} {place - offsets[row] + 1}: nothing there (null), expected a"
            " string"
        )


def _lists(column: pa.Array) -> pa.ListArray:
    if pa.types.is_string(column.type):
        column = pc.ascii_split_whitespace(pc.utf8_trim_whitespace(column))
    return column.cast(pa.list_(pa.string()))


def _sums(values: Bools, offsets: Ints) -> Ints:
    total = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return total[offsets[1:]] - total[offsets[:-1]]

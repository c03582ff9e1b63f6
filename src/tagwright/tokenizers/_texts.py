"""What all tokenizers share: texts in slices, and which scripts are written without spaces."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tagwright.data.slices import bounds, row_bytes

Texts: TypeAlias = "pa.ChunkedArray | pa.Array | Sequence[str]"

# texts handled at once: tokenizers need some hundred bytes for each byte
SLICE, SLICE_BYTES = (
    10_000,
    1 << 21,
)
# ids 0 and 1; no text can produce them: brackets are tokens of their own
PADDING, UNKNOWN = (
    "[PAD]",
    "[UNK]",
)

# In a character class. No spaces between words: a character is the smallest safe word. The two
# long-vowel signs belong to no script.
UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ーー"
)


def slices(texts: Texts) -> Iterator[list[str]]:
    """Texts in lists of at most `SLICE` texts and `SLICE_BYTES` bytes; null is the empty text."""
    arrow = isinstance(texts, pa.ChunkedArray | pa.Array)
    sizes = (
        row_bytes(texts)
        if arrow
        else np.fromiter((len(text or "") for text in texts), np.int64, len(texts))
    )
    for start, stop in bounds(sizes, rows=SLICE, size=SLICE_BYTES):
        part = texts[start:stop]
        rows = part.to_pylist() if isinstance(part, pa.ChunkedArray | pa.Array) else part
        yield [text or "" for text in rows]

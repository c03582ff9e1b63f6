"""What all tokenisers share: texts in slices, and which scripts are written without spaces."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

Texts: TypeAlias = "pa.ChunkedArray | pa.Array | Sequence[str]"

SLICE = 10_000  # texts handled at once, so that memory stays flat at any number of texts
PADDING, UNKNOWN = "[PAD]", "[UNK]"  # ids 0 and 1; no text can produce them: brackets are tokens of their own

# In a character class. No spaces between words: a character is the smallest safe word. The two long-vowel signs
# belong to no script.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ーー"


def slices(texts: Texts) -> Iterator[list[str]]:
    """Texts in lists of at most `SLICE`; null is the empty text."""
    for start in range(0, len(texts), SLICE):
        part = texts[start : start + SLICE]
        rows = part.to_pylist() if isinstance(part, pa.ChunkedArray | pa.Array) else part
        yield [text or "" for text in rows]

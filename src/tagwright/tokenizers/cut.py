"""Texts cut into tokens, with where each begins in its text: what a tagger reads that was trained
on cut tokens.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Ints
from tagwright.errors import SettingsError, unknown
from tagwright.tokenizers._texts import Texts, slices

Span = tuple[int, int]

# scripts without spaces between words: a character is the smallest safe token
_UNSPACED = (
    # Japanese and Chinese
    "\u3040-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u0f00-\u0fff"  # Thai, Lao, Burmese, Khmer, Tibetan
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_CHARACTER, _UNBROKEN = re.compile(r"\S"), re.compile(r"\S+")
CHARACTERS = 0.99  # share of tokens of one character that tells a text cut into characters


class Cut(NamedTuple):
    """Tokens of all texts: text i has words[offsets[i]:offsets[i + 1]], which begin at `starts` in
    it.
    """

    words: pa.Array
    offsets: Ints  # int64 (n + 1,)
    starts: Ints  # int64 (N,), in characters of the text as given


def cut(texts: Texts, way: str) -> Cut:
    """Cut by "words", "characters", "jieba" (Chinese words) or "fugashi" (Japanese ones).

    >>> cut(["Don't wash it in 手机."], "words").words.to_pylist()
    ['Don', "'t", 'wash', 'it', 'in', '手', '机', '.']
    """
    spans_of = _ways(way)
    words: list[str] = []
    starts: list[int] = []
    counts = [0]
    for part in slices(texts):
        for text in part:
            found = list(spans_of(text))
            words.extend(text[start:end] for start, end in found)
            starts.extend(start for start, _ in found)
            counts.append(len(found))
    return Cut(
        pa.array(words, pa.string()), np.cumsum(counts, dtype=np.int64), np.array(starts, np.int64)
    )


def way_of(words: pa.Array) -> str:
    """How given tokens were cut: characters where nearly all are of one, else words."""
    single = pc.mean(pc.equal(pc.utf8_length(words), 1).cast(pa.float64())).as_py() or 0.0
    return "characters" if single > CHARACTERS else "words"


@cache
def _ways(way: str) -> Callable[[str], Iterator[Span]]:
    known: dict[str, Callable[[], Callable[[str], Iterator[Span]]]] = {
        "words": lambda: _matches(_word()),
        "characters": lambda: _matches(_CHARACTER),
        "jieba": _jieba,
        "fugashi": _fugashi,
    }
    if way not in known:
        raise SettingsError(unknown("data.cut", way, known))
    return known[way]()


def _word() -> re.Pattern[str]:
    """Accents and vowel signs belong to the letter before them, which `re` has no name for."""
    marks = "".join(
        one for one in map(chr, range(0x300, 0xFFFF)) if unicodedata.category(one)[0] == "M"
    )
    letters = rf"{_LETTER}+(?:[{marks}]+{_LETTER}*)*"
    return re.compile(
        rf"[{_UNSPACED}][{marks}]*"
        r"|\d+(?:[.,:/-]\d+)+"  # 1,000.5 and 12:30
        rf"|(?:(?![\d]){_LETTER}\.){{2,}}"  # U.S.
        r"|['’](?:s|re|ve|ll|d|m|t)\b"  # of "it's"
        rf"|{letters}(?:[-&]{letters})*"  # real-time, R&D
        r"|[^\w\s]|_",
        re.IGNORECASE,
    )


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Span]]:
    return lambda text: (match.span() for match in pattern.finditer(text))


def _jieba() -> Callable[[str], Iterator[Span]]:
    try:
        import jieba
    except ImportError:
        raise SettingsError("data.cut=jieba wants the package jieba: pip install jieba") from None
    jieba.setLogLevel(60)  # it reports its dictionary's loading as errors
    return lambda text: ((start, end) for word, start, end in jieba.tokenize(text) if word.strip())


def _fugashi() -> Callable[[str], Iterator[Span]]:
    try:
        from fugashi import Tagger

        tagger = Tagger()
    except (ImportError, RuntimeError) as error:
        raise SettingsError(
            "data.cut=fugashi wants fugashi and a dictionary: pip install fugashi unidic-lite"
            f" ({error})"
        ) from None

    def spans(text: str) -> Iterator[Span]:
        place = 0
        for word in tagger(text):
            start = text.index(word.surface, place)
            place = start + len(word.surface)
            for part in _UNBROKEN.finditer(word.surface):  # wide and hard spaces are letters to it
                yield start + part.start(), start + part.end()

    return spans

"""What a tokenizer file may do to a text: it must not grow without bound. The file may come from
anybody.
"""

import json
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

from tokenizers import Tokenizer

GROWTH = 64  # times that normalizer and pre-tokenizer together may lengthen a text
AROUND = 64  # tokens that may be added to a text
AFFIX = 64  # letters that mark pieces inside or at the end of a word
WORD = 1000  # letters of a word that is cut into pieces: the work grows with their square
MAPPED = 64  # bytes that one character may become in a map of characters; in those in use it is 33
STEPS = 64


def require_bounded(tokenizer: Tokenizer) -> None:
    """Refuse, with a ValueError, a tokenizer that could make much of a short text."""
    steps = [
        *_steps(tokenizer.normalizer, "normalizers"),
        *_steps(tokenizer.pre_tokenizer, "pretokenizers"),
    ]
    growth = prod(map(_growth, steps))
    if growth > GROWTH or len(steps) > STEPS:
        raise ValueError(
            f"it can make a text {growth:,} times as long in {len(steps)} steps; {GROWTH} times is"
            " allowed"
        )
    added = sum(map(_added, _steps(tokenizer.post_processor, "processors")))
    if added > AROUND:
        raise ValueError(f"it adds {added:,} tokens to a text; {AROUND} are allowed")
    for name, most in {"continuing_subword_prefix": AFFIX, "end_of_word_suffix": AFFIX}.items():
        if len(getattr(tokenizer.model, name, None) or "") > most:
            raise ValueError(f"its {name} is longer than {most} letters")
    if getattr(tokenizer.model, "max_input_chars_per_word", 0) > WORD:
        raise ValueError(f"its max_input_chars_per_word is above {WORD}")


@contextmanager
def panics_told() -> Iterator[None]:
    """A panic of the tokenizers library, which is no `Exception`, is a ValueError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"the tokenizers library cannot work with it: {error}") from error


def _steps(part: Any, inner: str) -> list[dict[str, Any]]:
    """The parts of a sequence of any depth, one after the other."""
    waiting = [] if part is None else [json.loads(part.__getstate__())]
    found: list[dict[str, Any]] = []
    while waiting:
        step = waiting.pop()
        if step["type"] == "Sequence":
            waiting += step[inner]
        else:
            found.append(step)
    return found


def _growth(step: dict[str, Any]) -> int:
    """How many times as long a step makes a text at most, as far as the file decides that."""
    kind = step["type"]
    if kind == "ByteLevel":
        return 4
    if kind == "Prepend":
        return 1 + len(step["prepend"])
    if kind == "Precompiled":
        return 1 + _longest(step["precompiled_charsmap"]) // (MAPPED + 1) * GROWTH
    if kind != "Replace":
        return 1
    replaced = step["pattern"].get("String", "")
    return (
        max(-(-len(step["content"]) // len(replaced)), 1) if replaced else 1 + len(step["content"])
    )


def _longest(charsmap: str) -> int:
    """Bytes of the longest string that a map of characters has: its size, a trie, then strings that
    end in 0.
    """
    content = b64decode(charsmap)
    return max(map(len, content[4 + int.from_bytes(content[:4], "little") :].split(b"\0")))


def _added(step: dict[str, Any]) -> int:
    """Tokens that a step adds to a text; a text that would be there twice, or not at all, counts as
    too many.
    """
    if step["type"] != "TemplateProcessing":
        return 2
    pieces = [piece["SpecialToken"]["id"] for piece in step["single"] if "SpecialToken" in piece]
    if len(step["single"]) - len(pieces) != 1:
        return AROUND + 1
    return sum(len(step["special_tokens"][piece]["ids"]) for piece in pieces)

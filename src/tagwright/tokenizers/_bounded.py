"""What a tokenizer file may do to a text: it must not grow without bound. The file may come from
anybody.
"""

import json
import re
import time
from base64 import b64decode
from itertools import product
from math import prod
from typing import Literal, Protocol, Required, TypedDict

from tokenizers import Tokenizer

GROWTH = 64  # times that normalizer and pre-tokenizer together may lengthen a text
AROUND = 64  # tokens that may be added to a text
AFFIX = 64  # letters that mark pieces inside or at the end of a word
WORD = 1000  # letters of a word that is cut into pieces: the work grows with their square
MAPPED = 64  # bytes that one character may become in a map of characters; in those in use it is 33
STEPS = 64
STRANGE = "a \u0378."  # a text with a word that nobody knows
# letters of a run: the next one is a little more work, so that the first to take long is no hang
RUNS = range(2, 41, 2)
USUAL = "a1 ."  # what patterns stand for by classes
LETTERS, SECONDS = 64, 0.25
Inner = Literal["normalizers", "pretokenizers", "processors"]


class Component(Protocol):
    """A part of a tokenizer of the library."""

    def __getstate__(self) -> bytes:
        """Its JSON in a tokenizer file."""


class Pattern(TypedDict, total=False):
    """What a step looks for: a string, or an expression."""

    String: str
    Regex: str


class Special(TypedDict):
    """A token that stands for no text."""

    id: str
    ids: list[int]


class Piece(TypedDict, total=False):
    """A part of a template."""

    SpecialToken: Special


class Step(TypedDict, total=False):
    """One step of a tokenizer, as its file has it: the keys that are looked at."""

    type: Required[str]
    normalizers: "list[Step]"  # of a sequence, as are the next two
    pretokenizers: "list[Step]"
    processors: "list[Step]"
    prepend: str
    precompiled_charsmap: str
    pattern: Pattern
    content: str
    single: list[Piece]
    special_tokens: dict[str, Special]


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


def require_working(tokenizer: Tokenizer) -> None:
    """Refuse, with a ValueError, a tokenizer that fails at a short text, or takes long for it.

    What a pattern costs can grow without bound with the length of a text. A pattern is tried on
    longer and longer runs of its own letters.
    """
    tokenizer.encode(STRANGE)
    patterns = "".join(_patterns(tokenizer))
    letters = [*USUAL, *sorted(set(patterns))[:LETTERS]] if patterns else []
    started = time.thread_time()
    for length, letter in product(RUNS, letters):
        tokenizer.encode(letter * length + "\u0378")
        if time.thread_time() - started > SECONDS:
            raise ValueError(f"its patterns take over {SECONDS} s for {length} equal letters")


def _patterns(tokenizer: Tokenizer) -> list[str]:
    """The patterns of a tokenizer that may be much work."""
    steps = [
        *_steps(tokenizer.normalizer, "normalizers"),
        *_steps(tokenizer.pre_tokenizer, "pretokenizers"),
    ]
    found = [step["pattern"].get("Regex", "") for step in steps if "pattern" in step]
    return [pattern for pattern in found if _costly(pattern)]


def _costly(pattern: str) -> bool:
    """Whether the work for a run of letters can grow with more than its square."""
    return "(" in pattern or len(re.findall(r"[*+?{]", re.sub(r"\\[pP]\{", "", pattern))) > 2


def _steps(part: Component | None, inner: Inner) -> list[Step]:
    """The parts of a sequence of any depth, one after the other."""
    waiting: list[Step] = [] if part is None else [json.loads(part.__getstate__())]
    found: list[Step] = []
    while waiting:
        step = waiting.pop()
        if step["type"] == "Sequence":
            waiting += step[inner]
        else:
            found.append(step)
    return found


def _growth(step: Step) -> int:
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


def _added(step: Step) -> int:
    """Tokens that a step adds to a text; a text that would be there twice, or not at all, counts as
    too many.
    """
    if step["type"] != "TemplateProcessing":
        return 2
    pieces = [piece["SpecialToken"]["id"] for piece in step["single"] if "SpecialToken" in piece]
    if len(step["single"]) - len(pieces) != 1:
        return AROUND + 1
    return sum(len(step["special_tokens"][piece]["ids"]) for piece in pieces)

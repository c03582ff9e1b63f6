"""The embedded data set: product pages of a made-up shop, with labels that are many, alike and
unevenly spread.

Every page has document labels (`outdoor/tent`, `for/children`) and token tags for BRAND, GOODS and
FEATURE. What makes it hard is what makes real pages hard: goods of a shelf share most of their
words, a page mentions goods it does not sell, some labels have a handful of pages, words are
misspelt, and now and then a label was forgotten.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tagwright.arrays import Floats
from tagwright.data import _shop_words as words
from tagwright.data.dataset import Data
from tagwright.data.split import split
from tagwright.errors import SettingsError

BLANK = 0.05  # share of pages that sell nothing
FORGOTTEN = 0.02  # share of labels that nobody set
MISSPELT = 0.02  # share of long words with a slip

Draw = Callable[[], float]  # the next number in [0, 1)
Phrase = tuple[tuple[str, str], ...]  # words, each with its tag; a slot is a word in braces


class Voice(NamedTuple):
    """How the pages of one label speak: phrases for the slots, sentences of the whole shelf, and
    one of its own.
    """

    label: str
    slots: dict[str, tuple[Phrase, ...]]
    shelf_lines: tuple[Phrase, ...]
    own_line: Phrase


class Page(NamedTuple):
    """One page; token i begins at text[starts[i]]."""

    text: str
    labels: list[str]
    tokens: list[str]
    tags: list[str]
    starts: list[int]


def shop(*, pages: int = 4000, seed: int = 7) -> Data:
    """Write the shop: train, dev and test (70, 10, 20 %) with `id`, `text`, `labels`, `tokens`,
    `tags` and `starts`.

    The text is a title, a line break and a description. The same seed gives the same pages.
    """
    if pages < 100:
        raise SettingsError(f"pages must be at least 100, so that every part has some, got {pages}")
    rng = np.random.default_rng(seed)
    draw, voices = _stream(rng).__next__, _voices()
    mains = rng.choice(len(voices), size=pages, p=_zipf(len(voices))).tolist()
    written = [
        _blank_page(draw, voices[main]) if draw() < BLANK else _page(draw, voices, main)
        for main in mains
    ]
    text, labels, tokens, tags, starts = zip(*written)
    strings = pa.list_(pa.string())
    table = pa.table(
        {
            "id": pa.array([f"page-{number:05d}" for number in range(1, pages + 1)]),
            "text": pa.array(text, pa.string()),
            "labels": pa.array(labels, strings),
            "tokens": pa.array(tokens, strings),
            "tags": pa.array(tags, strings),
            "starts": pa.array(starts, pa.list_(pa.int32())),
        }
    )
    found = ("text: title and description", "labels: several a page, groups before /")
    whole = Data(tables={"all": table}, task="many", source="shop", found=found)
    return split(whole, dev_share=0.1, test_share=0.2, seed=seed)


def _stream(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(8192).tolist()


def _zipf(count: int) -> Floats:
    """Shares of the labels, (count,), most common first: Zipf's law with a flattened head."""
    raw = 1 / (np.arange(count) + 4.0) ** 1.4
    return raw / raw.sum()


@cache
def _phrases(entries: str, kind: str = "") -> tuple[Phrase, ...]:
    """Cut `a b | c` into phrases whose words carry the kind's tags; no kind: outside every span."""
    cut = [
        re.findall(r"\{\w+\}|\d+\.\d+|[^\s.,:?{}]+|[.,:?]", entry) for entry in entries.split(" | ")
    ]
    if not kind:
        return tuple(tuple((word, "O") for word in found) for found in cut)
    return tuple(
        tuple((word, f"{'I' if at else 'B'}-{kind}") for at, word in enumerate(found))
        for found in cut
    )


def _voices() -> list[Voice]:
    """A voice for every label of goods, the most common first."""
    rows = [
        (name, shelf, place, *row.strip().split("; "))
        for name, shelf in words.SHELVES.items()
        for place, row in enumerate(shelf.goods.strip().splitlines())
    ]
    # Common and rare must not run along the shelves: a fixed shuffle puts look-alikes of both side
    # by side.
    return [_voice(*rows[row]) for row in np.random.default_rng(11).permutation(len(rows))]


def _voice(
    group: str,
    shelf: words.Shelf,
    place: int,
    label: str,
    names: str,
    adjective: str,
    part: str,
    line: str,
) -> Voice:
    slots = {
        "{brand}": _phrases(shelf.brands, "BRAND"),
        "{model}": _phrases(words.MODELS),
        "{own}": _phrases(names, "GOODS"),
        "{name}": _phrases(names, "GOODS") + _phrases(shelf.generic, "GOODS"),
        "{adjective}": _leaning(_phrases(shelf.adjectives, "FEATURE"), place)
        + _phrases(adjective, "FEATURE"),
        "{part}": _leaning(_phrases(shelf.parts, "FEATURE"), place) + _phrases(part, "FEATURE"),
        "{scene}": _phrases(shelf.scenes),
    }
    return Voice(f"{group}/{label}", slots, _phrases(shelf.lines), _phrases(line)[0])


def _leaning(phrases: Sequence[Phrase], place: int) -> tuple[Phrase, ...]:
    """The shelf's phrases, some three times, some twice, some once: which ones is all that tells
    look-alikes apart.
    """
    turned = tuple(np.roll(np.arange(len(phrases)), 2 * place).tolist())
    cut = len(phrases) // 3
    return tuple(phrases[i] for i in turned + turned[: 2 * cut] + turned[:cut])


def _pick(draw: Draw, options: Sequence[Phrase]) -> Phrase:
    return options[int(draw() * len(options))]


def _write(draw: Draw, templates: Sequence[Phrase], voice: Voice) -> Phrase:
    """One of the templates with its slots filled by the voice, no two alike."""
    written: list[tuple[str, str]] = []
    for pair in _pick(draw, templates):
        options = voice.slots.get(pair[0], ((pair,),))
        phrase = _pick(draw, options)
        while phrase[0] in written and len(options) > 1:
            phrase = _pick(draw, options)
        written.extend(phrase)
    return tuple(written)


def _page(draw: Draw, voices: Sequence[Voice], main: int) -> Page:
    """A page that sells the main label's goods, perhaps others in the set, and mentions what it
    does not sell.
    """
    named = {slot: (_pick(draw, voices[main].slots[slot]),) for slot in ("{brand}", "{model}")}
    voice = voices[main]._replace(slots={**voices[main].slots, **named})
    title, opening = (
        _write(draw, _phrases(entries), voice) for entries in (words.TITLES, words.OPENINGS)
    )
    labels, body = [voice.label], [_pick(draw, voice.shelf_lines)]
    body += [_write(draw, _phrases(words.DETAILS), voice) for _ in range(1 + int(2 * draw()))]
    if draw() < 0.4:
        body.append(voice.own_line)
    if draw() < 0.15:
        extra = _other(draw, voices, voice)
        labels.append(extra.label)
        body.append(_write(draw, _phrases(words.BUNDLES), extra))
    if draw() < 0.5:
        body.append(_write(draw, _phrases(words.MENTIONS), _other(draw, voices, voice)))
    for rank, (label, trait) in enumerate(words.TRAITS.items()):
        carried = draw() < 0.12 / (rank + 1) ** 1.2
        if carried or draw() < 0.03:
            body.append(_pick(draw, _phrases(trait.lines if carried else trait.decoys)))
            labels += [label] * carried
    body.append(_pick(draw, _phrases(words.NOTICES)))
    body.sort(key=lambda _: draw())
    return _typeset(
        draw, title, [opening, *body], [label for label in labels if draw() >= FORGOTTEN]
    )


def _other(draw: Draw, voices: Sequence[Voice], voice: Voice) -> Voice:
    """Another label's voice: mostly a look-alike of the same shelf, otherwise one of the more
    common.
    """
    shelf = voice.label.partition("/")[0] + "/" if draw() < 0.6 else ""
    others = [
        other for other in voices if other.label.startswith(shelf) and other.label != voice.label
    ]
    return others[int(draw() ** 2 * len(others))]


def _blank_page(draw: Draw, voice: Voice) -> Page:
    """A page without a label: it speaks like the shelf and sells nothing of it."""
    title = _write(draw, _phrases(words.BLANK_TITLES), voice)
    body = [_write(draw, _phrases(words.BLANK_LINES), voice), _pick(draw, voice.shelf_lines)]
    return _typeset(draw, title, body, [])


def _typeset(draw: Draw, title: Phrase, body: Sequence[Phrase], labels: list[str]) -> Page:
    """Lay the words out as text: spaces, capitals, a or an, slips of the pen; and note where every
    token begins.
    """
    pairs = [*title, *(pair for sentence in body for pair in sentence)]
    tokens: list[str] = []
    starts: list[int] = []
    pieces: list[str] = []
    length = 0
    for place, (token, _) in enumerate(pairs):
        gap = "\n" if place == len(title) else " "
        if not place or token in ".,:?":
            gap = ""
        if token in ("a", "A") and place + 1 < len(pairs) and pairs[place + 1][0][0] in "aeiou":
            token += "n"
        if len(token) > 4 and draw() < MISSPELT:
            token = _misspelt(token, int(1 + draw() * (len(token) - 3)))
        if gap == "\n" or not place or tokens[-1] in ".?":
            token = token[0].upper() + token[1:]
        pieces += [gap, token]
        tokens.append(token)
        starts.append(length + len(gap))
        length += len(gap) + len(token)
    return Page(
        "".join(pieces), list(dict.fromkeys(labels)), tokens, [tag for _, tag in pairs], starts
    )


def _misspelt(word: str, at: int) -> str:
    """Swap two letters, or drop one where they are the same."""
    first, second = word[at], word[at + 1]
    return word[:at] + (second + first if first != second else first) + word[at + 2 :]

"""What the model card says of a model that tags tokens."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from tagwright.reports.facts import CardFacts, PerLabel, TagFacts, Values
from tagwright.reports.figures import MEASURES, figures_of_tags
from tagwright.reports.markdown import plain, table, three
from tagwright.reports.page import plural
from tagwright.reports.scores import score_notes
from tagwright.reports.tags import size_of

RARE = 10  # in train
MOST = 30  # in the table, and named in a sentence
CUTS = {
    "words": "words, signs and single characters of scripts without blanks",
    "characters": "single characters, blanks aside",
    "jieba": "Chinese words, by jieba",
    "fugashi": "Japanese words, by fugashi",
}


class Own(NamedTuple):
    """The sections of a card that depend on what is tagged; `size` is how much was measured."""

    what: str
    limits: Sequence[str]
    use: str
    heading: str
    labels: str
    data: str
    size: str
    results: str


class Counted(NamedTuple):
    """What a user asks for: types of spans, or tags where these tell of no spans; counts are None
    where unknown.
    """

    what: str
    of: str
    names: Sequence[str]
    scores: PerLabel | None
    counts: Values | None


def card_of_tags(facts: CardFacts, tags: TagFacts) -> Own:
    """The sections of the card."""
    if tags.per_type is None:
        counted = Counted("tag", "token", facts.label_names, facts.per_label, facts.label_counts)
    else:
        counted = Counted("type", "span", tags.types, tags.per_type, tags.type_counts)
    sizes = {
        name: size_of(tags.tokens.get(name, 0), texts) for name, texts in facts.split_sizes.items()
    }
    return Own(
        what=_what(counted),
        limits=tuple(_limits(facts, tags, counted)),
        use="```sh\ntagwright tag path/to/this/folder texts.jsonl --out keywords.jsonl\n```",
        heading=f"## {counted.what.capitalize()}s",
        labels=_names(facts, counted),
        data=_data(facts, sizes),
        size=sizes.get(facts.split, ""),
        results=table(
            ["counted", *MEASURES.values()],
            [
                [one.counted, *map(three, one.values)]
                for one in figures_of_tags(facts.metrics, facts.label_names)
            ],
        ),
    )


def _what(counted: Counted) -> str:
    many = plural(len(counted.names), counted.what)
    does = (
        f"finds spans of {many} in a text"
        if counted.what == "type"
        else f"gives every token one of {many}"
    )
    shown = ", ".join(plain(name) for name in counted.names[:MOST])
    more = f" and {len(counted.names) - MOST:,} more" if len(counted.names) > MOST else ""
    return f"A tagger of tokens made with Tagwright. It {does}: {shown}{more}."


def _limits(facts: CardFacts, tags: TagFacts, counted: Counted) -> Iterator[str]:
    way = CUTS.get(tags.cut, plain(tags.cut))
    yield f"A text is cut into {way} (`data.cut`); tokens that are given stay as they are."
    if counted.what == "type":
        yield "Spans do not overlap, and none lies within another."
    rare = 0 if counted.counts is None else int(np.sum(np.asarray(counted.counts) < RARE))
    if rare:
        share = f"{plural(rare, counted.what)} of {len(counted.names):,}"
        yield f"{share} had fewer than {RARE} {counted.of}s to learn from; treat these as hints."
    if counted.scores is not None:
        yield from score_notes(counted.scores, what=counted.what, split=facts.split)


def _data(facts: CardFacts, sizes: Mapping[str, str]) -> str:
    """The source by its name alone: a path would tell of the machine."""
    source = f"Learned from {plain(PurePath(facts.source).name)}.\n\n" if facts.source else ""
    return source + "\n".join(f"- {plain(name)}: {size}" for name, size in sizes.items())


def _names(facts: CardFacts, counted: Counted) -> str:
    """Types or tags, the most frequent first, and the tags themselves."""
    scores, frequent = counted.scores, counted.counts
    if frequent is None and scores is not None:
        frequent = scores["support"]
    order = np.argsort(-np.asarray(frequent, float), kind="stable")[:MOST].tolist()
    header, rows = [counted.what], [[plain(counted.names[i])] for i in order]
    if counted.counts is not None:
        header.append(f"{counted.of}s in train")
        rows = [[*row, f"{int(counted.counts[i]):,}"] for row, i in zip(rows, order)]
    if scores is not None:
        header += [f"{title} on {plain(facts.split)}" for title in MEASURES.values()]
        columns = [scores[name] for name in MEASURES]  # type: ignore[literal-required]
        rows = [[*row, *(three(c[i]) for c in columns)] for row, i in zip(rows, order)]
    more = len(counted.names) - len(order)
    rest = f"\n\nAnd {more:,} rarer ones." if more else ""
    return (
        f"{table(header, rows)}{rest}\n\nThe {plural(len(facts.label_names), 'tag')} are in"
        " `heads/main/labels.json`."
    )

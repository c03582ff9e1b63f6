"""What soft labels from keywords are made of: the words that speak for each label, and some texts
with their shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from tagwright import registry
from tagwright.data import Data
from tagwright.errors import SettingsError, unknown
from tagwright.settings.schema import Settings
from tagwright.targets.relevance import word_label_relevance
from tagwright.targets.tfidf import PLAIN
from tagwright.targets.weighting import Weighting
from tagwright.targets.word_counts import WordCounts, batches_of, count
from tagwright.training.memory import require_soft_memory
from tagwright.training.prepare import prepare
from tagwright.training.prepared import MAIN, Prepared
from tagwright.training.read_data import read_for

WAYS = ("kwls", "tfidf")


class Keyword(NamedTuple):
    """A word, its relevance to a label (WLR of KWLS eq. 1), and how often it stands in the label's
    texts.
    """

    word: str
    relevance: float
    occurrences: int


class SoftText(NamedTuple):
    """A training text, its labels, and the labels with the highest shares."""

    text: str
    labels: list[str]
    soft: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class KeywordsFound:
    """Keywords of labels, the most frequent label first, and texts with their soft labels."""

    by: str
    rows: int
    texts_of: dict[str, int]  # label -> texts in train
    keywords: dict[str, list[Keyword]]
    texts: list[SoftText]

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        keywords = {
            label: [word._asdict() for word in words] for label, words in self.keywords.items()
        }
        facts = {"by": self.by, "rows": self.rows, "texts_of": self.texts_of}
        return {**facts, "keywords": keywords, "texts": [text._asdict() for text in self.texts]}


def find_keywords(
    source: str,
    given: Mapping[str, object],
    *,
    by: str = "kwls",
    head: str | None = None,
    labels: Sequence[str] = (),
    top: int = 10,
    texts: int = 5,
    seed: int = 0,
) -> KeywordsFound:
    """The `top` words of every label, or of some `labels`, and so many `texts`, drawn from
    train.
    """
    if by == "distil":
        raise SettingsError(
            "soft labels of distil are a teacher's scores, not made of words; --by takes kwls or"
            " tfidf"
        )
    if by not in WAYS:
        raise SettingsError(unknown("--by", by, WAYS))
    if top < 1 or texts < 0:
        raise SettingsError(f"--top must be at least 1 and --texts 0, got {top} and {texts}")
    data, settings = read_for(source, given)
    asked = _head_of(data, head)
    if data.heads.get(asked, data).task == "tokens":
        raise SettingsError(
            f"{source} tags tokens; words speak for labels of whole texts (set --task, --text,"
            " --labels)"
        )
    prepared, settings = prepare(data, settings).answered(asked), settings.of(asked)
    names = prepared.space.names
    strange = [label for label in labels if label not in names]
    if strange:
        raise SettingsError(unknown("label", strange[0], names))
    order = np.argsort(-np.array(prepared.space.counts), kind="stable")
    wanted = [int(i) for i in order if not labels or names[i] in labels]
    counts = _counts(prepared)
    return KeywordsFound(
        by=by,
        rows=prepared.tables["train"].num_rows,
        texts_of={names[i]: prepared.space.counts[i] for i in wanted},
        keywords=_keywords(prepared, counts, _weighting(by, settings), wanted, top),
        texts=_texts(prepared, settings, by, texts, seed),
    )


def _head_of(data: Data, head: str | None) -> str:
    """The head that is named, or else the first."""
    if head is not None and head not in data.heads:
        raise SettingsError(unknown("head", head, data.heads))
    return head or next(iter(data.heads), MAIN)


def _counts(prepared: Prepared) -> WordCounts:
    tokens, labels = (
        prepared.words("train"),
        prepared.space.encode(prepared.tables["train"]["labels"]),
    )
    size = (
        max(int(tokens.ids.max(initial=1)), *(prepared.tokenizer.vocabulary or {"": 1}).values())
        + 1
    )
    return reduce(
        WordCounts.merged,
        (count(batch, size, len(prepared.space)) for batch in batches_of(tokens, labels)),
    )


def _weighting(by: str, settings: Settings) -> Weighting:
    """The settings of the targets, where they are of this way; else its defaults."""
    if by == "tfidf":
        return PLAIN
    own = registry.options(registry.find(registry.TARGETS, by).factory)
    given = settings.targets.options if settings.targets.name == by else {}
    return Weighting(base=1.0, **{name: given.get(name, own[name]) for name in ("k1", "b", "k2")})


def _keywords(
    prepared: Prepared, counts: WordCounts, weighting: Weighting, wanted: Sequence[int], top: int
) -> dict[str, list[Keyword]]:
    vocabulary = prepared.tokenizer.vocabulary
    if not vocabulary:
        raise SettingsError(
            "these tokens are hashes, and no one knows their words; take --set embed.name=word"
        )
    word_of = {number: word for word, number in vocabulary.items()}
    relevance, often = word_label_relevance(counts, weighting).tocsc(), counts.word_labels.tocsc()
    found = {}
    for label in wanted:
        part = slice(relevance.indptr[label], relevance.indptr[label + 1])
        words, values = relevance.indices[part], relevance.data[part]
        best = np.lexsort((words, -values))[:top]
        counted = dict(zip(often.indices[part].tolist(), often.data[part].tolist()))
        found[prepared.space.names[label]] = [
            Keyword(word_of[word], value, counted[word])
            for word, value in zip(words[best].tolist(), values[best].tolist())
        ]
    return found


def _texts(
    prepared: Prepared, settings: Settings, by: str, texts: int, seed: int
) -> list[SoftText]:
    table = prepared.tables["train"]
    facts = {"table": table, "space": prepared.space, "tokens": prepared.words("train")}
    given = settings.targets.options if settings.targets.name == by else {}
    if texts:
        require_soft_memory(table.num_rows, len(prepared.space))
    soft = registry.build(registry.TARGETS, by, given, **facts) if texts else np.zeros((0, 1))
    drawn = np.sort(np.random.default_rng(seed).permutation(table.num_rows)[:texts])
    found = []
    for row in drawn.tolist():
        best = np.argsort(-soft[row], kind="stable")[:3]
        shares = {prepared.space.names[i]: float(soft[row, i]) for i in best.tolist()}
        found.append(SoftText(table["text"][row].as_py(), table["labels"][row].as_py(), shares))
    return found

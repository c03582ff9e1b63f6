"""What a tagger finds in texts: keywords with their type, score and every place they stand at."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tagwright.arrays import Floats, Ints
from tagwright.data.find_columns import whole
from tagwright.data.token_text import join
from tagwright.inference.model import Model, Scores, finite
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.tags import scheme_of, spans_of
from tagwright.models.evaluate import token_logits_of
from tagwright.tokenizers.cut import Cut

SPAN = pa.struct({"start": pa.int32(), "end": pa.int32()})
KEYWORD = pa.struct(
    {"text": pa.string(), "type": pa.string(), "score": pa.float64(), "spans": pa.list_(SPAN)}
)

FACETS = ("types", "scores", "spans")  # of keywords, beside their texts


class Place(TypedDict):
    """Where a keyword stands, in characters of the text as given."""

    start: int
    end: int


class Keyword(TypedDict):
    """A keyword of a text, as in a column of `KEYWORD`."""

    text: str
    type: str
    score: float
    spans: list[Place]


class FoundSpans(NamedTuple):
    """Spans in the order of their texts: characters start to end of the text as given, the type,
    and how sure.
    """

    row: Ints
    start: Ints
    end: Ints
    type: np.ndarray[tuple[int, ...], np.dtype[np.object_]]  # names
    score: Floats  # the mean probability of its tags


def token_scores(model: Model, words: pa.Array, offsets: Ints) -> Scores:
    """What a tagger says of every token of texts that are cut already."""
    logits = token_logits_of(model.network, model.token_inputs(words, offsets), head=model.first)
    return finite(model.primary.dense_scores(logits, offsets=offsets))


def find_spans(model: Model, texts: Cut) -> FoundSpans:
    """The spans that a tagger finds in texts."""
    scores = token_scores(model, texts.words, texts.offsets)
    tags, scheme = scores.chosen.argmax(1), scheme_of(model.primary.space.names)
    found = spans_of(tags, texts.offsets, scheme)
    first, last = texts.offsets[found.row] + found.start, texts.offsets[found.row] + found.end - 1
    sizes = pc.utf8_length(texts.words).to_numpy(zero_copy_only=False)
    # in double precision: a span's share of a sum over all texts must not depend on the others
    sure = np.append(
        0, np.cumsum(scores.probabilities[np.arange(len(tags)), tags], dtype=np.float64)
    )
    score = (sure[last + 1] - sure[first]) / (last + 1 - first)
    names = np.array(scheme.types, object)[found.type]
    return FoundSpans(
        found.row, texts.starts[first], texts.starts[last] + sizes[last], names, score
    )


def given_tokens(column: pa.ChunkedArray) -> tuple[pa.Array, Cut]:
    """Texts of a column of tokens, and these as they are; one that is missing is empty."""
    lists = whole(column)
    words, offsets = pc.fill_null(lists.flatten().cast(pa.string()), ""), offsets_of(lists)
    text, starts = join(pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), words))
    return text, Cut(words, offsets, starts.flatten().to_numpy().astype(np.int64))


def keywords_of(found: FoundSpans, texts: Sequence[str]) -> list[list[Keyword]]:
    """Keywords of every text, the surest first: spans of one type that read alike are one, with the
    highest score.
    """
    result: list[dict[tuple[str, str], Keyword]] = [{} for _ in texts]
    for row, start, end, kind, score in zip(*(column.tolist() for column in found)):
        surface = texts[row][start:end]
        one = result[row].setdefault(
            (surface.casefold(), kind), {"text": surface, "type": kind, "score": 0.0, "spans": []}
        )
        one["score"] = max(one["score"], round(score, 4))
        one["spans"].append({"start": start, "end": end})
    return [
        sorted(of_row.values(), key=lambda one: (-one["score"], one["spans"][0]["start"]))
        for of_row in result
    ]


def facets(keywords: Sequence[Keyword], separator: str) -> dict[str, str]:
    """Keywords of a text as cells of a file without lists; what is the separator within one becomes
    a blank.
    """

    def joined(values: Sequence[str]) -> str:
        return separator.join(value.replace(separator, " ") for value in values)

    places = [
        ",".join(f"{span['start']}-{span['end']}" for span in one["spans"]) for one in keywords
    ]
    return {
        "text": joined([one["text"] for one in keywords]),
        "types": joined([one["type"] for one in keywords]),
        "scores": joined([str(one["score"]) for one in keywords]),
        "spans": joined(places),
    }

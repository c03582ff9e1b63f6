"""What a tagger finds in texts: keywords with their type, score and every place they stand at."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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


class FoundSpans(NamedTuple):
    """Spans in the order of their texts: characters start to end of the text as given, the type,
    and how sure.
    """

    row: np.ndarray
    start: np.ndarray
    end: np.ndarray
    type: np.ndarray  # names
    score: np.ndarray  # the mean probability of its tags


def token_scores(model: Model, words: pa.Array, offsets: np.ndarray) -> Scores:
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


def keywords_of(found: FoundSpans, texts: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Keywords of every text, the surest first: spans of one type that read alike are one, with the
    highest score.
    """
    result: list[dict[tuple[str, str], dict[str, Any]]] = [{} for _ in texts]
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


def facets(keywords: Sequence[dict[str, Any]], separator: str) -> dict[str, str]:
    """Keywords of a text as cells of a file without lists; what is the separator within one becomes
    a blank.
    """

    def joined(values: Sequence[str]) -> str:
        return separator.join(value.replace(separator, " ") for value in values)

    places = [
        ",".join(f"{span['start']}-{span['end']}" for span in one["spans"]) for one in keywords
    ]
    words, types = ([one[name] for one in keywords] for name in ("text", "type"))
    scores = [str(one["score"]) for one in keywords]
    return {
        "text": joined(words),
        "types": joined(types),
        "scores": joined(scores),
        "spans": joined(places),
    }

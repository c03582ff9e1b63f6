"""Tagging tokens from Python: tokens and tags as lists, `fit`, `predict`, and `keywords` of
texts.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tagwright.analysis.run_facts import card_of
from tagwright.data import Data
from tagwright.data.token_text import join
from tagwright.errors import DataError
from tagwright.inference import model_folder
from tagwright.inference.model import Model
from tagwright.inference.score import score
from tagwright.inference.spans import Keyword, find_spans, keywords_of, token_scores
from tagwright.inference.tagged_tokens import with_cut
from tagwright.integrations.parameters import given_parameters, given_settings, text_list
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.tags import repaired
from tagwright.metrics.of_tokens import usual_of_tags
from tagwright.models.device import device_named
from tagwright.settings.schema import resolve
from tagwright.tokenizers.cut import cut
from tagwright.training.check import check
from tagwright.training.prepare import prepare
from tagwright.training.train import fit


class TokenTagger(BaseEstimator):
    """A tagger of tokens with scikit-learn's manners.

    Tags are IOB2, IOBES or plain classes; broken ones are mended. A parameter that is None leaves
    the choice to the `settings`, nested values as in a settings file: encoder bat, objective
    cross_entropy.

    >>> pages = [["red", "tent", f"n{i}"] for i in range(40)]
    >>> sizes = {"hidden": 16, "width": 16, "feed": 16, "layers": 1, "heads": 2}
    >>> bat = {"encoder": {"name": "bat", **sizes}}
    >>> tagger = TokenTagger(epochs=8, learning_rate=0.02, settings=bat)
    >>> tagger = tagger.fit(pages, [["O", "B-GOODS", "O"]] * 40)
    >>> tagger.predict([["blue", "tent"]])
    [['O', 'B-GOODS']]
    >>> [(one["text"], one["type"], one["spans"]) for one in tagger.keywords(["A red tent"])[0]]
    [('tent', 'GOODS', [{'start': 6, 'end': 10}])]
    """

    def __init__(
        self,
        *,
        encoder: str | None = None,
        objective: str | None = None,
        epochs: float | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        dev_share: float | None = None,
        seed: int | None = None,
        device: str | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.encoder, self.objective = encoder, objective
        self.epochs, self.batch, self.learning_rate = epochs, batch, learning_rate
        self.dev_share, self.seed, self.device, self.settings = dev_share, seed, device, settings

    def fit(self, tokens: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> "TokenTagger":
        """Learn from texts cut into tokens, and a tag for each; a share is held out to choose the
        best step.
        """
        data = _data(tokens, tags)
        settings = with_cut(resolve(given_settings(self), "tokens", data.size), data)
        prepared = prepare(data, settings)
        check(prepared, settings)
        fitted = fit(prepared, settings)
        self.model_, self.card_ = fitted.model, card_of(prepared, fitted)
        return self

    def predict(self, tokens: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for each token."""
        check_is_fitted(self)
        lists = _lists(tokens, "tokens")
        offsets, names = offsets_of(lists), np.array(self.model_.primary.space.names, object)
        chosen = names[token_scores(self._model(), lists.flatten(), offsets).chosen.argmax(1)]
        return [chosen[start:end].tolist() for start, end in pairwise(offsets)]

    def keywords(self, texts: Sequence[str]) -> list[list[Keyword]]:
        """What is found in texts that nobody has cut, the surest first: text, type, score and spans
        in characters.
        """
        check_is_fitted(self)
        rows = text_list(texts)
        return keywords_of(
            find_spans(self._model(), cut(rows, self.model_.inference.data.cut)), rows
        )

    def score(self, tokens: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> float:
        """F1 of whole spans; of classes without spans the mean F1 over tags."""
        check_is_fitted(self)
        results = score(self._model(), _data(tokens, tags)).as_dict()["metrics"]
        return float(results[usual_of_tags(self.model_.primary.space.names)])

    def _model(self) -> Model:
        """The model, on the estimator's device."""
        return self.model_.to(device_named(self.device or "auto"))

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write a model folder, for `load` and the commands."""
        check_is_fitted(self)
        model_folder.save(
            self.model_.as_trained(), Path(folder), card=self.card_, overwrite=overwrite
        )


def token_tagger_of(model: Model, *, card: str) -> TokenTagger:
    """A tagger of tokens around a trained model."""
    tagger = TokenTagger(**given_parameters(model.given))
    tagger.model_, tagger.card_ = model, card
    return tagger


def _data(tokens: Any, tags: Any) -> Data:
    words, marks = _lists(tokens, "tokens"), _lists(tags, "tags")
    _require_pairs(words, marks)
    text, starts = join(words)
    columns = {"tokens": words, "tags": repaired(marks)[0], "text": text, "starts": starts}
    columns["labels"] = pa.nulls(len(words), pa.list_(pa.string()))
    return Data(tables={"all": pa.table(columns)}, task="tokens", source="tokens given in Python")


def _require_pairs(words: pa.ListArray, marks: pa.ListArray) -> None:
    if len(words) != len(marks):
        raise DataError(
            f"every text wants its tags, got {len(words)} texts and {len(marks)} lists of tags"
        )
    counts = [np.diff(offsets_of(lists)) for lists in (words, marks)]
    wrong = np.flatnonzero(counts[0] != counts[1])
    if len(wrong):
        found = " and ".join(
            f"{count[wrong[0]]} {what}" for count, what in zip(counts, ("tokens", "tags"))
        )
        raise DataError(
            f"every token wants one tag, but text {wrong[0]} (counted from 0) has {found}"
        )


def _lists(values: Any, what: str) -> pa.ListArray:
    rows = [list(row) if not isinstance(row, str) else row for row in values]
    wrong = next(
        (
            row
            for row in rows
            if isinstance(row, str) or not all(isinstance(one, str) for one in row)
        ),
        None,
    )
    if wrong is not None:
        raise DataError(f"{what} must be lists of strings, one a text, got {wrong!r}")
    return pa.array(rows, pa.list_(pa.string()))

"""The scikit-learn face: texts and labels as Python lists, `fit`, `predict`, `predict_proba`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from tagwright.analysis.run_facts import card_of
from tagwright.data import Data
from tagwright.errors import DataError, SettingsError
from tagwright.inference import model_folder
from tagwright.inference.model import Model, Scores
from tagwright.integrations.parameters import given_parameters, given_settings, text_list
from tagwright.integrations.token_tagger import TokenTagger, token_tagger_of
from tagwright.labels.shortlist import ShortScores
from tagwright.models.device import device_named
from tagwright.settings.schema import resolve
from tagwright.training.check import check
from tagwright.training.prepare import prepare
from tagwright.training.train import fit


class Tagger(ClassifierMixin, BaseEstimator):
    """A text tagger with scikit-learn's manners.

    `labels` may be one string a text, a list of strings a text, or a multi-hot matrix (n, L);
    `predict` answers in the same form. scikit-learn's own scorers for several labels, such as
    scoring="f1_macro", want the matrix. `settings` are nested values for everything else, as in a
    settings file; a parameter that is given wins over them, one that is None leaves the choice to
    them: encoder cnn; objective focal, for one label a text cross_entropy, with bow bce and
    squared_hinge.

    >>> tagger = Tagger(encoder="bow", epochs=3)
    >>> texts = [f"{thing} number {i}" for i in range(20) for thing in ("tent", "knife")]
    >>> tagger.fit(texts, ["outdoor", "kitchen"] * 20)
    Tagger(encoder='bow', epochs=3)
    >>> tagger.predict(["a tent"]).tolist()
    ['outdoor']
    """

    def __init__(
        self,
        *,
        encoder: str | None = None,
        objective: str | None = None,
        decide: str | None = None,
        epochs: float | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        dev_share: float | None = None,
        seed: int | None = None,
        device: str | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.encoder, self.objective, self.decide = encoder, objective, decide
        self.epochs, self.batch, self.learning_rate = epochs, batch, learning_rate
        self.dev_share, self.seed, self.device, self.settings = dev_share, seed, device, settings

    def fit(
        self, texts: Sequence[str], labels: Any, sample_weight: Sequence[float] | None = None
    ) -> "Tagger":
        """Learn from texts (n,) and labels; a share of them is held out to choose the best step and
        the decision.
        """
        form, lists, names = _label_lists(labels)
        texts = text_list(texts)
        if len(texts) != len(lists):
            raise DataError(
                f"texts and labels must be of one length, got {len(texts)} and {len(lists)}"
            )
        columns = {
            "text": pa.array(texts, pa.string()),
            "labels": pa.array(lists, pa.list_(pa.string())),
        }
        if sample_weight is not None:
            columns["weight"] = pa.array(_weights(sample_weight, len(texts)))
        task = "one" if form == "single" else "many"
        data = Data(tables={"all": pa.table(columns)}, task=task, source="texts given in Python")  # type: ignore[arg-type]
        settings = resolve(given_settings(self), task, data.size)
        prepared = prepare(data, settings)
        check(prepared, settings)
        fitted = fit(prepared, settings)
        self.model_, self.form_ = fitted.model, form
        self.card_ = card_of(prepared, fitted)
        self._set_classes(names)
        return self

    def predict(self, texts: Sequence[str]) -> Any:
        """Labels in the form they were learnt in: (n,) strings, lists of strings, or a multi-hot
        matrix (n, L).
        """
        scores = self._scores(texts)
        if self.form_ == "single":  # always one label, whatever the decision would leave out
            return self.classes_[self.columns_[scores.highest()]]
        rows, labels, _ = scores.cells()
        if self.form_ == "matrix":
            cells = (np.ones(len(rows), np.int64), (rows, self.columns_[labels]))
            made = csr_array(cells, shape=(len(scores.chosen), len(self.classes_)))
            return made.toarray() if isinstance(scores, Scores) else made
        result: list[list[Any]] = [[] for _ in scores.chosen]
        for row, name in zip(rows.tolist(), self.classes_[self.columns_[labels]].tolist()):
            result[row].append(name)
        return result

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """Probabilities (n, L) in the order of `classes_`; rows sum to 1 where labels exclude each
        other.
        """
        scores = self._scores(texts)
        if not isinstance(scores, Scores):
            raise SettingsError(
                f"this model has {len(self.classes_):,} labels and knows the highest of each text"
                " only; take predict, or model_.scores(texts) for their probabilities"
            )
        values = scores.probabilities.astype(np.float64)
        if self.form_ == "single":
            values /= values.sum(1, keepdims=True)
        return self._in_columns(values)

    def score(
        self, texts: Sequence[str], labels: Any, sample_weight: Sequence[float] | None = None
    ) -> float:
        """Accuracy; with several labels a text, the share of texts whose labels are all right."""
        predicted = self.predict(texts)
        if self.form_ == "lists":
            same = [set(a) == set(b) for a, b in zip(predicted, labels, strict=True)]
            return float(np.average(same, weights=sample_weight))
        return float(accuracy_score(labels, predicted, sample_weight=sample_weight))

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write a model folder, for `load` and the commands."""
        check_is_fitted(self)
        model_folder.save(
            self.model_.as_trained(), Path(folder), card=self.card_, overwrite=overwrite
        )

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: strings in, several labels allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = (
            True,
            False,
            True,
        )
        tags.classifier_tags.multi_label, tags.target_tags.multi_output = True, True
        return tags

    def _scores(self, texts: Sequence[str]) -> Scores | ShortScores:
        check_is_fitted(self)
        return self.model_.to(device_named(self.device or "auto")).scores(text_list(texts))

    def _set_classes(self, names: Sequence[Any]) -> None:
        """`classes_`: the labels as given, in scikit-learn's order; `columns_`: where each logit
        stands there.
        """
        space = self.model_.primary.space
        place = {str(name): number for number, name in enumerate(names)}
        self.columns_ = np.array([place[name] for name in space.names])
        self.classes_ = np.arange(len(names)) if self.form_ == "matrix" else _array(names)

    def _in_columns(self, values: np.ndarray) -> np.ndarray:
        """Columns of logits in the order of `classes_`; a class that no training text had stays
        0.
        """
        result = np.zeros((len(values), len(self.classes_)), values.dtype)
        result[:, self.columns_] = values
        return result


def load(
    folder: str | Path, *, head: str | None = None, device: str = "auto", plugins: bool = False
) -> Tagger | TokenTagger:
    """A tagger from a model folder; it predicts strings or lists of strings, or tags of tokens.

    Of a model with several heads it answers with `head`, or with the first; `save` writes them all.
    It computes on the `device`: auto (a GPU where there is one), cpu, cuda or mps. `plugins` allows
    a model whose parts come from another package, whose code is then run.
    """
    model, card = (
        model_folder.load(Path(folder), device=device, plugins=plugins),
        model_folder.load_card(Path(folder)),
    )
    if head is not None:
        model = model.led_by(head)
    tagger = token_tagger_of(model, card=card) if model.tags_tokens else of_model(model, card=card)
    return tagger.set_params(device=None if device == "auto" else device)


def of_model(model: Model, *, card: str) -> Tagger:
    """A tagger around a trained model."""
    model.require_whole_texts()
    tagger = Tagger(**given_parameters(model.given))
    tagger.model_, tagger.card_ = model, card
    tagger.form_ = "single" if model.primary.space.exclusive else "lists"
    tagger._set_classes(model.primary.space.names)
    return tagger


def _label_lists(labels: Any) -> tuple[str, list[list[str]], list[Any]]:
    """The form, every row as a list of strings, and the distinct labels (or columns) as they were
    given.
    """
    if isinstance(labels, Iterator):
        labels = [*labels]
    if not isinstance(labels, str | Sequence):  # arrays, matrices, frames, series
        labels = labels.toarray() if issparse(labels) else np.asarray(labels)
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        matrix = labels
        if not np.isin(matrix, (0, 1)).all():
            raise DataError("a label matrix must hold only 0 and 1")
        # leading zeros: alphabetical order is the order of the columns
        width = len(str(matrix.shape[1] - 1))
        names = [f"{column:0{width}d}" for column in range(matrix.shape[1])]
        return "matrix", [[names[c] for c in np.flatnonzero(row)] for row in matrix], names
    if isinstance(labels, str):
        raise DataError(
            "labels must be a list, got one string; give one label, or a list of labels, for each"
            " text"
        )
    rows = labels.tolist() if isinstance(labels, np.ndarray) else [*labels]
    if rows and all(isinstance(row, list | tuple | set | frozenset) for row in rows):
        return (
            "lists",
            [[str(label) for label in row] for row in rows],
            _sorted({x for row in rows for x in row}),
        )
    if any(isinstance(row, list | tuple | set | frozenset) for row in rows):
        raise DataError("labels must be all strings or all lists, got a mixture")
    missing = sum(row is None or row != row for row in rows)
    if missing:
        raise DataError(
            f"{missing} labels are missing (None or NaN); leave them out, or give lists ([] for"
            " none)"
        )
    return "single", [[str(row)] for row in rows], _sorted(set(rows))


def _sorted(labels: set[Any]) -> list[Any]:
    """Numbers by value, strings by letter, as scikit-learn orders classes."""
    try:
        return sorted(labels)
    except TypeError:
        raise DataError("labels must be all strings or all numbers, got a mixture") from None


def _array(names: Sequence[Any]) -> np.ndarray:
    """Labels as an array whose items are what was given."""
    return np.array(names) if not isinstance(names[0], str) else np.array(names, dtype=object)


def _weights(weights: Sequence[float], count: int) -> np.ndarray:
    values = np.asarray(weights, np.float64)
    if (
        values.shape != (count,)
        or not np.isfinite(values).all()
        or (values < 0).any()
        or not values.any()
    ):
        raise DataError(
            f"sample_weight must be {count} numbers, none negative and not all 0, got"
            f" {values.shape}"
        )
    return values

"""What the runs of a recipe share: data prepared once, test tokenised once; and the scores of a model on it."""

import platform
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from tagwright import metrics
from tagwright.assemble.decision import measured, truth_of, untuned
from tagwright.assemble.device import device_of
from tagwright.assemble.ledger import packed, packed_values
from tagwright.assemble.planned import Planned, Source
from tagwright.assemble.prepare import Prepared, prepare
from tagwright.assemble.score import known_rows, labelled_rows
from tagwright.assemble.sheets import Sheet, sheet_of, truth_of_tags
from tagwright.assemble.train import Fitted
from tagwright.batches.tokens import Tokens
from tagwright.labels.tags import scheme_of
from tagwright.metrics import Measures
from tagwright.metrics._influence import METRICS as F1
from tagwright.metrics._influence import influence
from tagwright.model import Head, Scores, answers_of, inputs_of, tag_inputs
from tagwright.settings import Settings
from tagwright.targets.hard import hard

Say = Callable[[str], None]


class Ready(NamedTuple):
    """Data as training and scoring take them; the same for every objective and seed."""

    prepared: Prepared
    test: Tokens | Sheet
    truth: Any  # (n, L) of test, sparse; of tokens dense
    strange: int  # texts of test whose labels train does not have, or tokens with such tags


class Bench:
    """Data prepared once for all runs that can share them."""

    def __init__(self, sources: Mapping[str, Source], say: Say) -> None:
        self.sources, self.say = sources, say
        self.place: tuple[str, ...] = ()
        self.ready: dict[str, Ready] = {}

    def of(self, run: Planned, settings: Settings) -> Ready:
        """Of the same data set, encoder and part of a cut, and of the settings that preparing looks at."""
        place = (*run.cell, run.part)
        if place != self.place:
            self.place, self.ready = place, {}
        whole = settings.as_dict()
        key = repr([whole[section] for section in ("split", "embed", "encoder")] + [whole["fit"].get("vectors")])
        if key not in self.ready:
            self.ready[key] = _ready(self.sources[run.data], settings)
            for sentence in said(self.ready[key], self.sources[run.data]):
                self.say(sentence)
        return self.ready[key]


def _ready(source: Source, settings: Settings) -> Ready:
    prepared = prepare(source.data, settings)
    if prepared.tagged:
        sheet, unseen = sheet_of(labelled_rows(source.data, "test", "tags")[1], prepared.tokeniser, prepared.space)
        return Ready(prepared, sheet, truth_of_tags(sheet.tags, len(prepared.space)), sum(unseen.values()))
    table = labelled_rows(source.data, "test")[1]
    known = known_rows(prepared.space, table, source.data.source)
    strange = table.num_rows - len(known)
    table = table.take(known)
    return Ready(prepared, prepared.tokeniser.encode(table["text"]), hard(table, prepared.space), strange)


def said(ready: Ready, source: Source) -> tuple[str, ...]:
    """What a person should know of the data."""
    prepared = ready.prepared
    unseen = f"left out of test: {ready.strange} texts, whose labels train does not have"
    if isinstance(ready.test, Sheet):
        counted = "count as O" if "O" in prepared.space.index else "are wrong whatever is chosen"
        unseen = f"{ready.strange} tokens of test have tags that train does not have; they {counted}"
    sentences = (*prepared.found[len(source.data.found) :], *prepared.warnings)
    return (*sentences, unseen) if ready.strange else sentences


def scored(fitted: Fitted, ready: Ready, settings: Settings) -> dict[str, Any]:
    """Metrics on test, on which texts all labels are right, and what each adds to F1; on the run's own device."""
    model, head = fitted.model, fitted.model.heads["main"]
    network = model.network.to(device_of(settings))
    if isinstance(ready.test, Sheet):
        return _scored_tokens(fitted, ready.test, ready.truth)
    inputs = inputs_of(network, ready.test, limit=model.settings.fit.limit)
    scores = head.scores(answers_of(network, inputs, model.settings, head.space, head.link))
    truth = truth_of(ready.truth, model.settings)
    found = only_metrics(measured(scores, truth).results(label_counts=head.space.counts))
    if not isinstance(scores, Scores):
        return {"test": found, "texts": truth.shape[0], "right": None}
    values = {metric: packed_values(influence(metric, truth, scores.chosen)) for metric in F1}
    right = packed((scores.chosen == truth).all(1))
    return {"test": found, "texts": len(truth), "right": right, "of_texts": values, **_untuned(head, scores, truth)}


def _untuned(head: Head, scores: Scores, truth: np.ndarray) -> dict[str, Any]:
    """The metrics of the same logits with no threshold fitted, where one was: how much the fit is worth."""
    chosen = untuned(head, scores)
    if chosen is None:
        return {}
    measures = measured(scores._replace(chosen=chosen), truth)
    return {"untuned": only_metrics(measures.results(label_counts=head.space.counts))}


def _scored_tokens(fitted: Fitted, sheet: Sheet, truth: np.ndarray) -> dict[str, Any]:
    """Metrics of tokens and spans, and how many tokens have each type. F scores are no means over texts, so which
    texts are right is not told: the intervals are over seeds."""
    model, head = fitted.model, fitted.model.heads["main"]
    inputs = tag_inputs(sheet.pieces, sheet.offsets, model.tokeniser, model.settings)
    answers = answers_of(model.network, inputs, model.settings, head.space, head.link)
    scores = head.scores(answers, offsets=sheet.offsets)
    measures = measured(scores, truth, offsets=sheet.offsets, tags=head.space.names)
    found = only_metrics(measures.results(label_counts=head.space.counts))
    counts = {"texts": len(sheet.offsets) - 1, "tokens": len(truth)}
    return {"test": found, **counts, "right": None, "amounts": _amounts(measures)}


def _amounts(measures: Measures) -> dict[str, tuple[int, int]]:
    """Type -> its tokens as predicted and in truth; B-X and I-X are one type, as the paper's categories (BAT, A.2)."""
    found = measures.states["without_o"].amounts()
    scheme = scheme_of(found["name"].tolist())
    amounts = [
        [int(found[side][scheme.type == n].sum()) for side in ("predicted", "true")] for n in range(len(scheme.types))
    ]
    return {name: (predicted, true) for name, (predicted, true) in zip(scheme.types, amounts)}


def only_metrics(found: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in found.items() if name in metrics.METRICS}


def device_name(settings: Settings) -> str:
    device = device_of(settings)
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type} ({platform.machine()}, {torch.get_num_threads()} threads)"

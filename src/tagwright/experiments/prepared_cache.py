"""What the runs of a plan share: data prepared once, the scored part tokenized once; and a model's
scores on it.
"""

import platform
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa
import torch
from scipy.sparse import csr_array

from tagwright import metrics
from tagwright.arrays import Bools
from tagwright.experiments.ledger import RunResults, packed, packed_bits, packed_values
from tagwright.experiments.plan import Planned, Source
from tagwright.inference.data_for_model import known_rows, labelled_rows
from tagwright.inference.fit_decision import measured, truth_of, untuned
from tagwright.inference.model import Scores, TrainedHead, inputs_of, tag_inputs
from tagwright.inference.spans import given_tokens
from tagwright.inference.tagged_tokens import Sheet, sheet_of, tags_of, truth_of_tags
from tagwright.labels.shortlist import ShortScores
from tagwright.labels.tags import scheme_of
from tagwright.metrics import Measures
from tagwright.metrics.influence import METRICS as F1
from tagwright.metrics.influence import influence
from tagwright.models.device import device_of
from tagwright.settings.schema import Settings
from tagwright.targets.hard import hard
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.decided import Fitted
from tagwright.training.prepare import learns_unlabelled, prepare
from tagwright.training.prepared import Prepared

Say = Callable[[str], None]
MOST_CELLS = 1 << 30  # of texts × labels whose choices are kept: a bit each
BINS = ("count", "confidence", "frequency")  # of a reliability curve


class Ready(NamedTuple):
    """Data as training and scoring take them; the same for every objective and seed."""

    prepared: Prepared
    on: str  # the part that is scored
    table: pa.Table  # its rows
    # None: training itself scores dev, and a model of labels and tags cuts its texts
    scored: Tokens | Sheet | None
    truth: csr_array | Bools  # (n, L) of that part, sparse; of tokens dense
    strange: int  # its texts whose labels train does not have, or tokens with such tags


class Bench:
    """Data prepared once for all runs that can share them."""

    def __init__(self, sources: Mapping[str, Source], say: Say) -> None:
        self.sources, self.say = sources, say
        self.place: tuple[str, ...] = ()
        self.ready: dict[str, Ready] = {}

    def of(self, run: Planned, settings: Settings) -> Ready:
        """Of the same data set, encoder and part of a cut, and of the settings that preparing looks
        at.
        """
        place = (*run.cell, run.part)
        if place != self.place:
            self.place, self.ready = place, {}
        whole = settings.as_dict()
        key = repr(
            [*(whole[section] for section in ("split", "embed", "encoder")), settings.fit.vectors]
        )
        key += str(learns_unlabelled(settings))
        if key not in self.ready:
            self.ready[key] = _ready(self.sources[run.data], settings)
            for sentence in said(self.ready[key], self.sources[run.data]):
                self.say(sentence)
        return self.ready[key]


def _ready(source: Source, settings: Settings) -> Ready:
    prepared, on = prepare(source.data, settings), source.on
    space, data = prepared.space, source.data.alone(prepared.first)
    one = prepared.answered(prepared.first)
    if on == "dev" and prepared.tagged:
        truth = truth_of_tags(one.sheets[on].tags, len(space))
        return Ready(prepared, on, one.tables[on], None, truth, 0)
    if on == "dev":
        return Ready(prepared, on, one.tables[on], None, hard(one.tables[on], space), 0)
    if prepared.tagged:
        table = labelled_rows(data, on, "tags")[1]
        tags, unseen = tags_of(table, space)
        sheet = sheet_of(table, prepared.tokenizer, tags)
        return Ready(
            prepared, on, table, sheet, truth_of_tags(sheet.tags, len(space)), sum(unseen.values())
        )
    table = labelled_rows(data, on)[1]
    known = known_rows(space, table, data.source)
    strange = table.num_rows - len(known)
    table = table.take(known)
    tokens = None if prepared.sheets else prepared.tokenizer.encode(table["text"])
    return Ready(prepared, on, table, tokens, hard(table, space), strange)


def said(ready: Ready, source: Source) -> tuple[str, ...]:
    """What a person should know of the data."""
    prepared = ready.prepared
    unseen = f"left out of {ready.on}: {ready.strange} texts, whose labels train does not have"
    if prepared.tagged:
        counted = "count as O" if "O" in prepared.space.index else "are wrong whatever is chosen"
        unseen = (
            f"{ready.strange} tokens of {ready.on} have tags that train does not have; they"
            f" {counted}"
        )
    sentences = (*prepared.found[len(source.data.found) :], *prepared.warnings)
    return (*sentences, unseen) if ready.strange else sentences


def scored(fitted: Fitted, ready: Ready, settings: Settings, *, detail: bool = False) -> RunResults:
    """Metrics on the scored part, on which texts all labels are right, and what each adds to F1; on
    the run's own device. With `detail` also what was chosen, and how well probabilities hold."""
    head = fitted.model.primary
    if ready.prepared.tagged:
        return _scored_tokens(fitted, ready)
    truth = truth_of(ready.truth, head.part)
    scores = _scores(fitted, ready, settings)
    measures = fitted.measures if ready.on == "dev" else measured(scores, truth)
    found = only_metrics(measures.results(label_counts=head.space.counts))
    facts: RunResults = {"scored": found, "on": ready.on, "texts": truth.shape[0]}
    if not isinstance(scores, Scores):
        return {**facts, "right": None}
    values = {metric: packed_values(influence(metric, truth, scores.chosen)) for metric in F1}
    facts |= {"right": packed((scores.chosen == truth).all(1)), "of_texts": values}
    plain = _untuned(head, scores, truth)
    if plain is not None:
        facts["untuned"] = plain
    return {**facts, **_detail(scores, measures)} if detail and truth.size < MOST_CELLS else facts


def dev_untuned(fitted: Fitted, ready: Ready) -> dict[str, float]:
    """Metrics of dev with no threshold fitted, where one was: who chooses by dev needs both.

    None where dev is the scored part: `untuned` has them.
    """
    prepared = ready.prepared
    if prepared.tagged or ready.on == "dev" or not isinstance(fitted.dev, Scores):
        return {}
    dev = prepared.answered(prepared.first).tables["dev"]
    truth = truth_of(hard(dev, prepared.space), fitted.model.primary.part)
    return _untuned(fitted.model.primary, fitted.dev, truth) or {}


def _scores(fitted: Fitted, ready: Ready, settings: Settings) -> Scores | ShortScores:
    """What the model says of the scored part; of dev what it said when no text had a say in its own
    thresholds.
    """
    model, head = fitted.model, fitted.model.primary
    if ready.on == "dev":
        return fitted.dev
    network = model.network.to(device_of(settings))
    if not isinstance(ready.scored, Tokens):
        tokens = (
            given_tokens(ready.table["tokens"])[1] if "tokens" in ready.table.column_names else None
        )
        return model.scores(ready.table["text"], tokens=tokens)
    inputs = inputs_of(network, ready.scored, limit=model.inference.limit)
    return head.scores(model.answers(inputs))


def _detail(scores: Scores, measures: Measures) -> RunResults:
    """The choices, a bit each, and the bins of the reliability curve."""
    curve = measures.states["calibration"].reliability() if "calibration" in measures.states else {}
    return {
        "chosen": packed_bits(scores.chosen),
        "reliability": {key: curve[key].tolist() for key in BINS if curve},
    }


def _untuned(head: TrainedHead, scores: Scores, truth: Bools) -> dict[str, float] | None:
    """The metrics of the same logits with no threshold fitted: how much the fit is worth. None
    where none was fitted.
    """
    chosen = untuned(head, scores)
    if chosen is None:
        return None
    measures = measured(scores._replace(chosen=chosen), truth)
    return only_metrics(measures.results(label_counts=head.space.counts))


def _scored_tokens(fitted: Fitted, ready: Ready) -> RunResults:
    """Metrics of tokens and spans, and how many tokens have each type. F scores are no means over
    texts, so which texts are right is not told: the intervals are over seeds."""
    head, sheet = fitted.model.primary, ready.scored
    if isinstance(sheet, Sheet):
        measures = _measured_sheet(fitted, sheet, ready.truth)
    else:
        sheet, measures = ready.prepared.sheets["dev"], fitted.measures
    found = only_metrics(measures.results(label_counts=head.space.counts))
    return {
        "scored": found,
        "on": ready.on,
        "texts": len(sheet.offsets) - 1,
        "tokens": len(ready.truth),
        "right": None,
        "amounts": _amounts(measures),
    }


def _measured_sheet(fitted: Fitted, sheet: Sheet, truth: Bools) -> Measures:
    model, head = fitted.model, fitted.model.primary
    inputs = tag_inputs(
        sheet.pieces, sheet.offsets, model.tokenizer, head.part, limit=model.inference.limit
    )
    scores = head.scores(model.answers(inputs), offsets=sheet.offsets)
    return measured(scores, truth, offsets=sheet.offsets, tags=head.space.names)


def _amounts(measures: Measures) -> dict[str, tuple[int, int]]:
    """Type -> its tokens as predicted and in truth; B-X and I-X are one type, as the paper's
    categories (BAT, A.2).
    """
    found = measures.states["without_o"].amounts()
    scheme = scheme_of(found["name"].tolist())
    amounts = [
        [int(found[side][scheme.type == n].sum()) for side in ("predicted", "true")]
        for n in range(len(scheme.types))
    ]
    return {name: (predicted, true) for name, (predicted, true) in zip(scheme.types, amounts)}


def only_metrics(found: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in found.items() if name in metrics.descriptions()}


def device_name(settings: Settings) -> str:
    device = device_of(settings)
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type} ({platform.machine()}, {torch.get_num_threads()} threads)"

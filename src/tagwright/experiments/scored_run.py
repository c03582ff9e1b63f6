"""What a run came to: metrics on the scored part, and what is known of each text there."""

from collections.abc import Mapping
from pathlib import Path

from tagwright import metrics
from tagwright.analysis.run_facts import write_report
from tagwright.arrays import Bools
from tagwright.experiments.ledger import (
    Course,
    RunResults,
    packed,
    packed_bits,
    packed_values,
)
from tagwright.experiments.plan import Planned
from tagwright.experiments.prepared_cache import Ready
from tagwright.inference.fit_decision import measured, truth_of, untuned
from tagwright.inference.model import Scores, TrainedHead, inputs_of, tag_inputs
from tagwright.inference.spans import given_tokens
from tagwright.inference.tagged_tokens import Sheet
from tagwright.labels.shortlist import ShortScores
from tagwright.labels.tags import scheme_of
from tagwright.metrics import Measures
from tagwright.metrics.influence import METRICS as F1
from tagwright.metrics.influence import influence
from tagwright.models.device import device_of
from tagwright.settings.schema import Settings
from tagwright.storage.files import writing
from tagwright.targets.hard import hard
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.fitted import Fitted

MOST_CELLS = 1 << 30  # of texts × labels whose choices are kept: a bit each
BINS = ("count", "confidence", "frequency")  # of a reliability curve


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


def dev_metrics(fitted: Fitted) -> dict[str, float]:
    """Metrics of the first head on dev."""
    return only_metrics(fitted.model.primary.metrics["metrics"])


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


def course_of(fitted: Fitted) -> RunResults:
    """The course of training: step, score and loss of every evaluation, and what the score is."""
    step, score, loss = (
        [row.get(name, float("nan")) for row in fitted.history]
        for name in ("step", "score", "loss")
    )
    course: Course = {"step": step, "score": score, "loss": loss}
    return {"course": course, "watched": fitted.watch.metric}


def page_of(run: Planned, ready: Ready, fitted: Fitted, pages: Path | None) -> str:
    """The name of a report of this run alone, below the folder of pages; "" where there is none."""
    if pages is None:
        return ""
    folder = pages / f"{run.encoder}-{run.variant}-{run.seed}-{run.key[:8]}".replace(
        " ", "-"
    ).replace("/", "-")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    path = write_report(ready.prepared, fitted, folder)
    return "" if path is None else f"{pages.name}/{folder.name}/{path.name}"

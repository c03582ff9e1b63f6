"""What the reports and the model card of a run show."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tagwright.analysis.metric_facts import bands, calibration, confused, per_label, threshold_curve
from tagwright.analysis.tag_facts import confused_tokens, examples, tag_facts
from tagwright.inference.model import TrainedHead
from tagwright.inference.model_folder import versions
from tagwright.metrics import Measures
from tagwright.models.shortlist import left_out
from tagwright.reports import fit_report, model_card
from tagwright.reports.facts import (
    CardFacts,
    FitFacts,
    HeadFacts,
    TagFacts,
)
from tagwright.training.fitted import Fitted
from tagwright.training.prepared import Prepared
from tagwright.training.run_folder import REPORT, write_pages


def write_report(prepared: Prepared, fitted: Fitted, folder: Path) -> Path | None:
    """The HTML report of a run, one for each head; None where the plotting libraries are
    missing.
    """
    return write_pages(folder, report_pages(prepared, fitted))


def report_pages(prepared: Prepared, fitted: Fitted) -> dict[str, str]:
    """The HTML reports by the names of their files."""
    pages = {}
    for name in fitted.heads if can_report() else ():
        path = REPORT if name == prepared.first else f"report-{name}.html"
        pages[path] = fit_report(fit_facts(prepared.answered(name), fitted.alone(name)))
    return pages


def can_report() -> bool:
    """Whether the plotting libraries are installed; training does without."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert", "jinja2"))


def card_of(prepared: Prepared, fitted: Fitted) -> str:
    """The model card, as Markdown."""
    return model_card(card_facts(prepared, fitted))


def card_facts(prepared: Prepared, fitted: Fitted) -> CardFacts:
    """What the model card says of the first head, and of the others in short; no text of the data
    is among it.
    """
    first, *others = fitted.heads
    other_heads = [other_facts(name, fitted.heads[name].head) for name in others]
    prepared, fitted = prepared.answered(first), fitted.alone(first)
    head, measures, scores = fitted.heads[first]
    found, tagged = head.metrics["metrics"], prepared.tagged
    return CardFacts(
        title=f"{fitted.settings.encoder.name} with {fitted.settings.objective}",
        label_names=head.space.names,
        label_counts=np.array(head.space.counts),
        exclusive=head.space.exclusive,
        metrics=found,
        refitted_on=refitted_on(prepared, fitted),
        decision=head.decision.describe(),
        settings=fitted.settings.as_dict(),
        split_sizes={name: table.num_rows for name, table in prepared.tables.items()},
        per_label=per_label(measures, head),
        bands=None if tagged else bands(head.space.counts, found),
        nothing_predicted=float((~scores.chosen.any(1)).mean()),
        seconds=fitted.seconds,
        versions=versions(),
        tags=_tags(prepared, fitted, measures) if tagged else None,
        name=first,
        others=other_heads,
    )


def fit_facts(prepared: Prepared, fitted: Fitted) -> FitFacts:
    """Everything the report of a run with one head shows, the example texts among it."""
    [(head, measures, scores)] = fitted.heads.values()
    space, dev, tagged = head.space, prepared.tables["dev"], prepared.tagged
    best = max(
        reversed(fitted.history), key=lambda row: fitted.watch.sign * row["score"], default=None
    )
    return FitFacts(
        title=(
            f"{fitted.settings.encoder.name} with {fitted.settings.objective} on {prepared.source}"
        ),
        label_names=space.names,
        label_counts=np.array(space.counts),
        exclusive=space.exclusive,
        metrics=head.metrics["metrics"],
        refitted_on=refitted_on(prepared, fitted),
        settings=fitted.settings.as_dict(),
        data_found=prepared.found,
        split_sizes={name: table.num_rows for name, table in prepared.tables.items()},
        dropped=prepared.dropped,
        history=fitted.history,  # type: ignore[arg-type]
        watched=fitted.watch.metric,
        best_step=int(best["step"]) if best else None,
        per_label=per_label(measures, head),
        bands=None if tagged else bands(space.counts, head.metrics["metrics"]),
        threshold_curve=threshold_curve(prepared, fitted),
        confused=(confused_tokens if tagged else confused)(measures, space.names, dev),
        calibration=calibration(measures),
        seconds=fitted.seconds,
        versions=versions(),
        warnings=[*left_out(head.part, len(space)), *warnings(prepared, head)],
        tags=_tags(prepared, fitted, measures) if tagged else None,
        examples=examples(dev, space, scores.chosen.argmax(1)) if tagged else (),
    )


def other_facts(name: str, head: TrainedHead) -> HeadFacts:
    """One of several heads, in short."""
    return HeadFacts(
        name=name,
        label_count=len(head.space),
        exclusive=head.space.exclusive,
        tags_tokens=head.tags_tokens,
        decision=head.decision.describe(),
        metrics=head.metrics.get("metrics", {}),
        split=head.metrics.get("split"),
    )


def _tags(prepared: Prepared, fitted: Fitted, measures: Measures) -> TagFacts:
    tokens = {name: len(sheet.tags) for name, sheet in prepared.sheets.items()}
    return tag_facts(measures, prepared.space, tokens, fitted.settings.data.cut)


def refitted_on(prepared: Prepared, fitted: Fitted) -> int | None:
    """How many texts of train and dev the saved model was trained on again, after it was measured;
    None: it was not.
    """
    rows = sum(prepared.tables[name].num_rows for name in ("train", "dev"))
    return rows if fitted.settings.fit.refit else None


def warnings(prepared: Prepared, head: TrainedHead) -> list[str]:
    """Sentences a person should read before trusting the figures."""
    result = list(prepared.warnings)
    rare = sum(count < 10 for count in head.space.counts)
    labels, texts = ("tags", "tokens") if prepared.tagged else ("labels", "texts")
    if rare:
        result.append(
            f"{rare} of {len(head.space)} {labels} have fewer than 10 {texts} in train; their"
            " scores mean little."
        )
    found = head.metrics["metrics"]
    if prepared.tagged and found.get("micro_recall_without_o") == 0:
        result.append("No token gets any tag but O rightly: train longer, or look at the tags.")
    elif found.get("micro_recall") == 0:
        result.append("No label is ever predicted: train longer, or look at the label column.")
    return result

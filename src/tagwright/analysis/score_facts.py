"""What the report of a trained model on labelled data shows."""

import numpy as np
import pyarrow as pa

from tagwright.analysis.metric_facts import bands, calibration, confused, per_label
from tagwright.analysis.tag_facts import confused_tokens, examples_of, tag_facts
from tagwright.inference.model import Model
from tagwright.inference.model_folder import versions
from tagwright.inference.score import Scored
from tagwright.models.shortlist import left_out
from tagwright.reports.facts import FitFacts
from tagwright.settings.sections import HEADS


def score_facts(model: Model, scored: Scored, table: pa.Table, source: str) -> FitFacts:
    """What a report shows of a trained model on labelled data, the `table` that was scored; texts
    of it among it.
    """
    head, tokens = model.primary, scored.tokens
    results = scored.as_dict()["metrics"]
    return FitFacts(
        title=f"{model.inference.encoder.name} with {_objective_of(model)} on {source}",
        label_names=head.space.names,
        label_counts=np.array(head.space.counts),
        exclusive=head.space.exclusive,
        metrics=results,
        split=scored.split,
        settings=dict(model.record.resolved),
        split_sizes={scored.split: scored.rows},
        per_label=per_label(scored.measures, head),
        bands=bands(head.space.counts, results) if tokens is None else None,
        confused=(confused if tokens is None else confused_tokens)(
            scored.measures, scored.label_names, table
        ),
        calibration=calibration(scored.measures),
        versions=versions(),
        warnings=left_out(head.part, len(head.space)),
        tags=(
            None
            if tokens is None
            else tag_facts(
                scored.measures, head.space, {scored.split: tokens}, model.inference.data.cut
            )
        ),
        examples=() if tokens is None else examples_of(model, table),
    )


def _objective_of(model: Model) -> str:
    """What the first head was trained by."""
    head = model.record.resolved.get(HEADS, {}).get(model.first, {})
    return str(head.get("objective", model.record.objective))

"""The head for tokens that is learnt beside one for whole texts: its objective, and its decision and figures on dev."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tagwright import parts
from tagwright.assemble.decision import decide_on, measured
from tagwright.assemble.prepare import Prepared
from tagwright.assemble.sheets import truth_of_tags
from tagwright.errors import SettingsError
from tagwright.fit.evaluate import token_logits_of
from tagwright.fit.ranks import Ranks
from tagwright.labels.space import LabelSpace
from tagwright.metrics import Measures
from tagwright.model import Head, Scores, tag_inputs
from tagwright.network import Network
from tagwright.objective import Tagging, build_objective
from tagwright.settings import Settings


def tagging_of(prepared: Prepared, settings: Settings) -> Tagging | None:
    """Its objective; None where there is no such head. A text's tags weigh as much as its labels, times the setting."""
    if prepared.tag_space is None:
        return None
    if parts.find("heads", settings.head.name).factory.has_slots:
        raise SettingsError(
            "head cloze puts slots before a text, and tags of its tokens are read without them; for both take "
            "head document"
        )
    tokens = prepared.token_count
    objective = build_objective(settings.of_tags(), prepared.tag_space, row_count=tokens)
    return Tagging(objective, weight=settings.tags.weight * prepared.tables["train"].num_rows / max(tokens, 1))


class TagHead(NamedTuple):
    """The head with its decision, and what it comes to on dev, every token a row."""

    head: Head
    measures: Measures
    scores: Scores


def tag_answers(prepared: Prepared, network: Network, settings: Settings, ranks: Ranks) -> np.ndarray:
    """What the head says of every token of dev, logits (tokens, L)."""
    sheet, own = prepared.sheets["dev"], settings.of_tags()
    inputs = tag_inputs(sheet.pieces, sheet.offsets, prepared.tokeniser, own.head, limit=own.fit.limit)
    return token_logits_of(network, inputs, head="tags", ranks=ranks)


def tag_head(prepared: Prepared, space: LabelSpace, answers: np.ndarray, settings: Settings) -> TagHead:
    """The head with its decision, measured on dev; `space` are the tags, `answers` the logits of its tokens."""
    sheet, own = prepared.sheets["dev"], settings.of_tags()
    truth = truth_of_tags(sheet.tags, len(space))
    head, chosen = decide_on(answers, truth, own, space, sheet.offsets)
    scores = head.dense_scores(answers, offsets=sheet.offsets)._replace(chosen=chosen)
    found = measured(scores, truth, offsets=sheet.offsets, tags=space.names, rows=np.arange(len(chosen)))
    results = found.results(label_counts=space.counts)
    return TagHead(replace(head, metrics={"split": "dev", "convention": "sklearn", "metrics": results}), found, scores)

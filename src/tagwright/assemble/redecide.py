"""Another decision for a trained model: fitted on new data, or set by hand. The weights stay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from tagwright import bundle, parts
from tagwright.assemble.decision import decide_on, measured, rule_of, truth_of
from tagwright.assemble.facts import decision_of
from tagwright.assemble.score import known_rows, labelled_rows, read_for_model
from tagwright.assemble.sheets import flat, tags_of, truth_of_tags
from tagwright.assemble.spans import token_scores
from tagwright.errors import SettingsError
from tagwright.lists import offsets_of
from tagwright.merge import assigned
from tagwright.model import Head, Model, Scores
from tagwright.read._find import whole
from tagwright.report.card import recarded
from tagwright.settings import Choice
from tagwright.shortlist import ShortScores


def redecide(
    folder: Path, source: str | None, *, rule: str, assignments: list[str], split: str | None, **columns: Any
) -> dict[str, Any]:
    """Write the model folder anew with this rule; what it scores on the source comes back, if there is one.

    "auto" is spans where the model tags tokens, argmax where labels exclude each other, else threshold.
    """
    model = bundle.load(folder)
    options = assigned(f"decide.{assignment}" for assignment in assignments).get("decide", {})
    space = model.heads["main"].space
    choice = rule_of(Choice(name=rule, options=options), exclusive=space.exclusive, tagged=model.tags_tokens)
    settings = replace(model.settings, decide=choice)
    model, found = _decided(replace(model, settings=settings), source, split, columns)
    card = recarded(
        (folder / "README.md").read_text(encoding="utf-8"),
        decision_of(model.heads["main"]),
        found.get("metrics", {}),
        found.get("split"),
    )
    bundle.save(model, folder, card=card, overwrite=True)
    return {"rule": choice.name, **found}


def _decided(
    model: Model, source: str | None, split: str | None, columns: dict[str, Any]
) -> tuple[Model, dict[str, Any]]:
    head, choice = model.heads["main"], model.settings.decide
    if source is None:
        if choice.name == "threshold":
            raise SettingsError(
                "thresholds are fitted on labelled data: give it after the model, or choose another --rule"
            )
        decision = parts.build("decide", choice.name, choice.options, label_names=head.space.names)
        fresh = replace(head, rule=choice.name, decision=decision, metrics=_without_figures(head))
        return replace(model, heads={"main": fresh}), {}
    data = read_for_model(model, source, columns)
    column = "tags" if model.tags_tokens else "labels"
    name, table = labelled_rows(data, split or ("dev" if "dev" in data.tables else None), column)
    truth, scores, texts = (_of_tokens if model.tags_tokens else _of_texts)(model, table, data.source)
    answers = scores.logits if isinstance(scores, Scores) else scores.shortlist
    fresh, chosen = decide_on(answers, truth, model.settings, head.space, **texts)
    measures = measured(scores._replace(chosen=chosen), truth, tags=head.space.names, **texts)
    results = measures.results(label_counts=head.space.counts)
    found = {"split": name, "convention": "sklearn", "metrics": results}
    return replace(model, heads={"main": replace(fresh, metrics=found)}), found


Known = tuple[np.ndarray | csr_array, Scores | ShortScores, dict[str, np.ndarray]]


def _of_texts(model: Model, table: pa.Table, source: str) -> Known:
    """What is true of texts, and what the model says of them."""
    space = model.heads["main"].space
    table = table.take(known_rows(space, table, source))
    truth = truth_of(space.encode(table["labels"]).matrix(len(space)), model.settings)
    return truth, model.scores(table["text"]), {}


def _of_tokens(model: Model, table: pa.Table, source: str) -> Known:
    """The same of tokens, and where each text begins among them."""
    space, offsets = model.heads["main"].space, offsets_of(whole(table["tokens"]))
    truth = truth_of_tags(tags_of(table, space)[0], len(space))
    return truth, token_scores(model, flat(table["tokens"]), offsets), {"offsets": offsets}


def _without_figures(head: Head) -> dict[str, Any]:
    """The old figures belong to the old decision."""
    return {"split": head.metrics.get("split"), "convention": "sklearn", "metrics": {}}

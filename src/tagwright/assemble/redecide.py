"""Another decision for a trained model: fitted on new data, or set by hand. The weights stay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tagwright import bundle, parts
from tagwright.assemble.decision import decide_on, measured, rule_of, truth_of
from tagwright.assemble.facts import decision_of
from tagwright.assemble.score import known_rows, labelled_rows, read_for_model
from tagwright.errors import SettingsError
from tagwright.model import Head, Model, Scores
from tagwright.report.card import recarded
from tagwright.settings import Choice, assigned


def redecide(
    folder: Path, source: str | None, *, rule: str, assignments: list[str], split: str | None, **columns: Any
) -> dict[str, Any]:
    """Write the model folder anew with this rule; what it scores on the source comes back, if there is one.

    "auto" is argmax where labels exclude each other, else threshold.
    """
    model = bundle.load(folder)
    options: dict[str, Any] = {}
    for assignment in assignments:
        options |= assigned({}, f"decide.{assignment}")["decide"]
    choice = rule_of(Choice(name=rule, options=options), exclusive=model.heads["main"].space.exclusive)
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
        decision = parts.build("decide", choice.name, choice.options)
        fresh = replace(head, rule=choice.name, decision=decision, metrics=_without_figures(head))
        return replace(model, heads={"main": fresh}), {}
    data = read_for_model(model, source, columns)
    name, table = labelled_rows(data, split or ("dev" if "dev" in data.tables else None))
    table = table.take(known_rows(head.space, table, data.source))
    truth = truth_of(head.space.encode(table["labels"]).matrix(len(head.space)), model.settings)
    scores = model.scores(table["text"])
    answers = scores.logits if isinstance(scores, Scores) else scores.shortlist
    fresh, chosen = decide_on(answers, truth, model.settings, head.space)
    results = measured(scores._replace(chosen=chosen), truth).results(label_counts=head.space.counts)
    found = {"split": name, "convention": "sklearn", "metrics": results}
    return replace(model, heads={"main": replace(fresh, metrics=found)}), found


def _without_figures(head: Head) -> dict[str, Any]:
    """The old figures belong to the old decision."""
    return {"split": head.metrics.get("split"), "convention": "sklearn", "metrics": {}}

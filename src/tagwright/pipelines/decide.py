"""Another decision for a trained model: fitted on new data, or set by hand. The weights stay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from scipy.sparse import csr_array

from tagwright import registry
from tagwright.analysis.run_facts import other_facts
from tagwright.arrays import Bools, Ints
from tagwright.data.find_columns import whole
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import known_rows, labelled_rows, read_for_model
from tagwright.inference.fit_decision import decided_by, decision_named, measured, rule_of, truth_of
from tagwright.inference.model import Figures, Model, Scores, TrainedHead
from tagwright.inference.spans import given_tokens, token_scores
from tagwright.inference.tagged_tokens import flat, tags_of, truth_of_tags
from tagwright.labels.list_columns import offsets_of
from tagwright.labels.shortlist import ShortScores
from tagwright.reports.card import recarded, with_others
from tagwright.settings.merge import assigned
from tagwright.settings.schema import Choice


@dataclass(frozen=True, kw_only=True)
class Redecided:
    """The new rule of a head, and its figures where it was fitted on data; `tags` where it tags
    tokens.
    """

    rule: str
    head: str
    tags: tuple[str, ...] | None = None
    split: str | None = None
    convention: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        found = {"split": self.split, "convention": self.convention, "metrics": dict(self.metrics)}
        return {"rule": self.rule, "head": self.head, **(found if self.metrics else {})}


def redecide(
    folder: Path,
    source: str | None,
    *,
    rule: str,
    assignments: Sequence[str] = (),
    split: str | None = None,
    head: str | None = None,
    device: str = "auto",
    plugins: bool = False,
    **columns: str | None,
) -> Redecided:
    """Write the model folder anew with this rule for one head; its figures on the source come back,
    if there is one.

    "auto" is spans where the head tags tokens, argmax where labels exclude each other, else
    threshold.
    """
    model = model_folder.load(folder, device=device, plugins=plugins)
    name = model.of(head).first
    options = assigned(f"decide.{assignment}" for assignment in assignments).get("decide", {})
    old = model.heads[name]
    choice = rule_of(
        Choice(name=rule, options=options), exclusive=old.space.exclusive, tagged=old.tags_tokens
    )
    fresh, found = _decided(model, name, choice, source, split, columns)
    model = replace(model, heads={**model.heads, name: fresh})
    card = model_folder.load_card(folder)
    if name == model.first:
        said = fresh.decision.describe()
        card = recarded(card, said, found.get("metrics", {}), found.get("split"))
    else:
        others = [other_facts(one, model.heads[one]) for one in model.heads if one != model.first]
        card = with_others(card, model.first, others)
    model_folder.rewrite(model, folder, card=card)
    return Redecided(
        rule=choice.name,
        head=name,
        tags=fresh.space.names if fresh.tags_tokens else None,
        split=found.get("split"),
        convention=found.get("convention"),
        metrics=found.get("metrics", {}),
    )


def _decided(
    model: Model,
    name: str,
    choice: Choice,
    source: str | None,
    split: str | None,
    columns: Mapping[str, str | None],
) -> tuple[TrainedHead, Figures]:
    head = model.heads[name]
    if source is None:
        if fitted := decision_named(choice.name).FITTED:
            said = f"{' and '.join(fitted)} are fitted on labelled data"
            raise SettingsError(f"{said}: give it after the model, or choose another --rule")
        decision = registry.build(
            registry.DECISIONS, choice.name, choice.options, label_names=head.space.names
        )
        # the old figures belong to the old decision
        none: Figures = {
            "split": head.metrics.get("split"),
            "convention": "sklearn",
            "metrics": {},
        }
        return replace(head, rule=choice.name, decision=decision, metrics=none), {}
    data = read_for_model(model.alone(name), source, columns).alone(name)
    wanted = split or ("dev" if "dev" in data.tables else None)
    on, table = labelled_rows(data, wanted, "tags" if head.tags_tokens else "labels")
    truth, scores, offsets = (_of_tokens if head.tags_tokens else _of_texts)(
        model, name, table, data.source
    )
    answers = scores.logits if isinstance(scores, Scores) else scores.shortlist
    line = None if head.link == "none" else head.calibration  # that of an order is fitted anew
    seed = model.record.split.seed
    fresh, chosen = decided_by(
        answers,
        truth,
        head.space,
        offsets,
        rule=choice,
        link=head.link,
        line=line,
        seed=seed,
    )
    measures = measured(
        scores._replace(chosen=chosen), truth, offsets=offsets, tags=head.space.names
    )
    results = measures.results(label_counts=head.space.counts)
    found: Figures = {"split": on, "convention": "sklearn", "metrics": results}
    how = replace(
        head, rule=fresh.rule, decision=fresh.decision, calibration=fresh.calibration, metrics=found
    )
    return how, found


# what is true, what the model says, and of tokens where each text begins among them
Known = tuple[Bools | csr_array, Scores | ShortScores, Ints | None]


def _of_texts(model: Model, name: str, table: pa.Table, source: str) -> Known:
    """What is true of texts, and what the model says of them."""
    head = model.heads[name]
    table = table.take(known_rows(head.space, table, source))
    tokens = (
        given_tokens(table["tokens"])[1]
        if model.cuts_texts and "tokens" in table.column_names
        else None
    )
    truth = truth_of(head.space.encode(table["labels"]).matrix(len(head.space)), head.part)
    return truth, model.scores(table["text"], head=name, tokens=tokens), None


def _of_tokens(model: Model, name: str, table: pa.Table, source: str) -> Known:
    """The same of tokens."""
    space, offsets = model.heads[name].space, offsets_of(whole(table["tokens"]))
    truth = truth_of_tags(tags_of(table, space)[0], len(space))
    return truth, token_scores(model.alone(name), flat(table["tokens"]), offsets), offsets

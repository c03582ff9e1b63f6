"""From a trained network to a model with its decision: first by a plain rule, then by one that is
fitted on dev.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tagwright import registry
from tagwright.inference.model import Figures, Model, Scores, TrainedHead
from tagwright.labels.shortlist import ShortScores
from tagwright.labels.space import LabelSpace
from tagwright.metrics import Measures
from tagwright.models.build import described
from tagwright.models.network import Network
from tagwright.settings.inference import Record, inference_of
from tagwright.settings.schema import Settings
from tagwright.training.dev_split import Answers, HeadDev, HeadFit, Watched, score_of
from tagwright.training.history import Row
from tagwright.training.prepared import Prepared


@dataclass(frozen=True, kw_only=True)
class TrainedNetwork:
    """A trained network and what it says of dev: all that decisions are made from."""

    prepared: Prepared
    settings: Settings
    network: Network
    history: list[Row]
    watch: Watched
    devs: Mapping[str, HeadDev]
    answers: Mapping[str, Answers]
    started: float


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A trained model and what is known about its making."""

    model: Model
    settings: Settings
    history: list[Row]
    watch: Watched
    heads: Mapping[str, HeadFit]  # on dev, every text decided by thresholds fitted without it
    seconds: float

    @property
    def metric(self) -> str:
        """The name of the history's score."""
        return self.watch.metric

    @property
    def measures(self) -> Measures:
        """Those of the first head."""
        return self.heads[self.model.first].measures

    @property
    def dev(self) -> Scores | ShortScores:
        """The first head's scores."""
        return self.heads[self.model.first].scores

    def alone(self, name: str) -> "Fitted":
        """The same for one head; its course is that of all."""
        if len(self.heads) == 1:
            return self
        watch = self.watch.alone(name)
        history = [
            _course_of(row, self.heads, name) for row in self.history if score_of(name) in row
        ]
        heads, settings = {name: self.heads[name]}, self.settings.of(name)
        return replace(
            self,
            model=self.model.alone(name),
            settings=settings,
            history=history,
            watch=watch,
            heads=heads,
        )


def _course_of(row: Row, heads: Collection[str], name: str) -> Row:
    """A row of the history with the score of one head in place of the mean."""
    scores = [score_of(head) for head in heads]
    return {
        **{key: value for key, value in row.items() if key not in scores},
        "score": row[score_of(name)],
    }


def undecided(trained: TrainedNetwork) -> Model:
    """The model by a rule that needs no fitting, so that it can be saved before anything else is
    done.
    """
    prepared, settings = trained.prepared, trained.settings
    heads = {
        name: _plain_head(settings.of(name), head.space, tagged=head.tags_tokens)
        for name, head in prepared.heads.items()
    }
    return _model(trained, heads)


def decided(trained: TrainedNetwork) -> Fitted:
    """The model with its decisions fitted on dev, and what they come to there."""
    found = {name: head_fit(dev, trained.answers[name]) for name, dev in trained.devs.items()}
    return Fitted(
        model=_model(trained, {name: one.head for name, one in found.items()}),
        settings=trained.settings,
        history=trained.history,
        watch=trained.watch,
        heads=found,
        seconds=time.monotonic() - trained.started,
    )


def head_fit(dev: HeadDev, answers: Answers) -> HeadFit:
    """One head with its decision, measured on dev."""
    head, scores = dev.decided(answers)
    measures = dev.measured(scores, rows=np.arange(len(scores.chosen)))
    results: Figures = {
        "split": "dev",
        "convention": "sklearn",
        "metrics": measures.results(label_counts=dev.space.counts),
    }
    return HeadFit(
        replace(head, metrics=results, **described(dev.settings)._asdict()), measures, scores
    )


def _plain_head(settings: Settings, space: LabelSpace, *, tagged: bool) -> TrainedHead:
    of_texts = "argmax" if space.exclusive else "zero"
    rule = "spans" if tagged else of_texts
    decision = registry.build(registry.DECISIONS, rule, {}, label_names=space.names)
    return TrainedHead(
        space=space,
        link=settings.link,
        rule=rule,
        decision=decision,
        **described(settings)._asdict(),
    )


def _model(trained: TrainedNetwork, heads: dict[str, TrainedHead]) -> Model:
    settings, prepared = trained.settings, trained.prepared
    return Model(
        inference=inference_of(settings),
        tokenizer=prepared.tokenizer,
        network=trained.network,
        heads=heads,
        learned=prepared.learned,
        record=Record(given=settings.given, resolved=settings.as_dict()),
    )

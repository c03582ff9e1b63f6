"""From a trained network to a model with its decision: first by a plain rule, then by one that is fitted on dev."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tagwright import parts
from tagwright.assemble.decision import decide_on, measured
from tagwright.assemble.network import described
from tagwright.assemble.prepare import Prepared
from tagwright.assemble.tag_head import TagHead, tag_head
from tagwright.inference import Record, inference_of
from tagwright.labels.space import LabelSpace
from tagwright.metrics import Measures
from tagwright.model import Head, Model, Scores, of_texts
from tagwright.network import Network
from tagwright.settings import Settings
from tagwright.shortlist import Shortlist, ShortScores

MAIN, TAGS = "main", "tags"  # names of the heads of a run


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A trained network and what it says of dev: all that a decision is made from."""

    prepared: Prepared
    settings: Settings
    network: Network
    history: list[dict[str, Any]]
    metric: str
    answers: np.ndarray | Shortlist
    of_tags: np.ndarray | None  # what the head for tokens beside that for texts says
    truth: np.ndarray | csr_array
    offsets: np.ndarray | None  # of texts, where tokens are tagged
    started: float


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A trained model and what is known about its making."""

    model: Model
    settings: Settings
    history: list[dict[str, Any]]
    metric: str
    measures: Measures  # of dev, every text decided by thresholds fitted without it
    dev: Scores | ShortScores
    seconds: float
    tags: TagHead | None = None  # of the head for tokens, beside that for texts


def undecided(trained: Trained) -> Model:
    """The model by a rule that needs no fitting, so that it can be saved before anything else is done."""
    prepared, settings = trained.prepared, trained.settings
    heads = {MAIN: _plain_head(settings, prepared.space, tagged=prepared.tagged)}
    if prepared.tag_space is not None:
        heads[TAGS] = _plain_head(settings.of_tags(), prepared.tag_space, tagged=True)
    return _model(trained, heads)


def decided(trained: Trained) -> Fitted:
    """The model with its decision fitted on dev, and what it comes to there."""
    prepared, settings, space = trained.prepared, trained.settings, trained.prepared.space
    texts = of_texts(trained.offsets)
    head, chosen = decide_on(trained.answers, trained.truth, settings, space, **texts)
    scores = head.scores(trained.answers, **texts)._replace(chosen=chosen)
    measures = measured(scores, trained.truth, rows=np.arange(len(chosen)), tags=space.names, **texts)
    found = {"split": "dev", "convention": "sklearn", "metrics": measures.results(label_counts=space.counts)}
    heads = {MAIN: replace(head, metrics=found, **described(settings)._asdict())}
    tags = None
    if prepared.tag_space is not None and trained.of_tags is not None:
        tags = tag_head(prepared, prepared.tag_space, trained.of_tags, settings)
        heads[TAGS] = replace(tags.head, **described(settings.of_tags())._asdict())
    return Fitted(
        model=_model(trained, heads),
        settings=settings,
        history=trained.history,
        metric=trained.metric,
        measures=measures,
        dev=scores,
        seconds=time.monotonic() - trained.started,
        tags=tags,
    )


def _plain_head(settings: Settings, space: LabelSpace, *, tagged: bool) -> Head:
    rule = "spans" if tagged else "argmax" if space.exclusive else "zero"
    decision = parts.build("decide", rule, {}, label_names=space.names)
    return Head(space=space, link=settings.link, rule=rule, decision=decision, **described(settings)._asdict())


def _model(trained: Trained, heads: dict[str, Head]) -> Model:
    settings, prepared = trained.settings, trained.prepared
    return Model(
        inference=inference_of(settings),
        tokeniser=prepared.tokeniser,
        network=trained.network,
        heads=heads,
        learned=prepared.learned,
        record=Record(given=settings.given, resolved=settings.as_dict()),
    )

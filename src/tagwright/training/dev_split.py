"""Dev during and after training: what is true there for each head, what the network says, and how
good that is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from scipy.sparse import csr_array

from tagwright import metrics
from tagwright.arrays import Bools, Floats, Ints
from tagwright.batches.inputs import Inputs
from tagwright.batches.rows import Rows
from tagwright.data.dataset import of_head
from tagwright.decisions.zero import Zero
from tagwright.errors import SettingsError
from tagwright.inference.fit_decision import decide_on, measured, truth_of
from tagwright.inference.model import Scores, TrainedHead
from tagwright.inference.tagged_tokens import truth_of_tags, windows_of
from tagwright.labels.shortlist import Shortlist, ShortScores
from tagwright.labels.space import LabelSpace
from tagwright.links import log_terms
from tagwright.metrics import Measures
from tagwright.metrics.of_shortlists import GIVEN, TOP, WATCHED, require_given
from tagwright.metrics.of_tokens import metrics_of_tokens, require_measured, usual_of_tags
from tagwright.models.distributed import Ranks
from tagwright.models.evaluate import logits_of_heads, shortlist_of, token_logits_of_heads
from tagwright.models.network import Network
from tagwright.models.shortlist import shortlisted
from tagwright.settings.schema import Settings
from tagwright.training.prepared import Prepared
from tagwright.training.step_stream import Evaluation

BESIDE = ("macro_f1", "macro_f2", "entity_f1")  # shown beside the score where tokens are tagged
MEAN = "score"  # the name of a mean over metrics of several heads
Answers = Floats | Shortlist


@dataclass(frozen=True, kw_only=True)
class HeadDev:
    """One head on dev. `kept` are the rows (of texts, or of tokens) on which something is true;
    None: all.

    Of a head that tags tokens `offsets` say where each kept text begins.
    """

    name: str
    settings: Settings
    space: LabelSpace
    truth: Bools | csr_array
    kept: Ints | None = None
    offsets: Ints | None = None

    @property
    def tags_tokens(self) -> bool:
        """Whether its rows are tokens."""
        return self.offsets is not None

    def scored(self, answers: Answers) -> Answers:
        """Of the answers on all rows those of the kept."""
        if self.kept is None:
            return answers
        if isinstance(answers, Shortlist):
            log_sum = None if answers.log_sum is None else answers.log_sum[self.kept]
            return Shortlist(
                answers.ids[self.kept], answers.logits[self.kept], log_sum, answers.label_count
            )
        return answers[self.kept]

    def decided(self, answers: Answers) -> tuple[TrainedHead, Scores | ShortScores]:
        """The head with its decision fitted, and the scores of the kept rows: no text had a say in
        its own.
        """
        answers = self.scored(answers)
        head, chosen = decide_on(answers, self.truth, self.settings, self.space, self.offsets)
        return head, head.scores(answers, offsets=self.offsets)._replace(chosen=chosen)

    def measured(
        self,
        scores: Scores | ShortScores,
        *,
        rows: Ints | None = None,
        names: Iterable[str] | None = None,
    ) -> Measures:
        """Metrics of the kept rows."""
        return measured(
            scores,
            self.truth,
            offsets=self.offsets,
            tags=self.space.names,
            rows=rows,
            names=names,
        )


class HeadFit(NamedTuple):
    """A head with its decision, and what it comes to on dev."""

    head: TrainedHead
    measures: Measures
    scores: Scores | ShortScores


def devs_of(prepared: Prepared, settings: Settings, rows: Rows) -> dict[str, HeadDev]:
    """Every head on dev; `rows` are those of dev."""
    return {name: _dev_of(prepared, name, settings.of(name), rows) for name in prepared.heads}


def _dev_of(prepared: Prepared, name: str, own: Settings, rows: Rows) -> HeadDev:
    data, table = prepared.heads[name], of_head(prepared.tables["dev"], name)
    if data.tags is None:
        target, labelled = rows.heads[name].target, rows.heads[name].labelled
        kept = None if labelled is None else np.flatnonzero(labelled)
        target = target if kept is None else target[kept]
        return HeadDev(
            name=name, settings=own, space=data.space, truth=truth_of(target, own.head), kept=kept
        )
    tags, offsets, kept = data.tags["dev"], prepared.sheets["dev"].offsets, None
    if table["tags"].null_count:
        tagged = pc.is_valid(table["tags"]).to_numpy(zero_copy_only=False)
        lengths = np.diff(offsets)
        kept = np.flatnonzero(np.repeat(tagged, lengths))
        tags, offsets = tags[kept], np.concatenate([[0], np.cumsum(lengths[tagged])])
    truth = truth_of_tags(tags, len(data.space))
    return HeadDev(
        name=name, settings=own, space=data.space, truth=truth, kept=kept, offsets=offsets
    )


class DevInputs:
    """What the network is asked of dev: the texts of the heads for these, windows for those that
    tag tokens.
    """

    def __init__(
        self, prepared: Prepared, settings: Settings, inputs: Inputs, devs: Mapping[str, HeadDev]
    ) -> None:
        self.inputs, self.devs = inputs, devs
        tagging = [dev for dev in devs.values() if dev.tags_tokens]
        self.windows = inputs
        if tagging and not prepared.only_tokens:
            part, limit = tagging[0].settings.head, settings.fit.limit
            self.windows = windows_of(
                prepared.sheets["dev"], prepared.tokenizer, part, limit=limit, whole=True
            )

    def answers(
        self, network: Network, ranks: Ranks, heads: Sequence[str] | None = None
    ) -> dict[str, Answers]:
        """Logits (n, L), or shortlists, of every row of the heads; None: of all heads."""
        devs = [self.devs[name] for name in (self.devs if heads is None else heads)]
        short = [one for one in devs if shortlisted(one.settings.head, len(one.space))]
        tagging = [one.name for one in devs if one.tags_tokens]
        plain = [one.name for one in devs if not one.tags_tokens and one not in short]
        found: dict[str, Answers] = {}
        if plain:
            found |= logits_of_heads(network, self.inputs, plain, ranks=ranks)
        for one in short:
            terms = log_terms(one.settings.link, exclusive=one.space.exclusive)
            found[one.name] = shortlist_of(
                network, self.inputs, log_terms=terms, head=one.name, ranks=ranks
            )
        if tagging:
            found |= token_logits_of_heads(network, self.windows, tagging, ranks=ranks)  # type: ignore[arg-type]
        return found


class Watched:
    """What the best model is chosen by: a metric of one head, or the mean over several heads of
    each one's own.

    Where `fit.metric` names a metric, heads that do not have it have no say.
    """

    def __init__(self, prepared: Prepared, settings: Settings) -> None:
        spaces, metric = (
            {name: head.space for name, head in prepared.heads.items()},
            settings.fit.metric,
        )
        if len(spaces) > 1 and metric != "auto":
            metrics.metric(metric)
            spaces = {
                name: space
                for name, space in spaces.items()
                if _has(metric, settings.of(name), space)
            }
            if not spaces:
                raise SettingsError(f"no head is measured by {metric}; choose another fit.metric")
        self.of = {name: watched(settings.of(name), space) for name, space in spaces.items()}

    def alone(self, name: str) -> "Watched":
        """The metric of one head."""
        made = copy(self)
        made.of = {name: self.of[name]} if name in self.of else {name: MEAN}
        return made

    @property
    def metric(self) -> str:
        """The name of the score."""
        names = {*self.of.values()}
        return next(iter(names)) if len(self.of) == 1 else MEAN

    @property
    def sign(self) -> int:
        """-1 where a lower score is better."""
        if MEAN in self.of.values():
            return 1
        return 1 if metrics.metric(next(iter(self.of.values())))[1] else -1

    def __str__(self) -> str:
        if len(self.of) == 1:
            return self.metric
        *others, last = (f"{metric} of {name}" for name, metric in self.of.items())
        return f"the mean of {', '.join(others)} and {last}"


def watched(settings: Settings, space: LabelSpace) -> str:
    """The metric of a head that chooses the best model. By default it is free of thresholds, for F1
    at a fixed one stays 0 for long where labels are sparse. One that the scores do not give is
    refused."""
    short, tagged = shortlisted(settings.head, len(space)), settings.head.name == "tokens"
    usual = WATCHED if short else "lrap"
    if space.exclusive:
        usual = "accuracy"
    if tagged:
        usual = usual_of_tags(space.names)
    name = usual if settings.fit.metric == "auto" else settings.fit.metric
    metrics.metric(name)
    return require_given(name) if short else name


def _has(name: str, settings: Settings, space: LabelSpace) -> bool:
    if settings.head.name == "tokens":
        return name in metrics_of_tokens()
    if shortlisted(settings.head, len(space)) and name not in GIVEN:
        return False
    if name == "accuracy" and not space.exclusive:  # of several labels, or none, it has no value
        return False
    try:
        require_measured(name, tagged=False)
    except SettingsError:
        return False
    return True


def scorer(
    network: Network, asked: DevInputs, watch: Watched, ranks: Ranks
) -> Callable[[], Evaluation]:
    """Measures the network on dev as it is."""
    alone = len(asked.devs) == 1

    def score() -> Evaluation:
        answers = asked.answers(network, ranks, [*watch.of])
        found: list[float] = []
        beside: dict[str, float] = {}
        for name, metric in watch.of.items():
            value, others = _score(asked.devs[name], answers[name], metric)
            found.append(value)
            beside |= others if alone else {score_of(name): value}
        return Evaluation(ranks.of_first(sum(found) / len(found)), beside)

    return score


def score_of(head: str) -> str:
    """The key of one head's score in a row of the history; no head can be called so."""
    return f"{head} score"


def _score(dev: HeadDev, answers: Answers, metric: str) -> tuple[float, dict[str, float]]:
    # ranking needs no decision, and fitting thresholds at every evaluation would cost
    if metric in ("lrap", *TOP):
        plain = TrainedHead(space=dev.space, link=dev.settings.link, rule="zero", decision=Zero())
        scores = plain.scores(dev.scored(answers))
    else:
        scores = dev.decided(answers)[1]
    beside = BESIDE if dev.tags_tokens else ()
    results = dev.measured(scores, names=[metric, *beside]).results(label_counts=dev.space.counts)
    if metric not in results:
        raise SettingsError(
            f"{metric} has no value for these labels and this decision; choose another fit.metric"
        )
    return results[metric], {name: results[name] for name in beside}

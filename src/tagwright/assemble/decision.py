"""The decision of a head, fitted on dev, and what is measured of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tagwright import parts
from tagwright.decide.threshold import cross_fitted, cross_fitted_one, fit_one_threshold, fit_thresholds
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, Calibration, calibrated, probabilities, some_probabilities
from tagwright.metrics import Measures, measure
from tagwright.metrics._shortlist import measure_shortlist
from tagwright.metrics._tokens import measure_tokens
from tagwright.model import Head, Scores, of_texts
from tagwright.settings import Choice, Settings
from tagwright.shortlist import Shortlist, ShortScores, shortlisted


def rule_of(choice: Choice, *, exclusive: bool, tagged: bool = False) -> Choice:
    """The rule: for "auto" spans where tokens are `tagged`, argmax where labels exclude each other, else threshold.

    One that does not fit is refused.
    """
    if choice.name == "auto":
        choice = Choice(name="spans" if tagged else "argmax" if exclusive else "threshold", options=choice.options)
    if tagged != (choice.name == "spans"):
        raise SettingsError("spans is the decision about tokens, and the only one" + ("" if tagged else "; take auto"))
    if tagged:
        return choice
    made = parts.build("decide", choice.name, choice.options, thresholds=None)
    if exclusive and choice.name != "argmax" and getattr(made, "k", 0) != 1:
        raise SettingsError(f"{choice.name} may choose no label or several, but each text has exactly one; take argmax")
    return choice


def decide_on(
    logits: np.ndarray | Shortlist,
    truth: np.ndarray | csr_array,
    settings: Settings,
    space: LabelSpace,
    offsets: np.ndarray | None = None,
) -> tuple[Head, np.ndarray]:
    """The head with its decision fitted, and its choices there, bool (n, L): no text had a say in its own.

    Of shortlists the choices are (n, k), the truth (n, L) is sparse, and one threshold serves all labels. Of tokens,
    `offsets` say where each text begins.
    """
    rule = rule_of(settings.decide, exclusive=space.exclusive, tagged=offsets is not None)
    line = None if settings.link == "none" else calibration_of(settings)
    facts: dict[str, Any] = {"link": settings.link, "line": line, "seed": settings.split.seed}
    return decided_by(logits, truth, space, offsets, rule=rule, **facts)


def decided_by(
    logits: np.ndarray | Shortlist,
    truth: np.ndarray | csr_array,
    space: LabelSpace,
    offsets: np.ndarray | None = None,
    *,
    rule: Choice,
    link: str,
    line: Calibration | None,
    seed: int,
) -> tuple[Head, np.ndarray]:
    """The same by a rule that is known to fit; a calibration `line` of None is fitted, where not all is a shortlist.

    The folds that hold texts out are drawn by `seed`.
    """
    choice = rule
    if isinstance(logits, Shortlist):
        return _decide_shortlist(logits, truth, space, choice, link=link, line=line or IDENTITY, seed=seed)
    line = calibrated(logits, truth, exclusive=space.exclusive) if line is None else line
    if choice.name == "threshold":
        chosen, pull = cross_fitted(logits, truth, seed=seed, **choice.options)
        options = {**choice.options, **pull._asdict()}
        decision = parts.build("decide", choice.name, options, thresholds=fit_thresholds(logits, truth, **options))
    else:
        decision = parts.build("decide", choice.name, choice.options, label_names=space.names)
        values = probabilities(logits, link, exclusive=space.exclusive, calibration=line)
        chosen = decision.choose(logits, values, **of_texts(offsets))
    return Head(space=space, link=link, rule=choice.name, decision=decision, calibration=line), chosen


def _decide_shortlist(
    answers: Shortlist, truth: csr_array, space: LabelSpace, choice: Choice, *, link: str, line: Calibration, seed: int
) -> tuple[Head, np.ndarray]:
    if choice.name == "threshold":
        true, positives = answers.truth_cells(truth), np.diff(truth.indptr)
        facts = {"thresholds": fit_one_threshold(answers.logits, true, int(positives.sum()))}
        decision = parts.build("decide", choice.name, choice.options, **facts)
        chosen = cross_fitted_one(answers.logits, true, positives, seed=seed)
    else:
        decision = parts.build("decide", choice.name, choice.options)
        values = some_probabilities(answers.logits, answers.log_sum, link, line)
        chosen = decision.choose(answers.logits, values)
    return Head(space=space, link=link, rule=choice.name, decision=decision, calibration=line), chosen


def calibration_of(settings: Settings) -> Calibration:
    """That of the loss, where it is known without data: as far as the option that it names makes it unsure."""
    factory = parts.find("losses", settings.loss.name).factory
    unsure_by = getattr(factory, "unsure_by", None)
    if unsure_by is None:
        return IDENTITY
    return Calibration(gamma=float({**parts.options(factory), **settings.loss.options}[unsure_by]))


def truth_of(target: csr_array, head: Choice) -> np.ndarray | csr_array:
    """What is true (n, L), bool: dense as logits are, or sparse where they are shortlists."""
    true = csr_array(target > 0.5)
    return true if shortlisted(head, target.shape[1]) else true.toarray()


def untuned(head: Head, scores: Scores | ShortScores) -> np.ndarray | None:
    """Choices bool (n, L) with nothing fitted, logits above 0; None where nothing was fitted, or 0 has no meaning."""
    if head.rule != "threshold" or head.link not in ("sigmoid", "sigmoid2", "threshold_class"):
        return None
    return scores.logits > 0 if isinstance(scores, Scores) else None


def measured(
    scores: Scores | ShortScores,
    truth: np.ndarray | csr_array,
    *,
    offsets: np.ndarray | None = None,
    tags: Sequence[str] = (),
    **options: Any,
) -> Measures:
    """Every metric that the scores allow; `rows` and `names` as for `measure`.

    Of tokens, `offsets` say where each text begins, and `tags` how the labels are called.
    """
    if offsets is not None and isinstance(scores, Scores):
        return measure_tokens(scores.probabilities, truth, scores.chosen, offsets=offsets, tags=tags, **options)
    if isinstance(scores, ShortScores):
        return measure_shortlist(scores.shortlist, truth, scores.matrix(truth.shape[1]), **options)
    return measure(scores.probabilities, truth, scores.chosen, **options)

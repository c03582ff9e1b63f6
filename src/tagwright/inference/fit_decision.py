"""The decision of a head, fitted on dev, and what is measured of it."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array

from tagwright import registry
from tagwright.arrays import Bools, Floats, Ints
from tagwright.decisions import Decision, HeldOut
from tagwright.errors import SettingsError
from tagwright.inference.model import Scores, TrainedHead
from tagwright.labels.shortlist import Shortlist, ShortScores
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, Calibration, calibrated, probabilities, some_probabilities
from tagwright.metrics import Measures, measure
from tagwright.metrics.of_shortlists import measure_shortlist
from tagwright.metrics.of_tokens import measure_tokens
from tagwright.models.shortlist import shortlisted
from tagwright.settings.schema import Choice, Settings


def rule_of(choice: Choice, *, exclusive: bool, tagged: bool = False) -> Choice:
    """The rule: for "auto" spans where tokens are `tagged`, argmax where labels exclude each other,
    else threshold.

    One that does not fit is refused.
    """
    if choice.name == "auto":
        usual = "argmax" if exclusive else "threshold"
        choice = Choice(name="spans" if tagged else usual, options=choice.options)
    rule, faults = (
        decision_named(choice.name),
        registry.check(registry.DECISIONS, choice.name, choice.options),
    )
    if faults:
        raise SettingsError("; ".join(faults))
    if tagged != rule.about_tokens:
        raise SettingsError(_about_tokens() + ("" if tagged else "; take auto"))
    options = registry.options(rule) | {**choice.options}
    rule.check(**options)
    if exclusive and not rule.exactly_one(**options):
        raise SettingsError(
            f"{choice.name} may choose no label or several, but each text has exactly one; take"
            " argmax"
        )
    return choice


def decide_on(
    logits: Floats | Shortlist,
    truth: Bools | csr_array,
    settings: Settings,
    space: LabelSpace,
    offsets: Ints | None = None,
) -> tuple[TrainedHead, Bools]:
    """The head with its decision fitted, and its choices there, bool (n, L): no text had a say in
    its own.

    Of shortlists the choices are (n, k), the truth (n, L) is sparse, and one threshold serves all
    labels. Of tokens, `offsets` say where each text begins.
    """
    rule = rule_of(settings.decide, exclusive=space.exclusive, tagged=offsets is not None)
    line = None if settings.link == "none" else calibration_of(settings)
    return decided_by(
        logits,
        truth,
        space,
        offsets,
        rule=rule,
        link=settings.link,
        line=line,
        seed=settings.split.seed,
    )


def decided_by(
    logits: Floats | Shortlist,
    truth: Bools | csr_array,
    space: LabelSpace,
    offsets: Ints | None = None,
    *,
    rule: Choice,
    link: str,
    line: Calibration | None,
    seed: int,
) -> tuple[TrainedHead, Bools]:
    """The same by a rule that is known to fit; a calibration `line` of None is fitted, where not
    all is a shortlist.

    The folds that hold texts out are drawn by `seed`.
    """
    choice = rule
    if isinstance(logits, Shortlist):
        return _decide_shortlist(
            logits, truth, space, choice, link=link, line=line or IDENTITY, seed=seed
        )
    line = calibrated(logits, truth, exclusive=space.exclusive) if line is None else line
    held_out = HeldOut(
        logits=logits,
        truth=truth,
        likely=lambda: probabilities(logits, link, exclusive=space.exclusive, calibration=line),
        label_names=space.names,
        seed=seed,
        offsets=offsets,
    )
    decision, chosen = decision_named(choice.name).fit(held_out, **choice.options)
    return (
        TrainedHead(space=space, link=link, rule=choice.name, decision=decision, calibration=line),
        chosen,
    )


def _decide_shortlist(
    answers: Shortlist,
    truth: csr_array,
    space: LabelSpace,
    choice: Choice,
    *,
    link: str,
    line: Calibration,
    seed: int,
) -> tuple[TrainedHead, Bools]:
    held_out = HeldOut(
        logits=answers.logits,
        truth=answers.truth_cells(truth),
        likely=lambda: some_probabilities(answers.logits, answers.log_sum, link, line),
        label_names=space.names,
        seed=seed,
        positives=np.diff(truth.indptr),
    )
    decision, chosen = decision_named(choice.name).fit(held_out, **choice.options)
    return (
        TrainedHead(space=space, link=link, rule=choice.name, decision=decision, calibration=line),
        chosen,
    )


def decision_named(rule: str) -> type[Decision]:
    """The class of a decision."""
    return registry.find(registry.DECISIONS, rule).factory


def _about_tokens() -> str:
    names = [one.name for one in registry.usable(registry.DECISIONS) if one.factory.about_tokens]
    if len(names) == 1:
        return f"{names[0]} is the decision about tokens, and the only one"
    return f"{' and '.join(names)} are the decisions about tokens"


def calibration_of(settings: Settings) -> Calibration:
    """That of the loss, where it is known without data: as far as the option that it names makes it
    unsure.
    """
    factory = registry.find(registry.LOSSES, settings.loss.name).factory
    unsure_by = factory.unsure_by
    if unsure_by is None:
        return IDENTITY
    return Calibration(
        gamma=float({**registry.options(factory), **settings.loss.options}[unsure_by])
    )


def truth_of(target: csr_array, head: Choice) -> Bools | csr_array:
    """What is true (n, L), bool: dense as logits are, or sparse where they are shortlists."""
    true = csr_array(target > 0.5)
    return true if shortlisted(head, target.shape[1]) else true.toarray()


def untuned(head: TrainedHead, scores: Scores | ShortScores) -> Bools | None:
    """Choices bool (n, L) with nothing fitted, logits above 0; None where nothing was fitted, or 0
    has no meaning.
    """
    if not head.decision.FITTED or head.link not in ("sigmoid", "sigmoid2", "threshold_class"):
        return None
    return scores.logits > 0 if isinstance(scores, Scores) else None


def measured(
    scores: Scores | ShortScores,
    truth: Bools | csr_array,
    *,
    offsets: Ints | None = None,
    tags: Sequence[str] = (),
    rows: Ints | None = None,
    names: Iterable[str] | None = None,
) -> Measures:
    """Every metric that the scores allow; `rows` and `names` as for `measure`.

    Of tokens, `offsets` say where each text begins, and `tags` how the labels are called.
    """
    if offsets is not None and isinstance(scores, Scores):
        return measure_tokens(
            scores.probabilities,
            truth,
            scores.chosen,
            offsets=offsets,
            tags=tags,
            rows=rows,
            names=names,
        )
    if isinstance(scores, ShortScores):
        chosen = scores.matrix(truth.shape[1])
        return measure_shortlist(scores.shortlist, truth, chosen, rows=rows, names=names)
    return measure(scores.probabilities, truth, scores.chosen, rows=rows, names=names)

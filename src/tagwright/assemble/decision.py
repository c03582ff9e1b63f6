"""The decision of a head, fitted on dev."""

import numpy as np

from tagwright import parts
from tagwright.assemble.network import link_of
from tagwright.decide.threshold import cross_fitted, fit_thresholds
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.links import IDENTITY, calibrated, probabilities
from tagwright.model import Head
from tagwright.settings import Choice, Settings


def rule_of(choice: Choice, *, exclusive: bool) -> Choice:
    """The rule: for "auto" argmax where labels exclude each other, else threshold. One that does not fit is refused."""
    if choice.name == "auto":
        choice = Choice(name="argmax" if exclusive else "threshold", options=choice.options)
    made = parts.build("decide", choice.name, choice.options, thresholds=None)
    if exclusive and choice.name != "argmax" and getattr(made, "k", 0) != 1:
        raise SettingsError(f"{choice.name} may choose no label or several, but each text has exactly one; take argmax")
    return choice


def decide_on(logits: np.ndarray, truth: np.ndarray, settings: Settings, space: LabelSpace) -> tuple[Head, np.ndarray]:
    """The head with its decision fitted, and its choices there, bool (n, L): no text had a say in its own."""
    link, choice = link_of(settings), rule_of(settings.decide, exclusive=space.exclusive)
    line = calibrated(logits, truth, exclusive=space.exclusive) if link == "none" else IDENTITY
    if choice.name == "threshold":
        facts = {"thresholds": fit_thresholds(logits, truth, **choice.options)}
        decision = parts.build("decide", choice.name, choice.options, **facts)
        chosen = cross_fitted(logits, truth, seed=settings.split.seed, **choice.options)
    else:
        decision = parts.build("decide", choice.name, choice.options)
        chosen = decision.choose(logits, probabilities(logits, link, exclusive=space.exclusive, calibration=line))
    return Head(space=space, link=link, rule=choice.name, decision=decision, calibration=line), chosen

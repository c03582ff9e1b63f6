"""LS-Distill: soft labels are the probabilities of a trained model of the same kind (Liu 2022,
section 5.2).

Of several teachers it is their mean: what an ensemble knows, in one model.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from tagwright.arrays import Floats
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.links import probabilities

ROWS = 4096  # that become probabilities at once


class TeacherScores(NamedTuple):
    """What a teacher says of n texts: logits (n, L), in the order of the label space, and their
    link.
    """

    logits: Floats
    link: str


# the teacher in this model folder; where it is "", one that is trained for the purpose
Teacher: TypeAlias = Callable[[str], TeacherScores]


def nobody(model: str) -> TeacherScores:
    """The teacher where there is none."""
    raise SettingsError(
        "targets distil are the scores of a teacher, which only `fit` and `compare` train or load"
    )


def distil(
    space: LabelSpace, teacher: Teacher, *, model: str = "", temperature: float = 1.0
) -> Floats:
    """Soft labels (n, L), float32: the teacher's probabilities of its logits divided by
    `temperature`.

    Where a text has exactly one label a row sums to 1; else each label is a sigmoid, by the
    teacher's link. A temperature above 1 makes them softer. `model` is a teacher's folder, or
    several with commas between them; without one a teacher is trained first.
    """
    if not 0 < temperature < float("inf"):
        raise SettingsError(f"targets.temperature must be above 0 and finite, got {temperature}")
    first, *others = folders_in(model)
    soft = _soft(space, teacher(first), temperature)
    for folder in others:
        soft += _soft(space, teacher(folder), temperature)
    soft /= 1 + len(others)
    return soft


def _soft(space: LabelSpace, said: TeacherScores, temperature: float) -> Floats:
    soft = np.empty(said.logits.shape, np.float32)
    for start in range(0, len(soft), ROWS):
        part = slice(start, start + ROWS)
        logits = said.logits[part].astype(np.float64) / temperature
        soft[part] = probabilities(logits, said.link, exclusive=space.exclusive)
    return soft


def folders_in(model: str) -> list[str]:
    """The teachers that a setting names; one without a name is one that is trained.

    >>> folders_in("one, two"), folders_in("")
    (['one', 'two'], [''])
    """
    folders = [folder.strip() for folder in model.split(",")]
    if len(folders) > 1 and "" in folders:
        raise SettingsError(f"targets.model names folders with commas between them, got {model!r}")
    return folders


PART = distil

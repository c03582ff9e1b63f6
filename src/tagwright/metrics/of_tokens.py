"""The families' states from tagged tokens, every token a row, and with them entities and tokens
without O.

Each token has one tag, so the order of its tags tells little more than its first place, which is
the accuracy: the family `ranking` is measured only where one of its metrics is asked for.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from tagwright.arrays import Bools, Floats, Ints
from tagwright.errors import SettingsError, ShapeError
from tagwright.labels.tags import require_offsets, scheme_of
from tagwright.metrics import OF_TAGS, Measures, States, families, measure, metric
from tagwright.metrics._chunk import check
from tagwright.metrics._entities import Entities
from tagwright.metrics._without_o import WithoutO


def measure_tokens(
    probabilities: Floats,
    truth: Bools,
    chosen: Bools,
    *,
    offsets: Ints,
    tags: Sequence[str],
    rows: Ints | None = None,
    names: Iterable[str] | None = None,
) -> Measures:
    """Measure the tokens of whole texts: probabilities (N, L) float, truth and chosen (N, L) bool,
    one tag a token.

    Text i has tokens offsets[i] to offsets[i + 1], (n + 1,); `tags` (L,) are their names. A token
    without a true tag has one that nobody knows. `rows` (N,) is what examples of confused pairs
    call the tokens; `names` limits the work to the families of these metrics.
    """
    check(probabilities, truth, chosen)
    require_offsets(offsets, len(truth))
    if len(tags) != truth.shape[1]:
        raise ShapeError(
            f"tags must hold a name for each of the {truth.shape[1]} columns, got {len(tags)}"
        )
    asked = list(metrics_of_tokens() if names is None else names)
    plain = [name for name in asked if not _of_tags(name)]
    states = States()
    if plain:
        states |= measure(probabilities, truth, chosen, rows=rows, names=plain).states
    if not Entities.METRICS.keys().isdisjoint(asked):
        ids = tag_ids(truth), tag_ids(chosen)
        states["entities"] = Entities.of(*ids, offsets=np.asarray(offsets), names=tags)
    if not WithoutO.METRICS.keys().isdisjoint(asked):
        states["without_o"] = WithoutO.of(probabilities, truth, chosen, names=tags)
    return Measures(label_count=truth.shape[1], states=states)


def usual_of_tags(tags: Sequence[str]) -> str:
    """What the best model is chosen by: whole spans, or tokens where no tag says what begins where.

    >>> usual_of_tags(["O", "B-PER", "I-PER"]), usual_of_tags(["NOUN", "VERB"])
    ('entity_f1', 'macro_f1')
    """
    return "macro_f1" if scheme_of(tags).kind == "plain" else "entity_f1"


def require_measured(name: str, *, tagged: bool) -> str:
    """The name of a metric that tokens with tags have, or texts with labels; another is an
    error.
    """
    metric(name)
    if tagged and name not in metrics_of_tokens():
        raise SettingsError(
            f"{name} is not measured where tokens are tagged; take one such as entity_f1 or"
            " macro_f1"
        )
    if not tagged and _of_tags(name):
        raise SettingsError(
            f"{name} is a metric of tagged tokens; for labels of texts take one such as micro_f1"
        )
    return name


def tag_ids(cells: Bools) -> Ints:
    """One tag a token, bool (N, L) -> ids (N,), -1 for none; several are an error."""
    count = np.count_nonzero(cells, axis=1)
    if (count > 1).any():
        token = int(np.argmax(count > 1))
        raise ShapeError(
            f"a token has one tag, but token {token} has {count[token]}; decide by spans or argmax"
        )
    return np.where(count == 1, cells.argmax(axis=1), -1)


def _of_tags(name: str) -> bool:
    metric(name)  # an unknown one is an error
    return any(name in family.METRICS for family in OF_TAGS.values())


def metrics_of_tokens() -> tuple[str, ...]:
    """What is measured of tagged tokens."""
    every = {**families(), **OF_TAGS}
    return tuple(
        name for stem, family in every.items() if stem != "ranking" for name in family.METRICS
    )

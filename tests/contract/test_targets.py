"""What every target keeps, whichever package it came from."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright import registry
from tagwright.labels.space import LabelSpace
from tagwright.targets.distil import TeacherScores
from tagwright.tokenizers.tokens import Tokens

LABELS = [["a"], ["b", "c"], ["a", "c"], ["c"], ["b"], ["a", "b"]]
WORDS = [[2, 3, 4], [5, 6], [2, 6, 6, 7], [7], [5, 3], [2, 5]]

pytestmark = pytest.mark.parametrize("name", registry.names("targets"))


def made(name: str, order: list[int], *, exclusive: bool = False) -> np.ndarray:
    labels = [LABELS[row][:1] if exclusive else LABELS[row] for row in order]
    table = pa.table({"labels": pa.array(labels, pa.list_(pa.string()))})
    offsets = np.cumsum([0, *(len(WORDS[row]) for row in order)])
    tokens = Tokens(np.array([word for row in order for word in WORDS[row]], np.int32), offsets)
    logits = np.random.default_rng(0).normal(size=(6, 3))[order]
    found = registry.build(
        "targets",
        name,
        {},
        table=table,
        space=LabelSpace.of(table["labels"], exclusive=exclusive),
        tokens=tokens,
        teacher=lambda model: TeacherScores(logits, "sigmoid"),
    )
    return found if isinstance(found, np.ndarray) else found.toarray()


@pytest.mark.parametrize("exclusive", [False, True])
def test_a_row_of_shares_for_every_text(name: str, exclusive: bool):
    found = made(name, [0, 1, 2, 3, 4, 5], exclusive=exclusive)
    assert (found.dtype, found.shape) == (np.float32, (6, 3))
    assert ((found >= 0) & (found <= 1)).all()
    if exclusive:
        np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)


def test_the_order_of_texts_changes_nothing(name: str):
    order = [3, 0, 5, 1, 4, 2]
    np.testing.assert_array_equal(made(name, order), made(name, [0, 1, 2, 3, 4, 5])[order])

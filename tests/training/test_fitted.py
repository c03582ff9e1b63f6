"""A trained network becomes a model: by a plain rule at once, then by one that is fitted on dev."""

import numpy as np
import pytest

from tagwright.data import read_data
from tagwright.settings.schema import resolve
from tagwright.training.fitted import decided, undecided
from tagwright.training.prepare import prepare
from tagwright.training.train import train


@pytest.mark.parametrize(
    ("data", "task", "plain", "fitted"),
    [("source", "many", "zero", "threshold"), ("single_source", "one", "argmax", "argmax")],
)
def test_before_it_is_decided_a_model_has_a_plain_rule_and_the_same_scores(
    request, tiny, data, task, plain, fitted
):
    given = tiny(fit={"epochs": 1})
    settings = resolve(given, task)
    trained = train(prepare(read_data(request.getfixturevalue(data)), settings), settings)
    first, last = undecided(trained), decided(trained).model
    assert (first.primary.rule, last.primary.rule) == (plain, fitted)
    assert first.primary.metrics == {}
    assert set(last.primary.metrics) == {"split", "convention", "metrics"}
    texts = ["paris hammer", "plum", ""]
    assert np.array_equal(first.scores(texts).logits, last.scores(texts).logits)
    assert first.record == last.record
    assert last.record.given == {**given, "encoder": {"name": "cnn", **given["encoder"]}}

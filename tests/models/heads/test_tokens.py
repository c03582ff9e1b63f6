"""The token head: every position by itself, from the states alone."""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.models.heads.tokens import TokenTags
from tagwright.models.hidden import Hidden


def head(**given):
    facts = {
        "width": 3,
        "label_count": 4,
        "whole_texts": False,
        "bias": torch.arange(4.0),
        "extra_logits": 0,
    }
    return TokenTags(**{**facts, **given})


def test_logits_are_a_linear_map_of_each_state():
    made, states = head(), torch.randn(2, 5, 3)
    found = made(Hidden(states, torch.full((2, 3), torch.nan)))
    assert found.shape == (2, 5, 4)
    for row in range(2):
        for place in range(5):
            expected = [
                sum(made.linear.weight[tag, k] * states[row, place, k] for k in range(3))
                + made.linear.bias[tag]
                for tag in range(4)
            ]
            torch.testing.assert_close(found[row, place], torch.stack(expected))


def test_tags_start_at_the_given_bias():
    made = head()
    assert made.linear.bias.tolist() == [0, 1, 2, 3]
    assert made.linear.bias.requires_grad
    assert made(Hidden(torch.zeros(1, 2, 3), torch.zeros(1, 3)))[0, 1].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"whole_texts": True}, "knows texts only as a whole; to tag tokens take bat"),
        ({"extra_logits": 1}, "threshold class"),
        ({"overlap": -1}, "head.overlap must be at least 0, got -1"),
    ],
)
def test_what_cannot_tag_is_refused(given, message):
    with pytest.raises(SettingsError, match=message):
        head(**given)

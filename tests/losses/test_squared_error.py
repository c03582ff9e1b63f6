"""squared_error: nothing to pay where the probability is the target."""

import pytest
import torch

from tagwright.losses import squared_error


@pytest.mark.parametrize(
    ("link", "chances"), [("softmax", torch.softmax), ("sigmoid", lambda s, _: torch.sigmoid(s))]
)
def test_target_that_is_the_probability_costs_nothing(link: str, chances):
    logits = torch.tensor([[1.0, -2.0, 0.5]]).double()
    assert squared_error(logits, chances(logits, -1), link=link).item() == pytest.approx(
        0, abs=1e-20
    )


def test_masked_label_stays_in_the_divisor():
    logits, target = torch.zeros(1, 2), torch.tensor([[1.0, 0.0]])
    mask = torch.tensor([[True, False]])
    assert squared_error(logits, target, link="sigmoid", mask=mask).tolist() == [0.125]

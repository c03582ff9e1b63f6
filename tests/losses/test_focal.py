"""focal: what its fused form on a CPU could lose."""

import pytest
import torch

from tagwright.losses import focal


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("scale", [1.0, 12.0, 60.0, 1e4])
def test_float32_keeps_its_digits_at_large_mistakes(gamma: float, scale: float):
    generator = torch.Generator().manual_seed(0)
    logits = scale * torch.randn(4, 33, generator=generator)
    target = (torch.rand(4, 33, generator=generator) < 0.3).float()
    exact, coarse = logits.double().requires_grad_(), logits.clone().requires_grad_()
    expected, found = focal(exact, target.double(), gamma=gamma), focal(coarse, target, gamma=gamma)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    expected.sum().backward()
    found.sum().backward()
    torch.testing.assert_close(coarse.grad.double(), exact.grad, rtol=1e-5, atol=1e-5)


def test_gradient_is_that_of_the_form_without_it():
    """Without a gradient to make, the plain form is taken: both must agree."""
    logits = torch.linspace(-9, 9, 41, dtype=torch.float64)[None]
    for gold in (0.0, 1.0):
        target = torch.full_like(logits, gold)
        torch.testing.assert_close(
            focal(logits.clone().requires_grad_(), target).detach(),
            focal(logits, target),
            rtol=1e-12,
            atol=1e-12,
        )

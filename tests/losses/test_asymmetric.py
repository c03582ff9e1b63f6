"""asymmetric: what is easy costs nothing."""

import torch

from tagwright.losses import asymmetric, bce


def test_negative_below_the_clip_has_no_cost_and_no_gradient():
    logits = torch.tensor([[-4.0]], requires_grad=True)  # p = 0.018
    value = asymmetric(logits, torch.zeros(1, 1), clip=0.05)
    value.sum().backward()
    assert (value.item(), logits.grad.item()) == (0, 0)


def test_without_its_settings_it_is_bce():
    logits, target = (
        torch.linspace(-50, 50, 21)[None].double(),
        (torch.arange(21) % 2)[None].double(),
    )
    found = asymmetric(logits, target, gamma_positive=0, gamma_negative=0, clip=0)
    torch.testing.assert_close(found, bce(logits, target), rtol=1e-12, atol=1e-12)

"""What every mask keeps, whichever package it came from."""

import pytest
import torch
from torch import Tensor

from tagwright import registry
from tagwright.masks import Mask

NAMES = registry.names("masks")
LABELS = ("a/x", "a/y", "b/x", "b/y", "b/z")
TARGET = (torch.rand(9, 5, generator=torch.Generator().manual_seed(0)) < 0.4).float()
EXCUSED = torch.rand(9, 5, generator=torch.Generator().manual_seed(1)) < 0.5

pytestmark = pytest.mark.parametrize("name", NAMES)


def drawn(name: str, *, seed: int = 2, rows: slice = slice(None), **facts: Tensor) -> Tensor:
    mask: Mask = registry.build("masks", name, {}, label_names=LABELS)
    facts |= {"excused": EXCUSED[rows]} if mask.by_words else {}
    return mask(TARGET[rows], torch.Generator().manual_seed(seed), **facts)


def test_it_is_a_mask_that_says_how_it_draws(name: str):
    mask = registry.build("masks", name, {}, label_names=LABELS)
    assert isinstance(mask, Mask)
    assert mask.draw in ("step", "example")
    assert all(isinstance(sentence, str) for sentence in mask.said)


def test_a_gold_label_always_takes_part(name: str):
    for seed in range(20):
        found = drawn(name, seed=seed)
        assert (found.dtype, found.shape) == (torch.bool, TARGET.shape)
        assert found[TARGET > 0].all()


def test_the_generator_decides(name: str):
    assert torch.equal(drawn(name), drawn(name))


def test_the_steps_own_draw_takes_the_place_of_another(name: str):
    if registry.build("masks", name, {}, label_names=LABELS).draw == "step":
        for value in (0.0, 0.999):
            one, other = (drawn(name, seed=seed, of_step=torch.tensor(value)) for seed in (2, 3))
            assert torch.equal(one, other)
            parted = [
                drawn(name, rows=slice(k, k + 3), of_step=torch.tensor(value)) for k in (0, 3, 6)
            ]
            assert torch.equal(torch.cat(parted), one)

"""Every encoder that takes tokens keeps the same promises."""

import importlib
import inspect
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import tagwright.encoders

SIZES = (29, 11)
TEXTS = [13, 1, 0, 4, 2, 7]  # lengths


def token_encoders() -> list[type[nn.Module]]:
    """The modules of the folder whose first argument is `sizes`, the ids of each channel."""
    found = []
    for path in sorted(Path(tagwright.encoders.__file__).parent.glob("[!_]*.py")):
        module = importlib.import_module(f"tagwright.encoders.{path.stem}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            own = kind.__module__ == module.__name__ and issubclass(kind, nn.Module)
            if own and "sizes" in inspect.signature(kind).parameters:
                found.append(kind)
    return found


def batch_of(channels: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.tensor(TEXTS)
    ids = torch.stack([torch.randint(1, size, (6, 13), generator=generator) for size in SIZES[:channels]], -1)
    ids[torch.arange(13) >= lengths[:, None]] = 0
    return (ids if channels > 1 else ids[..., 0]), lengths


pytestmark = [
    pytest.mark.parametrize("channels", [1, 2]),
    pytest.mark.parametrize("kind", token_encoders(), ids=lambda kind: kind.__name__),
]


def model_of(kind: type[nn.Module], channels: int) -> nn.Module:
    torch.manual_seed(5)
    return kind(SIZES[:channels], width=8).double().eval()


def test_text_gives_the_same_numbers_alone_padded_and_in_any_batch(kind: type[nn.Module], channels: int) -> None:
    model = model_of(kind, channels)
    ids, lengths = batch_of(channels)
    whole = model(ids, lengths)
    for row, length in enumerate(TEXTS):
        alone = model(ids[row : row + 1, : max(length, 1)], lengths[row : row + 1])
        wide = torch.cat([ids[row : row + 1], torch.zeros_like(ids[:1]).repeat_interleave(3, 1)], 1)
        for other in (alone, model(wide, lengths[row : row + 1])):
            torch.testing.assert_close(other.pooled[0], whole.pooled[row], rtol=1e-10, atol=1e-12)
            if whole.states is not None:
                torch.testing.assert_close(other.states[0, :length], whole.states[row, :length], rtol=1e-10, atol=1e-12)


def test_order_of_the_batch_changes_nothing(kind: type[nn.Module], channels: int) -> None:
    model = model_of(kind, channels)
    ids, lengths = batch_of(channels)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    expected = model(ids, lengths).pooled[order]
    torch.testing.assert_close(model(ids[order], lengths[order]).pooled, expected, rtol=1e-10, atol=1e-12)


def test_seed_decides_weights_and_dropout(kind: type[nn.Module], channels: int) -> None:
    first, second = (model_of(kind, channels).train() for _ in range(2))
    results = []
    for model in (first, second):
        torch.manual_seed(7)
        results.append(model(*batch_of(channels)).pooled)
    assert torch.equal(*results)


def test_gradient_reaches_every_parameter(kind: type[nn.Module], channels: int) -> None:
    model = model_of(kind, channels)
    model(*batch_of(channels)).pooled.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())


def test_pooled_has_the_width_it_says(kind: type[nn.Module], channels: int) -> None:
    model = model_of(kind, channels)
    hidden = model(*batch_of(channels))
    assert hidden.pooled.shape == (6, model.width_out)
    assert hidden.states is None or hidden.states.shape[:2] == (6, 13)

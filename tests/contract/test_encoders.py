"""Every encoder that takes tokens keeps the same promises."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tagwright import registry
from tagwright.models.encoders import Encoder
from tagwright.settings.schema import resolve
from tagwright.tokenizers.tokens import Tokens

SIZES = (29, 11)
TEXTS = [13, 1, 0, 4, 2, 7]  # lengths


def token_encoders() -> dict[str, type[Encoder]]:
    """Those that are told `sizes`, the ids of each channel."""
    return {
        part.name: part.factory
        for part in registry.usable("encoders")
        if "sizes" in registry.asked(part.factory)
    }


def batch_of(channels: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.tensor(TEXTS)
    ids = torch.stack(
        [torch.randint(1, size, (6, 13), generator=generator) for size in SIZES[:channels]], -1
    )
    ids[torch.arange(13) >= lengths[:, None]] = 0
    return (ids if channels > 1 else ids[..., 0]), lengths


pytestmark = [
    pytest.mark.parametrize("channels", [1, 2]),
    pytest.mark.parametrize("kind", token_encoders().values(), ids=token_encoders()),
]


def model_of(kind: type[Encoder], channels: int) -> Encoder:
    torch.manual_seed(5)
    return kind(SIZES[:channels], width=8).double().eval()


def test_text_gives_the_same_numbers_alone_padded_and_in_any_batch(
    kind: type[Encoder], channels: int
) -> None:
    model = model_of(kind, channels)
    ids, lengths = batch_of(channels)
    whole = model(ids, lengths)
    for row, length in enumerate(TEXTS):
        alone = model(ids[row : row + 1, : max(length, 1)], lengths[row : row + 1])
        wide = torch.cat([ids[row : row + 1], torch.zeros_like(ids[:1]).repeat_interleave(3, 1)], 1)
        for other in (alone, model(wide, lengths[row : row + 1])):
            torch.testing.assert_close(other.pooled[0], whole.pooled[row], rtol=1e-10, atol=1e-12)
            if whole.states is not None:
                torch.testing.assert_close(
                    other.states[0, :length], whole.states[row, :length], rtol=1e-10, atol=1e-12
                )


def test_order_of_the_batch_changes_nothing(kind: type[Encoder], channels: int) -> None:
    model = model_of(kind, channels)
    ids, lengths = batch_of(channels)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    expected = model(ids, lengths).pooled[order]
    torch.testing.assert_close(
        model(ids[order], lengths[order]).pooled, expected, rtol=1e-10, atol=1e-12
    )


def test_seed_decides_weights_and_dropout(kind: type[Encoder], channels: int) -> None:
    first, second = (model_of(kind, channels).train() for _ in range(2))
    results = []
    for model in (first, second):
        torch.manual_seed(7)
        results.append(model(*batch_of(channels)).pooled)
    assert torch.equal(*results)


def test_gradient_reaches_every_parameter(kind: type[Encoder], channels: int) -> None:
    model = model_of(kind, channels)
    model(*batch_of(channels)).pooled.square().sum().backward()
    assert all(
        parameter.grad is not None and parameter.grad.abs().sum() > 0
        for parameter in model.parameters()
    )


def test_pooled_has_the_width_it_says(kind: type[Encoder], channels: int) -> None:
    model = model_of(kind, channels)
    hidden = model(*batch_of(channels))
    assert hidden.pooled.shape == (6, model.width_out)
    assert hidden.states is None or hidden.states.shape[:2] == (6, 13)


def test_what_it_declares_is_what_it_gives(kind: type[Encoder], channels: int) -> None:
    model = model_of(kind, channels)
    assert (model(*batch_of(channels)).states is None) == kind.whole_texts
    assert {model.sparse, model.reads_slots} == {False}
    lengths = np.array(TEXTS)
    tokens = Tokens(
        np.ones((lengths.sum(), channels), np.int32), np.concatenate([[0], np.cumsum(lengths)])
    )
    inputs = model.inputs_of(tokens, limit=4)
    assert inputs.lengths.tolist() == np.minimum(lengths, 4).tolist()
    assert resolve(
        {"encoder": next(n for n, own in token_encoders().items() if own is kind)}
    ).encoder.options
    model.finish()

import math

import numpy as np
import pytest
import torch

from tagwright.models.encoders.bat import BAT, BATLayer

TEXTS = [[3, 4, 5, 6, 7, 3, 4], [9], [], [22, 1, 8]]
IDS = torch.tensor([text + [0] * (7 - len(text)) for text in TEXTS])
LENGTHS = torch.tensor([len(text) for text in TEXTS])
HIDDEN, HEADS, FEED = 6, 2, 5


def model_of(norm: str = "post", layers: int = 2) -> BAT:
    torch.manual_seed(0)
    model = (
        BAT((23,), width=4, hidden=HIDDEN, heads=HEADS, layers=layers, feed=FEED, norm=norm)
        .double()
        .eval()
    )
    for weight in model.shell.layers.parameters():
        weight.data += 0.2 * torch.randn_like(weight)
    return model


def normalized(vector: np.ndarray, norm: torch.nn.LayerNorm) -> np.ndarray:
    centered = vector - vector.mean()
    scaled = centered / math.sqrt((centered**2).mean() + 1e-5)
    return scaled * norm.weight.detach().numpy() + norm.bias.detach().numpy()


def attended(query: np.ndarray, keys: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    """Softmax attention of one token, head by head."""
    size, result = HIDDEN // HEADS, np.zeros(HIDDEN)
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        weights = [math.exp(query[part] @ key[part] / math.sqrt(size)) for key in keys]
        for weight, value in zip(weights, values):
            result[part] += weight / sum(weights) * value[part]
    return result


def attention_tournament(layer: BATLayer, tokens: list[np.ndarray]) -> list[np.ndarray]:
    """Eq. 4 without its norm, a token at a time."""
    part = layer.attention
    weights = np.split(part.into.detach().numpy(), 7)
    query, key, value, own, here, before, after = weights
    biases = np.split(part.bias.detach().numpy(), 5)
    out, out_bias = part.out.weight.detach().numpy(), part.out.bias.detach().numpy()
    keys, values = ([w @ x + b for x in tokens] for w, b in ((key, biases[1]), (value, biases[2])))
    results = []
    for place, token in enumerate(tokens):
        mixed = out @ attended(query @ token + biases[0], keys, values) + out_bias
        near = here @ token + biases[4]
        if place > 0:
            near = near + before @ tokens[place - 1]
        if place + 1 < len(tokens):
            near = near + after @ tokens[place + 1]
        results.append(mixed + np.maximum(own @ token + biases[3], 0) + np.maximum(near, 0))
    return results


def feed_tournament(layer: BATLayer, token: np.ndarray) -> np.ndarray:
    """The feed-forward network and the weighted residual of one token."""
    part = layer.feed
    inner = np.maximum(
        part.into.weight.detach().numpy() @ token + part.into.bias.detach().numpy(), 0
    )
    return (
        part.out.weight.detach().numpy() @ inner[:FEED]
        + part.out.bias.detach().numpy()
        + inner[FEED:]
    )


def layer_by_loops(layer: BATLayer, tokens: list[np.ndarray], norm: str) -> list[np.ndarray]:
    first, second = layer.norms
    if norm == "pre":
        added = attention_tournament(layer, [normalized(token, first) for token in tokens])
        return [feed_tournament(layer, normalized(x + a, second)) for x, a in zip(tokens, added)]
    added = [normalized(a, first) for a in attention_tournament(layer, tokens)]
    return [normalized(feed_tournament(layer, x + a), second) for x, a in zip(tokens, added)]


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_states_and_pooled_match_plain_loops(norm: str) -> None:
    model = model_of(norm)
    start, _ = model.shell.embed(IDS, LENGTHS)
    states, pooled, *_ = model(IDS, LENGTHS)
    for row, text in enumerate(TEXTS):
        tokens = list(start[row, : len(text)].detach().numpy())
        for layer in model.shell.layers:
            tokens = layer_by_loops(layer, tokens, norm) if tokens else []
        if norm == "pre":
            tokens = [normalized(token, model.shell.norm) for token in tokens]
        expected = np.array(tokens).reshape(-1, HIDDEN)
        np.testing.assert_allclose(
            states[row, : len(text)].detach().numpy(), expected, rtol=1e-10, atol=1e-12
        )
        if text:
            np.testing.assert_allclose(
                pooled[row].detach().numpy(), expected.mean(0), rtol=1e-10, atol=1e-12
            )


def test_gradient_passes_gradcheck() -> None:
    model = model_of(layers=1)
    names, values = zip(
        *((name, value) for name, value in model.named_parameters() if "lookup" not in name)
    )

    def states(*parameters: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(
            model, dict(zip(names, parameters)), (IDS, LENGTHS)
        ).states

    assert torch.autograd.gradcheck(
        states, [value.detach().clone().requires_grad_() for value in values]
    )


def test_convolution_takes_zeros_past_the_end() -> None:
    model = model_of()
    noisy = IDS.clone()
    noisy[IDS == 0] = 11  # ids past a text's length, which no batch of ours has
    torch.testing.assert_close(
        model(noisy, LENGTHS).states, model(IDS, LENGTHS).states, rtol=1e-10, atol=1e-12
    )


def test_four_layers_have_the_papers_number_of_weights() -> None:
    count = sum(
        weight.numel() for name, weight in BAT((5,)).named_parameters() if "lookup" not in name
    )
    assert 1_100_000 < count < 1_350_000

import math

import numpy as np
import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.models.encoders.lstm import LSTM

TEXTS = [[3, 4, 5, 6, 7, 3, 4], [9], [], [22, 1, 8]]
IDS = torch.tensor([text + [0] * (7 - len(text)) for text in TEXTS])
LENGTHS = torch.tensor([len(text) for text in TEXTS])


def model_of(pooling: str = "max", layers: int = 1) -> LSTM:
    torch.manual_seed(0)
    return LSTM((23,), width=5, hidden=3, pooling=pooling, layers=layers).double().eval()


def direction(model: LSTM, vectors: list[np.ndarray], suffix: str) -> list[np.ndarray]:
    """The cell's equations, one step and one unit at a time."""
    parameters = {name: value.detach().numpy() for name, value in model.lstm.named_parameters()}
    state, cell, states = np.zeros(3), np.zeros(3), []
    for vector in vectors:
        gates = parameters[f"weight_ih_l0{suffix}"] @ vector + parameters[f"bias_ih_l0{suffix}"]
        gates = (
            gates + parameters[f"weight_hh_l0{suffix}"] @ state + parameters[f"bias_hh_l0{suffix}"]
        )
        for unit in range(3):
            take, keep, give = (1 / (1 + math.exp(-gates[unit + 3 * gate])) for gate in (0, 1, 3))
            cell[unit] = keep * cell[unit] + take * math.tanh(gates[unit + 6])
            gates[unit] = give * math.tanh(cell[unit])
        state = gates[:3].copy()
        states.append(state)
    return states


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_states_and_pooled_match_plain_loops(pooling: str) -> None:
    model = model_of(pooling)
    states, pooled, *_ = model(IDS, LENGTHS)
    for row, text in enumerate(TEXTS):
        vectors = [model.lookup.tables[0].detach().numpy()[i] for i in text]
        there, back = (
            direction(model, vectors, ""),
            direction(model, vectors[::-1], "_reverse")[::-1],
        )
        expected = np.array([np.concatenate(pair) for pair in zip(there, back)]).reshape(-1, 6)
        np.testing.assert_allclose(states[row, : len(text)].detach().numpy(), expected, rtol=1e-10)
        if text:
            np.testing.assert_allclose(
                pooled[row].detach().numpy(), getattr(expected, pooling)(0), rtol=1e-10
            )


def test_states_past_the_length_are_zero() -> None:
    states = model_of()(IDS, LENGTHS).states
    assert states.shape == (4, 7, 6)
    assert states[torch.arange(7) >= LENGTHS[:, None]].abs().sum() == 0


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_empty_text_pools_to_zero(pooling: str) -> None:
    assert model_of(pooling)(IDS, LENGTHS).pooled[2].tolist() == [0] * 6


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_gradient_passes_gradcheck(pooling: str) -> None:
    model = model_of(pooling)
    names, values = zip(
        *((name, value) for name, value in model.named_parameters() if "lstm" in name)
    )

    def pooled(*parameters: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(
            model, dict(zip(names, parameters)), (IDS, LENGTHS)
        ).pooled

    assert torch.autograd.gradcheck(
        pooled, [value.detach().clone().requires_grad_() for value in values]
    )


def test_layers_are_stacked() -> None:
    assert model_of(layers=2)(IDS, LENGTHS).pooled.shape == (4, 6)


def test_unknown_pooling_names_the_choices() -> None:
    with pytest.raises(SettingsError, match="did you mean 'mean'"):
        LSTM((5,), pooling="means")

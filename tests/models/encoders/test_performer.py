import pytest
import torch

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.encoders._attention import full
from tagwright.models.encoders._padding import inside_of
from tagwright.models.encoders.performer import Performer, RandomFeatures, orthogonal

LENGTHS = torch.tensor([11, 6, 1, 0])


def vectors_of() -> list[torch.Tensor]:
    """Queries, keys and values; of longer ones a few features that are rarely drawn decide, and
    errors fall slowly.
    """
    generator = torch.Generator().manual_seed(3)
    return [
        torch.randn(4, 2, 11, 8, generator=generator, dtype=torch.float64) / 2 for _ in range(3)
    ]


def error_of(features: int, *, draws: int = 12) -> float:
    """Mean distance from exact attention over several draws of the features."""
    inside, total = inside_of(LENGTHS, 11, dtype=torch.float64), 0.0
    exact, real = full(*vectors_of(), inside), inside.tokens[:, None, :, None]
    torch.manual_seed(0)
    for _ in range(draws):
        found = RandomFeatures(features, 8).double()(*vectors_of(), inside)
        total += float(((found - exact) * real).square().mean()) / draws
    return total


def test_error_falls_as_features_grow() -> None:
    errors = [error_of(features) for features in (8, 64, 512, 4096)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 50


def test_answers_match_plain_loops() -> None:
    torch.manual_seed(0)
    features = RandomFeatures(5, 8).double()
    query, key, value = vectors_of()
    found = features(query, key, value, inside_of(LENGTHS, 11, dtype=torch.float64))

    def kernel(vector: torch.Tensor) -> torch.Tensor:
        scaled = vector / 8**0.25
        return torch.exp(features.directions @ scaled - scaled.square().sum() / 2)

    for text, length in enumerate(LENGTHS.tolist()):
        for place in range(length):
            weights = [
                kernel(query[text, 1, place]) @ kernel(key[text, 1, k]) for k in range(length)
            ]
            expected = sum(w * value[text, 1, k] for k, w in enumerate(weights)) / sum(weights)
            # what is added to every feature moves the answer by about a millionth
            torch.testing.assert_close(found[text, 1, place], expected, rtol=1e-3, atol=1e-4)


def test_directions_are_orthogonal_in_blocks_and_of_normal_length() -> None:
    torch.manual_seed(0)
    directions = orthogonal(20, 8).double()
    for block in directions.split(8):
        inner = block @ block.T
        torch.testing.assert_close(inner, inner.diagonal().diag(), rtol=0, atol=1e-5)
    assert 6 < float(orthogonal(4000, 8).square().sum(1).mean()) < 10


def test_features_are_kept_with_the_weights() -> None:
    state = Performer((5,), layers=2, features=33).state_dict()
    assert [value.shape for name, value in state.items() if "directions" in name] == [(33, 32)] * 2


def test_no_features_are_an_error() -> None:
    with pytest.raises(SettingsError, match="features must be a whole number from 1, got 0"):
        registry.build("encoders", "performer", {"features": 0}, sizes=(5,))

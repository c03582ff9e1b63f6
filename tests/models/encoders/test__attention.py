import math

import torch

from tagwright.models.encoders._attention import Attention, by_head, full, joined
from tagwright.models.encoders._padding import inside_of

LENGTHS = torch.tensor([5, 2, 0])


def test_answers_are_softmax_means_of_the_tokens_values() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(3, 2, 5, 3, generator=generator, dtype=torch.float64) for _ in range(3)
    )
    found = full(query, key, value, inside_of(LENGTHS, 5, dtype=torch.float64))
    assert found.isfinite().all()
    for text, length in enumerate(LENGTHS.tolist()):
        for head in range(2):
            for place in range(length):
                scores = [
                    float(query[text, head, place] @ key[text, head, k]) / math.sqrt(3)
                    for k in range(length)
                ]
                weights = [math.exp(score) for score in scores]
                expected = sum(w * value[text, head, k] for k, w in enumerate(weights)) / sum(
                    weights
                )
                torch.testing.assert_close(
                    found[text, head, place], expected, rtol=1e-10, atol=1e-12
                )


def test_heads_come_apart_and_together() -> None:
    states = torch.arange(24).view(1, 2, 12)
    assert by_head(states, 3)[0, 1].tolist() == [[4, 5, 6, 7], [16, 17, 18, 19]]
    assert torch.equal(joined(by_head(states, 3)), states)


def test_mixing_can_be_told() -> None:
    torch.manual_seed(0)
    attention = Attention(6, 2, mix=lambda query, key, value, inside: value)
    states = torch.randn(3, 5, 6)
    values = states @ attention.into.weight[12:].T
    found = attention(states, inside_of(LENGTHS, 5, dtype=torch.float32))
    torch.testing.assert_close(found, values @ attention.out.weight.T, rtol=1e-5, atol=1e-6)

import math

import pytest
import torch

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.encoders._attention import full
from tagwright.models.encoders._padding import inside_of
from tagwright.models.encoders.informer import Informer, active, prob_sparse, sampled
from tagwright.models.encoders.transformer import Transformer

LENGTHS = torch.tensor([40, 23, 2, 1, 0])


def vectors_of() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(5, 2, 40, 4, generator=generator, dtype=torch.float64) for _ in range(3)]


def test_all_queries_active_is_full_attention() -> None:
    inside = inside_of(LENGTHS, 40, dtype=torch.float64)
    real = inside.tokens[:, None, :, None]
    found, expected = (
        prob_sparse(*vectors_of(), inside, factor=40) * real,
        full(*vectors_of(), inside) * real,
    )
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_model_with_all_queries_active_is_the_transformer() -> None:
    torch.manual_seed(0)
    sizes = {"width": 6, "hidden": 8, "heads": 2, "layers": 2, "feed": 12}
    plain, model = (
        Transformer((23,), **sizes).double(),
        Informer((23,), **sizes, factor=40).double(),
    )
    model.load_state_dict(plain.state_dict())
    ids = torch.randint(1, 23, (5, 40))
    expected = plain(ids, LENGTHS).states
    torch.testing.assert_close(model(ids, LENGTHS).states, expected, rtol=1e-10, atol=1e-12)


def test_queries_that_stand_out_attend_and_others_get_the_mean() -> None:
    query, key, value = vectors_of()
    inside = inside_of(LENGTHS, 40, dtype=torch.float64)
    found, attended = (
        prob_sparse(query, key, value, inside, factor=3),
        full(query, key, value, inside),
    )
    for text, length in enumerate(LENGTHS[:4].tolist()):
        count = min(length, 3 * max(math.ceil(math.log(length)), 1))
        places = sampled(LENGTHS[text : text + 1], torch.tensor([count]), count)[0].tolist()
        for head in range(2):
            scores = query[text, head, :length] @ key[text, head, places].T
            standing = [float(row.max() - row.mean()) for row in scores]
            chosen = sorted(range(length), key=lambda place: -standing[place])[:count]
            for place in range(length):
                other = value[text, head, :length].mean(0)
                expected = attended[text, head, place] if place in chosen else other
                torch.testing.assert_close(
                    found[text, head, place], expected, rtol=1e-10, atol=1e-12
                )


def test_samples_are_distinct_tokens_of_the_text() -> None:
    lengths = torch.arange(1, 60)
    for factor in (1, 3):
        counts = active(lengths, factor)
        for length, count, row in zip(
            lengths.tolist(), counts.tolist(), sampled(lengths, counts, 15).tolist()
        ):
            assert len(set(row[:count])) == count
            assert all(0 <= place < length for place in row)


def test_equal_queries_are_chosen_from_the_front() -> None:
    # one sampled key makes every M zero
    key, value = torch.randn(1, 1, 2, 4), torch.tensor([[[[1.0], [3.0]]]]).expand(-1, -1, -1, 4)
    inside = inside_of(torch.tensor([2]), 2, dtype=torch.float32)
    found = prob_sparse(key, key, value, inside, factor=1)
    assert found[0, 0, 1].tolist() == [2.0] * 4
    torch.testing.assert_close(found[0, 0, 0], full(key, key, value, inside)[0, 0, 0])


def test_no_factor_is_an_error() -> None:
    with pytest.raises(SettingsError, match="factor must be a whole number from 1, got 0"):
        registry.build("encoders", "informer", {"factor": 0}, sizes=(5,))

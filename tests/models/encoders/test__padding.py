import math

import torch

from tagwright.models.encoders._padding import inside_of


def test_padding_is_hidden_from_scores():
    inside = inside_of(torch.tensor([2, 3]), 3, dtype=torch.float64)
    assert inside.tokens.tolist() == [[True, True, False], [True, True, True]]
    assert inside.keys.dtype == torch.float64
    assert inside.keys.tolist() == [[[[0, 0, -math.inf]]], [[[0, 0, 0]]]]


def test_empty_text_sees_one_padding_and_has_no_token():
    inside = inside_of(torch.tensor([0]), 2, dtype=torch.float32)
    assert inside.tokens.tolist() == [[False, False]]
    assert inside.keys.tolist() == [[[[0, -math.inf]]]]


def test_texts_that_fill_the_batch_need_no_mask_on_a_host():
    assert inside_of(torch.tensor([3, 3]), 3, dtype=torch.float32).keys is None


def test_a_device_is_not_asked():
    # meta has no values to look at
    inside = inside_of(torch.tensor([3, 3], device="meta"), 3, dtype=torch.float32)
    assert inside.keys.shape == (2, 1, 1, 3)

import numpy as np
import pytest
import torch

from tagwright.batches.inputs import collate
from tagwright.tokenizers.tokens import Tokens


def tokens_of(rows: list[list], channels: tuple[int, ...] = ()) -> Tokens:
    flat = np.array([token for row in rows for token in row], np.int32).reshape(-1, *channels)
    return Tokens(flat, np.cumsum([0] + [len(row) for row in rows]))


ROWS = [[5, 6, 7], [], [8], [2, 3], [9, 9, 9, 9, 4]]


@pytest.mark.parametrize("limit", [512, 4, 2])
def test_texts_are_padded_to_the_longest_of_the_batch(limit: int) -> None:
    index = [3, 0, 1, 0, 4]
    cut = [ROWS[i][:limit] for i in index]
    longest = max(map(len, cut))
    ids, lengths = collate(tokens_of(ROWS), np.array(index), limit=limit)
    assert ids.tolist() == [row + [0] * (longest - len(row)) for row in cut]
    assert lengths.tolist() == [len(row) for row in cut]
    assert ids.dtype == lengths.dtype == torch.int64


def test_longest_of_the_set_does_not_pad_other_batches() -> None:
    assert collate(tokens_of(ROWS), np.array([2, 3])).ids.shape == (2, 2)


def test_empty_texts_keep_one_padding_token() -> None:
    assert collate(tokens_of(ROWS), np.array([1, 1])).ids.tolist() == [[0], [0]]


def test_channels_stay_together() -> None:
    rows = [[[1, 2], [3, 4]], [[5, 6]]]
    assert collate(tokens_of(rows, (2,)), np.array([1, 0])).ids.tolist() == [
        [[5, 6], [0, 0]],
        [[1, 2], [3, 4]],
    ]

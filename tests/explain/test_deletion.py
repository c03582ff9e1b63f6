"""Blocks of copies: every one once, of a bounded size; and what is read of them. test_elements.py
has the answers.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.batches.word_removals import gaps_of
from tagwright.data import read_data
from tagwright.explain import deletion as module
from tagwright.explain.deletion import Deletions


@pytest.fixture
def case(model, source):
    """Deletions in which every label may fall, and the gaps of all texts."""
    texts = read_data(source).tables["all"]["text"]
    words = model.tokenizer.encode_words(texts)
    full = csr_array(model.scores(texts).probabilities.astype(np.float64))
    return Deletions(model, words.tokens, full, 0.1, 1e-6), gaps_of(words)


def test_every_copy_is_in_one_block_and_blocks_are_bounded(case, monkeypatch):
    deletions, gaps = case
    monkeypatch.setattr(module, "COPIES", 50)
    blocks = deletions.blocks(gaps)
    assert len(blocks) >= len(gaps) // 50
    assert max(len(block.gaps) for block in blocks) <= 51
    found = {
        pair
        for block in blocks
        for pair in zip(block.gaps.owner.tolist(), block.gaps.start.tolist())
    }
    assert found == set(zip(gaps.owner.tolist(), gaps.start.tolist()))
    assert sum(len(block.gaps) for block in blocks) == len(gaps)


def test_falls_are_those_above_the_threshold_and_near_ones_are_counted(case):
    deletions, gaps = case
    (falls,) = deletions.falls(deletions.blocks(gaps))
    assert len(falls.drop)
    assert falls.drop.min() > deletions.threshold
    assert falls.copies == len(gaps)
    wide = Deletions(deletions.model, deletions.tokens, deletions.full, 0.1, 0.05)
    drops = next(wide.falls(wide.blocks(gaps)))
    assert drops.near > np.count_nonzero(falls.drop < 0.15)  # and those that fell a little less


def test_no_copies_are_no_blocks(case):
    deletions, gaps = case
    assert deletions.blocks(gaps.take(slice(0, 0))) == []
    assert list(deletions.falls([])) == []

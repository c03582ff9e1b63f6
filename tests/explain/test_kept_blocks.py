"""Finished blocks in a folder: read back as they were, thrown away with another fingerprint,
nothing else touched.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tagwright.errors import ModelError, WriteError
from tagwright.explain.deletion import Falls
from tagwright.explain.kept_blocks import KeptBlocks, remove_blocks

from ..full_disk import room

FALLS = Falls(
    np.array([3, 4]),
    np.array([0, 1]),
    np.array([1, 1]),
    np.array([0.5, 0.75]),
    near=1,
    same=2,
    copies=7,
)


def look():
    return np.array([True, False]), csr_array(np.array([[0.0, 0.5], [0.25, 0.0]]))


def test_blocks_are_read_back_by_their_number(tmp_path):
    kept = KeptBlocks(tmp_path / "b", "one")
    kept.keep(2, FALLS)
    again = KeptBlocks(tmp_path / "b", "one")
    found = again.finished(4)
    assert list(found) == [2]
    for mine, other in zip(found[2], FALLS, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert again.taken_over == 7


def test_what_was_looked_at_is_not_looked_at_again(tmp_path):
    KeptBlocks(tmp_path, "one").texts(look)
    selected, full = KeptBlocks(tmp_path, "one").texts(None)
    np.testing.assert_array_equal(selected, look()[0])
    np.testing.assert_array_equal(full.toarray(), look()[1].toarray())


def test_another_fingerprint_starts_anew_and_leaves_other_files(tmp_path):
    kept = KeptBlocks(tmp_path, "one")
    kept.keep(0, FALLS)
    (tmp_path / "mine.txt").write_text("mine")
    assert KeptBlocks(tmp_path, "two").finished(1) == {}
    remove_blocks(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    remove_blocks(tmp_path / "nowhere")


def test_another_fingerprint_is_an_error_where_it_has_to_be_the_same(tmp_path):
    KeptBlocks(tmp_path, "one").keep(0, FALLS)
    with pytest.raises(ModelError, match="is of another model, other texts or settings"):
        KeptBlocks(tmp_path, "two", same=True)
    assert list(KeptBlocks(tmp_path, "one", same=True).finished(1)) == [0]


def test_without_a_folder_nothing_is_kept():
    kept = KeptBlocks(None, None)
    kept.keep(0, FALLS)
    assert kept.finished(1) == {}
    assert kept.texts(look)[0].tolist() == [True, False]


def test_a_block_that_the_disk_does_not_take_is_said_and_not_there(tmp_path):
    kept = KeptBlocks(tmp_path / "b", "one")
    with room(100), pytest.raises(WriteError, match=r"cannot write .*block-000000\.npz"):
        kept.keep(0, FALLS)
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["about.json"]
    assert KeptBlocks(tmp_path / "b", "one", same=True).finished(1) == {}

"""Rows: inputs, targets, what nobody judged, and weights stay together."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.batches.inputs import FeatureInputs
from tagwright.batches.rows import HeadRows, Rows
from tagwright.batches.token_windows import TagInputs, placed
from tagwright.tokenizers.tokens import Tokens

TARGET = np.array([[1, 0, 0], [0, 1, 0.5], [0, 0, 0]], np.float32)
UNKNOWN = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1]], np.float32)
INDEX = np.array([2, 0])


def rows(*, weight=None, **head):
    inputs = FeatureInputs(csr_array(np.eye(3, dtype=np.float32)))
    return Rows(
        inputs=inputs, heads={"main": HeadRows(target=csr_array(TARGET), **head)}, weight=weight
    )


def batch_of(made, index=INDEX):
    """What the one head learns of some rows."""
    return made.batch(index, "cpu").heads["main"]


def test_a_batch_has_the_targets_of_its_rows_in_order():
    batch = rows().batch(INDEX, "cpu")
    assert torch.equal(batch.heads["main"].target, torch.from_numpy(TARGET[INDEX]))
    assert batch.heads["main"].known is None
    assert batch.heads["main"].weight is None
    assert batch.weight is None


def test_what_nobody_judged_is_not_known():
    batch = batch_of(rows(unknown=csr_array(UNKNOWN)))
    assert batch.known.dtype == torch.bool
    assert batch.known.tolist() == (UNKNOWN[INDEX] == 0).tolist()


def test_weights_go_with_their_rows():
    batch = rows(weight=np.array([1.0, 2.0, 3.0], np.float32)).batch(INDEX, "cpu")
    assert batch.weight.tolist() == batch.heads["main"].weight.tolist() == [3.0, 1.0]


def test_excused_labels_go_with_their_rows():
    excused = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1]], bool)
    batch = batch_of(rows(excused=csr_array(excused)))
    assert batch.excused.dtype == torch.bool
    assert batch.excused.tolist() == excused[INDEX].tolist()
    assert batch_of(rows()).excused is None


def test_added_rows_follow_one_another():
    both = rows() + rows()
    assert torch.equal(batch_of(both, np.array([4, 1])).target, torch.from_numpy(TARGET[[1, 1]]))
    assert len(both.inputs.lengths) == 6
    assert both.heads["main"].unknown is None
    assert both.weight is None


def test_rows_without_weights_or_unknowns_count_fully_beside_rows_that_have_them():
    both = rows() + rows(weight=np.array([2.0, 3.0, 4.0], np.float32), unknown=csr_array(UNKNOWN))
    batch = batch_of(both, np.arange(6))
    assert batch.weight.tolist() == [1, 1, 1, 2, 3, 4]
    assert batch.known[:3].all()
    assert batch.known[3:].tolist() == (UNKNOWN == 0).tolist()


def test_sparse_rows_name_their_cells():
    batch = batch_of(rows(unknown=csr_array(UNKNOWN), sparse=True))
    assert torch.equal(batch.target.dense(3), torch.from_numpy(TARGET[INDEX]))
    assert torch.equal(batch.known.dense(3), torch.from_numpy(UNKNOWN[INDEX] == 0))
    assert batch_of(rows(sparse=True)).known is None
    both = rows(sparse=True) + rows(sparse=True)
    assert both.sparse
    assert torch.equal(
        batch_of(both, np.array([3, 1])).target.dense(3), torch.from_numpy(TARGET[[0, 1]])
    )


def tag_rows(limit=4, overlap=2):
    """Windows of texts with 6, 0 and 3 tokens of one piece; the tag of token t is t % 5."""
    pieces, offsets = (
        Tokens(np.arange(1, 10, dtype=np.int32), np.arange(10)),
        np.array([0, 6, 6, 9]),
    )
    inputs = TagInputs(placed(pieces, offsets, limit=limit, overlap=overlap), limit)
    owner = inputs.places.owner
    tags = np.where(owner < 0, -1, owner % 5)
    nothing = csr_array((len(inputs.lengths), 0), dtype=np.float32)
    return Rows(inputs=inputs, heads={"main": HeadRows(target=nothing, tags=tags)})


def test_a_batch_has_the_tags_of_its_windows_and_none_behind_them():
    made = tag_rows()
    index = np.arange(len(made.inputs.lengths))[::-1]
    batch = made.batch(index, "cpu")
    (ids, lengths), tags = batch.inputs, batch.heads["main"].tags
    assert tags.shape == ids.shape
    assert (tags[torch.arange(ids.shape[1]) >= lengths[:, None]] == -1).all()
    spoken = tags >= 0
    assert sorted(ids[spoken].tolist()) == list(range(1, 10))
    assert tags[spoken].tolist() == ((ids[spoken] - 1) % 5).tolist()


def test_windows_count_as_many_as_they_have_tags():
    made = tag_rows()
    assert made.sizes.sum() == 9
    for row, size in enumerate(made.sizes):
        assert (batch_of(made, np.array([row])).tags >= 0).sum() == size
    assert rows().sizes is None


def test_added_rows_have_the_tags_of_both():
    first, second = tag_rows(), tag_rows(overlap=1)
    both, count = first + second, len(first.inputs.lengths)
    expected = second.batch(np.array([0]), "cpu")
    found = both.batch(np.array([count]), "cpu")
    assert torch.equal(found.heads["main"].tags, expected.heads["main"].tags)
    assert torch.equal(found.inputs[0], expected.inputs[0])
    assert both.sizes.tolist() == [*first.sizes, *second.sizes]


OTHER = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
LABELLED = np.array([True, False, True])


def two_heads(labelled=LABELLED, *, weight=None, **other):
    """Rows with two heads, the second of which has no answer on some."""
    heads = {
        "main": HeadRows(target=csr_array(TARGET), unknown=csr_array(UNKNOWN)),
        "other": HeadRows(target=csr_array(OTHER), labelled=labelled, **other),
    }
    inputs = FeatureInputs(csr_array(np.eye(3, dtype=np.float32)))
    return Rows(inputs=inputs, heads=heads, weight=weight)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_without_an_answer_for_a_head_weigh_nothing_there_alone(sparse):
    index = np.array([1, 2, 0])
    plain = two_heads(sparse=sparse).batch(index, "cpu")
    weighed = two_heads(weight=np.array([2.0, 3.0, 4.0], np.float32), sparse=sparse).batch(
        index, "cpu"
    )
    assert plain.weight is None
    assert plain.heads["main"].weight is None
    assert plain.heads["other"].weight.tolist() == [0, 1, 1]
    assert weighed.weight.tolist() == weighed.heads["main"].weight.tolist() == [3, 4, 2]
    assert weighed.heads["other"].weight.tolist() == [0, 4, 2]


def test_heads_have_their_own_labels_of_the_same_rows():
    main, other = two_heads().batch(INDEX, "cpu").heads.values()
    assert torch.equal(main.target, torch.from_numpy(TARGET[INDEX]))
    assert torch.equal(other.target, torch.from_numpy(OTHER[INDEX]))
    assert main.known.tolist() == (UNKNOWN[INDEX] == 0).tolist()
    assert other.known is None
    assert not two_heads().sparse
    assert two_heads(sparse=True).sparse


def test_added_rows_have_an_answer_where_each_had_one():
    index = np.arange(6)
    for first, second, expected in [
        (LABELLED, None, [1, 0, 1, 1, 1, 1]),
        (None, LABELLED, [1, 1, 1, 1, 0, 1]),
        (LABELLED, ~LABELLED, [1, 0, 1, 0, 1, 0]),
    ]:
        batch = (two_heads(first) + two_heads(second)).batch(index, "cpu")
        assert batch.heads["other"].weight.tolist() == expected
        assert batch.heads["main"].weight is None
        assert torch.equal(batch.heads["other"].target, torch.from_numpy(OTHER[index % 3]))
    assert (two_heads(None) + two_heads(None)).batch(index, "cpu").heads["other"].weight is None
    assert (two_heads() + two_heads()).batch(index, "cpu").heads["main"].known.tolist() == (
        UNKNOWN == 0
    ).tolist() * 2


def test_rows_with_tags_and_labels_count_one_each():
    made = tag_rows()
    labels = HeadRows(target=csr_array(np.ones((len(made.inputs.lengths), 2), np.float32)))
    both = Rows(inputs=made.inputs, heads={**made.heads, "topic": labels})
    assert both.sizes is None
    batch = both.batch(np.array([0, 1]), "cpu")
    assert torch.equal(
        batch.heads["main"].tags, made.batch(np.array([0, 1]), "cpu").heads["main"].tags
    )
    assert batch.heads["topic"].tags is None
    assert batch.heads["topic"].target.tolist() == [[1, 1], [1, 1]]


def test_windows_count_the_tokens_that_any_head_has_a_tag_for():
    """A step divides by what its rows count: one that counts nothing would make the other head's
    loss a mere sum.
    """
    made = tag_rows()
    whole, places = made.heads["main"], np.arange(len(made.heads["main"].tags))
    none, some, others = (
        replace(whole, tags=np.where(places % 3 < k, whole.tags, -1)) for k in (0, 1, 2)
    )
    for first, second, fuller in ((whole, none, whole), (some, others, others), (some, some, some)):
        expected = replace(made, heads={"a": fuller}).sizes.tolist()
        assert sum(expected) == (fuller.tags >= 0).sum() > 0
        assert replace(made, heads={"a": first, "b": second}).sizes.tolist() == expected
        assert replace(made, heads={"a": second, "b": first}).sizes.tolist() == expected
    rest = replace(whole, tags=np.where(places % 3 < 1, -1, whole.tags))
    assert replace(made, heads={"a": some, "b": rest}).sizes.tolist() == made.sizes.tolist()

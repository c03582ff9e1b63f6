"""Rows on a device: the same batches, in few shapes."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.batches.inputs import FeatureInputs, TokenInputs
from tagwright.batches.resident import Resident, one_row_a_text, resident_bytes
from tagwright.batches.rows import HeadRows, Rows
from tagwright.batches.token_windows import TagInputs, placed
from tagwright.batches.windows import PieceInputs
from tagwright.tokenizers.tokens import Tokens

LENGTHS = np.array([3, 0, 9, 21, 1, 16])
LABELS = 4


def tokens(features=None):
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    shape = (offsets[-1],) if features is None else (offsets[-1], features)
    return Tokens(np.random.default_rng(0).integers(1, 90, shape).astype(np.int32), offsets)


def of_main(inputs, target, *, weight=None, **head):
    """Rows with one head."""
    return Rows(
        inputs=inputs, heads={"main": HeadRows(target=csr_array(target), **head)}, weight=weight
    )


def rows(inputs=None, soft=False, **given):
    random = np.random.default_rng(1)
    dense = (random.random((len(LENGTHS), LABELS)) < 0.4).astype(np.float32)
    dense = dense * random.random(dense.shape).astype(np.float32) if soft else dense
    return of_main(inputs or TokenInputs(tokens(), 12), dense, **given)


def gathered(resident, index, size, width):
    """A batch of `size` rows, the last of which only fill it."""
    filled = np.zeros(size, np.int64)
    filled[: len(index)] = index
    return resident.batch(torch.from_numpy(filled), torch.arange(size) < len(index), width)


@pytest.mark.parametrize("features", [None, 3])
@pytest.mark.parametrize("index", [[0, 1, 2], [5, 3, 3, 4], [1]])
def test_a_batch_is_that_of_the_rows(index, features):
    inputs = TokenInputs(tokens(features), 12)
    excused = csr_array(np.random.default_rng(2).random((6, LABELS)) < 0.3)
    weight, unknown = np.arange(1, 7, dtype=np.float32), csr_array(np.eye(6, LABELS))
    given = rows(inputs, weight=weight, unknown=unknown, excused=excused)
    plain = given.batch(np.array(index), "cpu")
    found = gathered(Resident(given, torch.device("cpu")), index, 7, 16)
    ids, lengths = plain.inputs
    longest, count = ids.shape[1], len(index)
    assert torch.equal(found.inputs[0][:count, :longest], ids)
    assert not found.inputs[0][:count, longest:].any()
    assert torch.equal(found.inputs[1][:count], lengths)
    assert torch.equal(found.weight[:count], plain.weight)
    assert not found.weight[count:].any()
    found, plain = found.heads["main"], plain.heads["main"]
    assert torch.equal(found.target[:count], plain.target)
    assert torch.equal(found.known[:count], plain.known)
    assert torch.equal(found.excused[:count], plain.excused)
    assert plain.excused.tolist() == excused.toarray()[index].tolist()
    assert torch.equal(found.weight[:count], plain.weight)
    assert not found.weight[count:].any()


def test_rows_without_weight_weigh_one_and_fillers_nothing():
    found = gathered(Resident(rows(), torch.device("cpu")), [2, 4], 3, 16)
    assert found.weight.tolist() == found.heads["main"].weight.tolist() == [1, 1, 0]


def test_soft_targets_keep_their_values():
    given = rows(soft=True)
    found = gathered(Resident(given, torch.device("cpu")), [0, 3], 2, 16)
    expected = torch.from_numpy(given.heads["main"].target.toarray()[[0, 3]])
    assert torch.equal(found.heads["main"].target, expected)
    assert not torch.equal(expected, expected.round())


def test_cut_pieces_are_those_of_the_encoder():
    given = rows(PieceInputs(tokens=tokens(), specials=(0, 0), limit=6, long="both"))
    found = gathered(Resident(given, torch.device("cpu")), [3, 2], 2, 8)
    assert torch.equal(found.inputs[0][:, :6], given.inputs.batch(np.array([3, 2]))[0])


def test_shapes_are_few():
    resident = Resident(rows(TokenInputs(tokens(), 700)), torch.device("cpu"))
    assert [resident.width_of(np.array(index)) for index in ([1], [0, 4], [2], [5, 0], [3])] == [
        8,
        8,
        16,
        16,
        24,
    ]
    resident.row_lengths, resident.limit = np.array([513, 700]), 700
    assert [resident.width_of(np.array([place])) for place in (0, 1)] == [640, 700]


def test_no_shape_is_wider_than_the_longest_row_by_a_multiple_of_8():
    long = Tokens(np.ones(90, np.int32), np.array([0, 52, 89, 90]))
    given = of_main(TokenInputs(long, 700), np.ones((3, LABELS), np.float32))
    resident = Resident(given, torch.device("cpu"))
    assert [resident.width_of(np.array([place])) for place in range(3)] == [56, 48, 8]
    assert resident.widest == 56


def test_texts_without_any_token_are_rows():
    nothing = Tokens(np.zeros(0, np.int32), np.zeros(3, np.int64))
    given = of_main(TokenInputs(nothing), np.ones((2, LABELS), np.float32))
    found = gathered(Resident(given, torch.device("cpu")), [0, 1], 2, 8)
    assert found.inputs[0].tolist() == [[0] * 8] * 2


def test_size_counts_ids_and_targets():
    given = rows()
    resident = Resident(given, torch.device("cpu"))
    cells = resident.heads["main"].target.numel()
    assert cells == 6 * LABELS
    assert resident_bytes(given) == 4 * resident.ids.numel() + cells
    assert resident_bytes(rows(soft=True)) == 4 * resident.ids.numel() + 4 * cells
    excused = csr_array((6, LABELS), dtype=bool)
    assert resident_bytes(rows(excused=excused)) == resident_bytes(given) + 6 * LABELS
    assert (
        Resident(rows(excused=excused), torch.device("cpu")).heads["main"].excused.element_size()
        == 1
    )


def test_windows_and_features_are_not_one_row_a_text():
    assert one_row_a_text(rows())
    assert not one_row_a_text(
        rows(PieceInputs(tokens=tokens(), specials=(0, 0), limit=6, long="windows", overlap=1))
    )
    assert not one_row_a_text(rows(FeatureInputs(csr_array(np.eye(6)))))


def tag_rows():
    """Windows of the texts at a limit of 6, a third of their positions without a tag."""
    inputs = TagInputs(placed(tokens(), np.arange(len(tokens().offsets)), limit=6, overlap=2), 6)
    tags = np.where(np.random.default_rng(2).random(len(inputs.places.owner)) < 0.3, -1, 300)
    return of_main(inputs, csr_array((len(inputs.lengths), 0), dtype=np.float32), tags=tags)


@pytest.mark.parametrize("index", [[0, 1, 2], [5, 3, 3, 4], [1]])
def test_tags_are_those_of_the_rows_with_none_behind_them(index):
    given = tag_rows()
    plain = given.batch(np.array(index), "cpu").heads["main"]
    found = gathered(Resident(given, torch.device("cpu")), index, 7, 8).heads["main"]
    longest, count = plain.tags.shape[1], len(index)
    assert torch.equal(found.tags[:count, :longest], plain.tags)
    assert (found.tags[:count, longest:] == -1).all()
    assert found.weight.tolist() == [1.0] * count + [0.0] * (7 - count)


def test_a_mean_divides_by_the_tags_of_its_real_rows():
    given = tag_rows()
    resident = Resident(given, torch.device("cpu"))
    batch, real = torch.tensor([2, 5, 0, 0]), torch.tensor([1.0, 1.0, 0.0, 0.0])
    assert resident.size_of(batch, real) == given.sizes[[2, 5]].sum()
    # nothing is divided by, but never by nothing
    assert resident.size_of(batch, torch.zeros(4)) == 1
    assert Resident(rows(), torch.device("cpu")).size_of(batch, real) == 2


def test_tags_take_two_bytes_a_position():
    given = tag_rows()
    without = of_main(given.inputs, given.heads["main"].target)
    assert resident_bytes(given) - resident_bytes(without) == 2 * given.inputs.lengths.sum()
    assert Resident(given, torch.device("cpu")).heads["main"].tags.element_size() == 2


def test_no_row_is_longer_than_the_shape_it_is_laid_out_in():
    """A shape is tried with whatever rows come first, which may be wider."""
    narrow = gathered(Resident(rows(), torch.device("cpu")), [2, 0], 3, 8)
    assert narrow.inputs[0].shape == (3, 8)
    assert narrow.inputs[1].tolist() == [8, 3, 3]


def several():
    """Rows with four heads: hard labels, soft ones that some rows lack, and tags of two kinds."""
    tagged, random = tag_rows(), np.random.default_rng(3)
    count = len(tagged.inputs.lengths)
    hard = csr_array((random.random((count, 3)) < 0.5).astype(np.float32))
    soft, labelled = random.random((count, 2)).astype(np.float32), np.arange(count) % 3 != 1
    heads = {
        "topic": HeadRows(target=hard, unknown=csr_array(random.random((count, 3)) < 0.3)),
        "mood": HeadRows(target=csr_array(soft.round()), soft=soft, labelled=labelled),
        "tags": tagged.heads["main"],
        "more": HeadRows(
            target=csr_array((count, 0), dtype=np.float32),
            tags=np.arange(len(tagged.heads["main"].tags)),
        ),
    }
    return Rows(inputs=tagged.inputs, heads=heads, weight=random.random(count).astype(np.float32))


@pytest.mark.parametrize("index", [[0, 1, 2], [7, 3, 3, 4], [1]])
def test_every_head_of_a_batch_is_that_of_the_rows(index):
    given, count = several(), len(index)
    plain = given.batch(np.array(index), "cpu")
    found = gathered(Resident(given, torch.device("cpu")), index, 7, 8)
    assert [*found.heads] == [*plain.heads] == ["topic", "mood", "tags", "more"]
    for name, whole in plain.heads.items():
        own = found.heads[name]
        assert torch.equal(own.target[:count], whole.target)
        assert torch.equal(own.weight[:count], whole.weight)
        assert not own.weight[count:].any()
        for kind in ("known", "soft"):
            assert (getattr(own, kind) is None) is (getattr(whole, kind) is None)
    topic, mood, *tags = found.heads.values()
    assert torch.equal(topic.known[:count], plain.heads["topic"].known)
    assert torch.equal(mood.soft[:count], plain.heads["mood"].soft)
    for own, whole in zip(tags, (plain.heads["tags"].tags, plain.heads["more"].tags), strict=True):
        assert torch.equal(own.tags[:count, : whole.shape[1]], whole)
        assert (own.tags[:count, whole.shape[1] :] == -1).all()
    weight = [0.0 if row % 3 == 1 else float(given.weight[row]) for row in index]
    assert mood.weight[:count].tolist() == pytest.approx(weight)
    assert topic.weight[:count].tolist() == pytest.approx(
        [float(given.weight[row]) for row in index]
    )


def test_the_size_of_several_heads_is_what_lies_on_the_device():
    given = several()
    resident = Resident(given, torch.device("cpu"))
    held = [
        tensor
        for head in resident.heads.values()
        for tensor in (head.target, head.known, head.soft, head.tags)
    ]
    assert resident_bytes(given) == sum(
        t.numel() * t.element_size() for t in [resident.ids, *held] if t is not None
    )


def test_a_mean_over_labels_and_tags_divides_by_rows():
    resident = Resident(several(), torch.device("cpu"))
    assert resident.size_of(torch.tensor([2, 5, 0, 0]), torch.tensor([1.0, 1.0, 0.0, 0.0])) == 2

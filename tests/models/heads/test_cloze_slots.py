"""Which slots are masked, how labels are spread, and how slots are filled, against plain loops."""

import math
from itertools import pairwise

import pytest
import torch

from tagwright.models.heads.cloze_slots import MASK, NO, YES, drawn, filled, spread, too_many

from ...cloze_reference import filled as filled_slowly

ROWS, LABELS = 4000, 7


def target_of(rows=ROWS, labels=LABELS):
    return (torch.rand(rows, labels, generator=torch.Generator().manual_seed(3)) < 0.3).float()


def drawn_by(seed, *, masking, share=0.5, wrong=0.0, known=None, target=None):
    target = target_of() if target is None else target
    generator = torch.Generator().manual_seed(seed)
    return drawn(target, known, generator, masking=masking, share=share, wrong=wrong)


def test_part_masks_any_number_of_labels_as_often_as_another():
    masked = (drawn_by(0, masking="part") == MASK).sum(1)
    counts = torch.bincount(masked, minlength=LABELS + 1)
    assert counts[0] == 0
    expected = ROWS / LABELS
    assert (counts[1:] - expected).abs().max() < 5 * math.sqrt(expected)


def test_part_masks_every_label_as_often_as_another_and_not_the_same_ones_together():
    masked = (drawn_by(1, masking="part") == MASK).double()
    assert (
        masked.mean(0) - (LABELS + 1) / (2 * LABELS)
    ).abs().max() < 0.04  # the mean of 1 to L, of L
    # of two given labels in a draw of k of L: k (k - 1) / L (L - 1)
    together = sum(k * (k - 1) for k in range(1, LABELS + 1)) / LABELS / (LABELS * (LABELS - 1))
    both = (masked.T @ masked / ROWS)[~torch.eye(LABELS, dtype=torch.bool)]
    assert (both - together).abs().max() < 0.04


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_p_masks_each_label_with_its_probability(share):
    masked = (drawn_by(2, masking="p", share=share) == MASK).double()
    assert (masked.mean(0) - share).abs().max() < 5 * math.sqrt(share * (1 - share) / ROWS) + 1e-9


@pytest.mark.parametrize("masking", ["part", "p"])
def test_what_is_not_masked_shows_the_truth(masking):
    shown, target = drawn_by(3, masking=masking), target_of()
    visible = shown != MASK
    assert visible.any()
    assert torch.equal(shown[visible], torch.where(target > 0, YES, NO)[visible])


@pytest.mark.parametrize("wrong", [0.01, 0.2])
def test_a_share_of_the_visible_shows_the_other_answer(wrong):
    shown, target = drawn_by(4, masking="p", wrong=wrong), target_of()
    visible = shown != MASK
    wrongly = (shown != torch.where(target > 0, YES, NO))[visible].double()
    assert wrongly.mean() == pytest.approx(
        wrong, abs=5 * math.sqrt(wrong * (1 - wrong) / len(wrongly))
    )
    # which are visible is another draw
    assert torch.equal(visible, drawn_by(4, masking="p") != MASK)


@pytest.mark.parametrize("masking", ["part", "p"])
def test_a_label_that_nobody_judged_is_never_shown(masking):
    known = torch.rand(ROWS, LABELS, generator=torch.Generator().manual_seed(9)) < 0.5
    shown = drawn_by(5, masking=masking, known=known, wrong=0.3)
    assert (shown[~known] == MASK).all()
    assert (shown[known] != MASK).any()


@pytest.mark.parametrize("masking", ["part", "p"])
def test_draws_are_a_function_of_the_generator(masking):
    first, again, other = (drawn_by(seed, masking=masking, wrong=0.1) for seed in (6, 6, 7))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("masking", ["part", "p"])
def test_rows_that_fill_up_a_batch_change_no_other_row(masking):
    target = target_of(9)
    assert torch.equal(
        drawn_by(8, masking=masking, target=target)[:5],
        drawn_by(8, masking=masking, target=target[:5]),
    )


@pytest.mark.parametrize("labels", range(1, 41))
def test_every_label_has_exactly_one_place_in_chunks_of_one_size(labels):
    for chunks in range(1, 11):
        order, kept = spread(labels, chunks)
        assert order.flatten()[kept].tolist() == list(range(labels))
        assert len(set(kept.tolist())) == labels
        assert order.shape[1] == math.ceil(labels / chunks)
        assert len(order) <= chunks
        assert all(len(set(row)) == len(row) for row in order.tolist())
        # none is there for nothing
        assert {place // order.shape[1] for place in kept.tolist()} == set(range(len(order)))


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("room", range(3, 60, 7))
def test_the_chunks_that_are_proposed_do_fit(room, size):
    for labels in range(room // size + 1, 90, 5):
        said = too_many(labels, size, room, way="sequential", chunked=True)
        fit = room // size
        assert f"{labels} labels take {labels * size} positions" in said
        assert f"room for {fit} labels" in said
        chunks = int(said.split("head.chunks=")[1].split(",")[0])
        assert spread(labels, chunks)[0].shape[1] <= fit
        assert spread(labels, chunks - 1)[0].shape[1] > fit  # and no fewer would do
        assert ("template=short" in said) is (size == 3)


def test_no_chunks_are_proposed_where_none_would_do():
    assert "head.chunks" not in too_many(5, 3, 2, way="shared", chunked=True)
    assert "head.chunks" not in too_many(50, 3, 30, way="sequential", chunked=False)
    assert "has 0 left" in too_many(5, 3, -4, way="sequential", chunked=True)


def test_labels_that_share_positions_take_those_of_one():
    assert "50 labels take 3 positions" in too_many(50, 3, 2, way="shared", chunked=True)


class Correlated:
    """Logits that depend on what is shown: every answer moves all other labels."""

    def __init__(self, labels, rows=6, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.base = torch.randn(rows, labels, dtype=torch.float64, generator=generator)
        self.pull = torch.randn(labels, 3, labels, dtype=torch.float64, generator=generator)
        self.pull[:, MASK] = 0
        self.passes = 0

    def __call__(self, shown):
        self.passes += 1
        shown = torch.full_like(self.base, MASK, dtype=torch.int64) if shown is None else shown
        moved = torch.stack(
            [self.pull[label, shown[:, label]] for label in range(shown.shape[1])]
        ).sum(0)
        return self.base + moved

    def of_row(self, row, values):
        order = {"MASK": MASK, "NO": NO, "YES": YES}
        shown = torch.full_like(self.base, MASK, dtype=torch.int64)
        shown[row] = torch.tensor([order[value] for value in values])
        return self(shown)[row].tolist()


@pytest.mark.parametrize("zero", [0.0, 0.7])
@pytest.mark.parametrize(
    ("labels", "rounds"), [(1, 1), (1, 3), (2, 2), (5, 1), (5, 2), (5, 5), (9, 4), (4, 7), (12, 3)]
)
def test_filling_is_that_of_the_slow_loop(labels, rounds, zero):
    run = Correlated(labels)
    found = filled(run, rounds, lambda logits: logits - zero)
    assert run.passes == rounds
    for row in range(len(found)):
        expected, passes = filled_slowly(
            lambda values, row=row: run.of_row(row, values), labels, rounds, zero
        )
        assert passes == rounds
        assert found[row].tolist() == pytest.approx(expected, rel=1e-12)


def test_one_round_is_one_pass_with_every_slot_masked():
    seen = []
    found = filled(
        lambda shown: seen.append(shown) or torch.tensor([[1.0, -2.0]]), 1, lambda logits: logits
    )
    assert seen == [None]
    assert found.tolist() == [[1.0, -2.0]]


def test_what_is_settled_stays_and_is_shown_to_all_later_rounds():
    run, seen = Correlated(8), []

    def spied(shown):
        seen.append(None if shown is None else shown.clone())
        return run(shown)

    found = filled(spied, 4, lambda logits: logits)
    assert [int((shown != MASK)[0].sum()) for shown in seen[1:]] == [2, 4, 6]
    for before, after in pairwise(seen[1:]):
        assert torch.equal(after[before != MASK], before[before != MASK])
    settled = seen[-1] != MASK
    assert torch.equal(seen[-1][settled] == YES, found[settled] > 0)

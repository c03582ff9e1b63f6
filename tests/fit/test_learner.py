"""A slot that shows its answer takes no part in the objective: the loss is as though its label were not there."""

import pytest
import torch

from tagwright import parts
from tagwright.batches.rows import Batch
from tagwright.encoders.hidden import Hidden
from tagwright.fit.learner import Learner, slots_drawn
from tagwright.heads import Head
from tagwright.losses import BinaryCrossEntropyLoss
from tagwright.objective import Objective

from ..cloze_cases import MASK, NO, YES, published
from ..cloze_reference import mean_of_masked

ROWS, LABELS = 6, 7
LOSSES = {
    "bce-mean": ("bce", {"labels": "mean"}),
    "bce-sum": ("bce", {}),
    "zlpr": ("zlpr", {}),
    "focal": ("focal", {}),
    "asymmetric": ("asymmetric", {}),
    "cross_entropy": ("cross_entropy", {}),
}


class Given:
    """A network whose logits are given."""

    def __init__(self, logits):
        self.logits, self.heads, self.shown = logits, {"main": Head()}, []

    def run(self, *inputs, shown=None):
        self.shown.append(shown)
        return Hidden(None, self.logits), {"main": self.logits}


def random(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def shown_of(target, seed=1):
    """Some labels masked, the last row's all visible, the first one's all masked; the others show the truth."""
    visible = random(ROWS, LABELS, seed=seed) > 0
    visible[0], visible[-1] = False, True
    return torch.where(visible, torch.where(target > 0, YES, NO), MASK)


def target_of(name):
    if name == "cross_entropy":
        gold = torch.arange(ROWS) * 3 % LABELS
        return torch.nn.functional.one_hot(gold, LABELS).double()
    return (random(ROWS, LABELS, seed=2) > 0.4).double()


def objective_of(name):
    part, options = LOSSES[name]
    return Objective(parts.build("losses", part, options, reduction="sum", label_counts=[1] * LABELS, row_count=9))


def learnt(name, logits, target, shown, *, known=None, weight=None):
    """The objective of a batch, and its gradient."""
    logits = logits.detach().requires_grad_()
    batch = Batch((torch.zeros(ROWS, 1),), target, known, weight, shown=shown)
    value = Learner(Given(logits), objective_of(name))(batch, torch.Generator()).value
    value.backward()
    return value.item(), logits.grad


def without_the_visible(name, logits, target, taking_part, weight):
    """The loss of each text over its masked labels alone, in a loop, summed: as though there were no others."""
    part, options = LOSSES[name]
    total = torch.zeros((), dtype=torch.float64)
    for row in range(ROWS):
        some = taking_part[row]
        if some.any() and not (part == "cross_entropy" and not target[row, some].any()):
            loss = parts.build(
                "losses", part, options, reduction="sum", label_counts=[1] * int(some.sum()), row_count=9
            )
            total = total + weight[row] * loss(logits[row, some][None], target[row, some][None])
    return total


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_is_that_of_the_masked_labels_alone(name, weighted):
    logits, target = random(ROWS, LABELS), target_of(name)
    shown, weight = shown_of(target), random(ROWS, seed=5).abs() if weighted else torch.ones(ROWS).double()
    found, slope = learnt(name, logits, target, shown, weight=weight if weighted else None)
    logits = logits.requires_grad_()
    expected = without_the_visible(name, logits, target, shown == MASK, weight)
    (by_loops,) = torch.autograd.grad(expected, logits)
    assert found == pytest.approx(expected.item(), rel=1e-10)
    torch.testing.assert_close(slope, by_loops, rtol=1e-10, atol=1e-12)
    assert not slope[shown != MASK].any()


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "cross_entropy"])
def test_truth_of_visible_labels_changes_nothing(name):
    logits, target = random(ROWS, LABELS), target_of(name)
    shown = shown_of(target)
    other = torch.where(shown == MASK, target, 1 - target)
    first, second = learnt(name, logits, target, shown), learnt(name, logits, other, shown)
    assert first[0] == second[0]
    assert torch.equal(first[1], second[1])


@pytest.mark.parametrize("name", LOSSES)
def test_all_masked_is_the_loss_without_slots(name):
    logits, target = random(ROWS, LABELS), target_of(name)
    everything = torch.full((ROWS, LABELS), MASK)
    (found, slope), (expected, plain) = (learnt(name, logits, target, shown) for shown in (everything, None))
    assert found == pytest.approx(expected, rel=1e-12)
    torch.testing.assert_close(slope, plain, rtol=1e-12, atol=1e-12)


def test_mean_is_over_masked_slots():
    logits, target = random(ROWS, LABELS), target_of("bce-mean")
    shown = shown_of(target)
    found, _ = learnt("bce-mean", logits, target, shown)
    rows = zip(logits.tolist(), target.tolist(), (shown != MASK).tolist(), strict=True)
    assert found == pytest.approx(sum(mean_of_masked(*row) for row in rows), rel=1e-10)


@pytest.mark.parametrize("case", published("lm_mtc_bce_eq4_joint_eq5"), ids=lambda case: case["name"])
def test_equation_4_is_the_published_one_whatever_visible_slots_stand_beside(case):
    logits, target = (torch.tensor([case[key]], dtype=torch.float64) for key in ("logits", "labels"))
    beside = random(1, 3, seed=8)
    shown = torch.cat([torch.full_like(target, MASK), torch.tensor([[YES, NO, YES]])], 1)
    for seen, width in ((None, 0), (shown, 3)):
        more = Given(torch.cat([logits, beside[:, :width]], 1))
        batch = Batch((), torch.cat([target, torch.ones(1, width).double()], 1), None, None, shown=seen)
        objective = Objective(BinaryCrossEntropyLoss(labels="mean", reduction="sum"))
        found = Learner(more, objective)(batch, torch.Generator()).value.item()
        assert found == pytest.approx(case["expected_bce_mean"], rel=1e-10)
        assert found + 0.05 * 2.5 == pytest.approx(case["joint_lambda0.05_mlm2.5"], rel=1e-10)


@pytest.mark.parametrize("name", ["bce-mean", "bce-sum", "zlpr"])
def test_labels_that_nobody_judged_take_no_part_beside_visible_ones(name):
    logits, target = random(ROWS, LABELS), target_of(name)
    known = random(ROWS, LABELS, seed=6) > -0.5
    shown = torch.where(known, shown_of(target), MASK)
    found, slope = learnt(name, logits, target, shown, known=known)
    assert not slope[(shown != MASK) | ~known].any()
    flipped = torch.where(known & (shown == MASK), target, 1 - target)
    assert learnt(name, logits, flipped, shown, known=known)[0] == found


def test_what_is_shown_reaches_the_network():
    network, shown = Given(random(ROWS, LABELS)), torch.full((ROWS, LABELS), MASK)
    Learner(network, objective_of("zlpr"))(Batch((), target_of("zlpr"), None, None, shown=shown), torch.Generator())
    assert network.shown[0] is shown


def test_draws_are_the_heads_own():
    network, batch = Given(random(ROWS, LABELS)), Batch((), target_of("zlpr"), "known", None)
    assert slots_drawn(network, batch, torch.Generator()) is batch
    drawn = []
    drawing = {"draw": staticmethod(lambda *given: drawn.append(given) or "shown"), "has_slots": True}
    network.heads = {"main": type("Drawing", (), drawing)}
    generator = torch.Generator()
    assert slots_drawn(network, batch, generator).shown == "shown"
    assert [(given[0] is batch.target, *given[1:]) for given in drawn] == [(True, "known", generator)]

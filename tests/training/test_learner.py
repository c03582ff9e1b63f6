"""A step learns the sum over heads; a slot that shows its answer takes no part, as though its label
were not there.
"""

import math
from types import SimpleNamespace

import pytest
import torch

from tagwright import registry
from tagwright.batches.rows import Batch, HeadBatch
from tagwright.losses import BinaryCrossEntropyLoss, CrossEntropyLoss, SparseTarget
from tagwright.models.heads import Head
from tagwright.models.hidden import Hidden
from tagwright.models.network import Network
from tagwright.objective import Beside, Objective
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import Learner, slots_drawn

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
    """A network whose logits are given, one tensor or those of each head."""

    slotted = Network.slotted

    def __init__(self, logits, pooled=None):
        self.logits = logits if isinstance(logits, dict) else {"main": logits}
        self.heads, self.shown, self.pooled = {name: Head() for name in self.logits}, [], pooled

    def run(self, *inputs, shown=None, without=()):
        self.shown.append(shown)
        return Hidden(None, self.pooled), {
            name: made for name, made in self.logits.items() if name not in without
        }


def slotted_batch(target, known=None, weight=None, shown=None):
    """A batch of one head."""
    return Batch(
        (torch.zeros(len(target), 1),),
        {"main": HeadBatch(target, known, weight, shown=shown)},
        weight,
    )


def learner_of(network, objective):
    """The learner of one head."""
    return Learner(network, {"main": HeadObjective(objective, link="sigmoid")})


def random(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def shown_of(target, seed=1):
    """Some labels masked, the last row's all visible, the first one's all masked; the others show
    the truth.
    """
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
    return Objective(
        registry.build(
            "losses", part, options, reduction="sum", label_counts=[1] * LABELS, row_count=9
        )
    )


def learnt(name, logits, target, shown, *, known=None, weight=None):
    """The objective of a batch, and its gradient."""
    logits = logits.detach().requires_grad_()
    batch = slotted_batch(target, known, weight, shown)
    value = learner_of(Given(logits), objective_of(name))(batch, torch.Generator()).value
    value.backward()
    return value.item(), logits.grad


def without_the_visible(name, logits, target, taking_part, weight):
    """The loss of each text over its masked labels alone, in a loop, summed: as though there were
    no others.
    """
    part, options = LOSSES[name]
    total = torch.zeros((), dtype=torch.float64)
    for row in range(ROWS):
        some = taking_part[row]
        if some.any() and not (part == "cross_entropy" and not target[row, some].any()):
            loss = registry.build(
                "losses",
                part,
                options,
                reduction="sum",
                label_counts=[1] * int(some.sum()),
                row_count=9,
            )
            total = total + weight[row] * loss(logits[row, some][None], target[row, some][None])
    return total


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_is_that_of_the_masked_labels_alone(name, weighted):
    logits, target = random(ROWS, LABELS), target_of(name)
    shown, weight = (
        shown_of(target),
        random(ROWS, seed=5).abs() if weighted else torch.ones(ROWS).double(),
    )
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
    (found, slope), (expected, plain) = (
        learnt(name, logits, target, shown) for shown in (everything, None)
    )
    assert found == pytest.approx(expected, rel=1e-12)
    torch.testing.assert_close(slope, plain, rtol=1e-12, atol=1e-12)


def test_mean_is_over_masked_slots():
    logits, target = random(ROWS, LABELS), target_of("bce-mean")
    shown = shown_of(target)
    found, _ = learnt("bce-mean", logits, target, shown)
    rows = zip(logits.tolist(), target.tolist(), (shown != MASK).tolist(), strict=True)
    assert found == pytest.approx(sum(mean_of_masked(*row) for row in rows), rel=1e-10)


@pytest.mark.parametrize(
    "case", published("lm_mtc_bce_eq4_joint_eq5"), ids=lambda case: case["name"]
)
def test_equation_4_is_the_published_one_whatever_visible_slots_stand_beside(case):
    logits, target = (
        torch.tensor([case[key]], dtype=torch.float64) for key in ("logits", "labels")
    )
    beside = random(1, 3, seed=8)
    shown = torch.cat([torch.full_like(target, MASK), torch.tensor([[YES, NO, YES]])], 1)
    for seen, width in ((None, 0), (shown, 3)):
        more = Given(torch.cat([logits, beside[:, :width]], 1))
        batch = slotted_batch(torch.cat([target, torch.ones(1, width).double()], 1), shown=seen)
        objective = Objective(BinaryCrossEntropyLoss(labels="mean", reduction="sum"))
        found = learner_of(more, objective)(batch, torch.Generator()).value.item()
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
    learner_of(network, objective_of("zlpr"))(
        slotted_batch(target_of("zlpr"), shown=shown), torch.Generator()
    )
    assert network.shown[0] is shown


def test_draws_are_the_heads_own():
    network, batch = Given(random(ROWS, LABELS)), slotted_batch(target_of("zlpr"), "known")
    assert slots_drawn(network, batch, torch.Generator()) is batch
    drawn, own, other = [], batch.heads["main"], HeadBatch(torch.zeros(ROWS, 1))
    drawing = {
        "draw": staticmethod(lambda *given: drawn.append(given) or "shown"),
        "has_slots": True,
    }
    # the head with slots need not be the first, and draws by its own labels
    network.heads = {"other": Head(), "main": type("Drawing", (), drawing)}
    generator = torch.Generator()
    made = slots_drawn(network, batch._replace(heads={"other": other, "main": own}), generator)
    assert made.shown == made.heads["main"].shown == "shown"
    assert made.heads["other"] is other
    assert [(given[0] is own.target, *given[1:]) for given in drawn] == [(True, "known", generator)]


def test_several_heads_add_up_each_by_its_weight_and_with_its_own_answers():
    logits = {"main": random(3, 4), "topic": random(3, 2, seed=1), "ner": random(3, 5, 3, seed=2)}
    target, topic = (random(3, 4, seed=3) > 0).double(), torch.tensor([1, 0, 1])
    tags = torch.tensor([[0, -1, 2, -1, -1], [1, 1, 0, 2, -1], [-1, -1, -1, -1, -1]])
    rows, kept = torch.tensor([0.5, 2.0, 1.0]).double(), torch.tensor([1.0, 0.0, 1.0]).double()
    heads = {
        "main": HeadBatch(target, None, rows),
        "topic": HeadBatch(torch.nn.functional.one_hot(topic).double(), None, rows * kept),
        "ner": HeadBatch(torch.zeros(3, 0), None, rows, tags=tags),
    }
    one_of = Objective(CrossEntropyLoss(reduction="sum"))
    objectives = {
        "main": HeadObjective(Objective(BinaryCrossEntropyLoss(reduction="sum")), link="sigmoid"),
        "topic": HeadObjective(one_of, link="softmax", weight=0.3),
        "ner": HeadObjective(one_of, link="softmax", tags_tokens=True, weight=2.5),
    }
    outcome = Learner(Given(logits), objectives)(
        Batch((torch.zeros(3, 1),), heads, rows), torch.Generator()
    )
    chances = {name: logits[name].softmax(-1).tolist() for name in ("topic", "ner")}
    expected = 0.0
    for row, weight in enumerate(rows.tolist()):
        for logit, truth in zip(logits["main"][row].tolist(), target[row].tolist()):
            expected += weight * math.log1p(math.exp(-logit if truth else logit))
        expected -= 0.3 * weight * kept[row].item() * math.log(chances["topic"][row][topic[row]])
        for place, tag in enumerate(tags[row].tolist()):
            expected -= (
                2.5 * weight * math.log(chances["ner"][row][place][tag]) if tag >= 0 else 0.0
            )
    assert outcome.value.item() == pytest.approx(expected, rel=1e-10)
    assert outcome.logits == logits


def test_slots_of_one_head_keep_no_label_of_another_out():
    logits = {"main": random(ROWS, LABELS), "other": random(ROWS, LABELS, seed=3)}
    target, objective = target_of("bce-sum"), HeadObjective(objective_of("bce-sum"), link="sigmoid")
    shown = shown_of(target)
    heads = {"other": HeadBatch(target), "main": HeadBatch(target, shown=shown)}
    network = Given(logits)
    found = Learner(network, {"other": objective, "main": objective})(
        Batch((), heads, None), torch.Generator()
    )
    cells = torch.nn.functional.binary_cross_entropy_with_logits
    alone = cells(logits["other"], target, reduction="sum")
    masked = cells(logits["main"], target, reduction="none")[shown == MASK].sum()
    assert found.value.item() == pytest.approx((alone + masked).item(), rel=1e-10)
    assert network.shown[0] is shown


def test_soft_labels_of_each_head_are_held_against_the_second_head_of_that_head():
    names = ("main", "main soft", "other")
    logits = {name: random(ROWS, LABELS, seed=number) for number, name in enumerate(names)}
    target, soft = target_of("bce-sum"), random(ROWS, LABELS, seed=7).sigmoid()
    loss, beside = BinaryCrossEntropyLoss(reduction="sum"), Beside(link="sigmoid", alpha=0.5)
    objective = HeadObjective(Objective(loss, beside=beside), link="sigmoid")
    batch = Batch((), {name: HeadBatch(target, soft=soft) for name in ("main", "other")}, None)
    found = Learner(Given(logits), {"main": objective, "other": objective})(
        batch, torch.Generator()
    ).value.item()
    expected = 0.0
    for hard, second in (
        ("main", "main soft"),
        ("other", "other"),
    ):  # one without a second head has its own
        value = torch.nn.functional.binary_cross_entropy_with_logits(
            logits[hard], target, reduction="sum"
        )
        error = (logits[second].sigmoid() - soft).square().sum() / LABELS
        expected += (value + 0.5 * error).item() / (2 * 1.5**2)  # KWLS eq. 9
    assert found == pytest.approx(expected, rel=1e-10)


def test_a_head_in_chunks_learns_beside_another_and_its_logits_are_never_made():
    pooled, target = (
        random(3, 2).requires_grad_(),
        torch.tensor([[1.0, 0, 0, 1, 0], [0.0] * 5, [0, 0, 0, 0, 1.0]]),
    )
    linear = torch.nn.Linear(2, 5).double()
    network = Given({"many": None, "main": random(3, 4, seed=1)}, pooled)
    network.heads["many"] = SimpleNamespace(linear=linear, chunk=2, has_slots=False)
    sparse = SparseTarget(torch.tensor([0, 3, 4]), torch.tensor([0, 2, 2, 3]))
    weight, other = torch.tensor([2.0, 0.0, 0.5]).double(), (random(3, 4, seed=2) > 0).double()
    heads = {"many": HeadBatch(sparse, None, weight), "main": HeadBatch(other)}
    bce = Objective(BinaryCrossEntropyLoss(reduction="sum"))
    objectives = {
        "many": HeadObjective(bce, link="sigmoid", weight=0.7),
        "main": HeadObjective(bce, link="sigmoid"),
    }
    found = Learner(network, objectives)(Batch((), heads, None), torch.Generator())
    cells = torch.nn.functional.binary_cross_entropy_with_logits
    whole = (
        cells(pooled @ linear.weight.T + linear.bias, target.double(), reduction="none").sum(1)
        * weight
    ).sum()
    expected = 0.7 * whole + cells(network.logits["main"], other, reduction="sum")
    assert found.value.item() == pytest.approx(expected.item(), rel=1e-10)
    assert list(found.logits) == ["main"]
    parameters = [pooled, *linear.parameters()]
    slopes = (torch.autograd.grad(value, parameters) for value in (found.value, expected))
    for one, by_hand in zip(*slopes):
        torch.testing.assert_close(one, by_hand, rtol=1e-10, atol=1e-12)

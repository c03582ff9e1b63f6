"""What one head learns by, against plain loops: texts, tokens, rows without an answer, labels in
chunks, slots.
"""

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch.nn.functional import binary_cross_entropy_with_logits, linear

from tagwright import registry
from tagwright.batches.rows import HeadBatch, HeadRows
from tagwright.losses import (
    BatchDiceLoss,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    SparseMask,
    SparseTarget,
)
from tagwright.masks.elements import ElementMask
from tagwright.objective import Beside, Objective
from tagwright.training.head_objective import HeadObjective

from ..cloze_cases import MASK, NO, YES
from ..cloze_reference import mean_of_masked

ROWS, LABELS, WIDTH = 5, 6, 3
LOSSES = registry.names("losses")
BCE = Objective(BinaryCrossEntropyLoss(reduction="sum"))
every_weight = pytest.mark.parametrize("weight", [1.0, 0.3])
weighted_or_not = pytest.mark.parametrize("weighted", [False, True])


def random(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def target_of(*, one=False):
    """Labels, of which the second row has none and the third all; or one a row."""
    if one:
        return torch.nn.functional.one_hot(torch.arange(ROWS) * 2 % LABELS, LABELS).double()
    rows = [[0, 0, 1, 0, 1, 0], [0] * 6, [1] * 6, [0, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 0]]
    return torch.tensor(rows).double()


def row_weights(weighted):
    return torch.tensor([0.5, 2.0, 0.0, 1.0, 3.0]).double() if weighted else None


def weight_of(given, row):
    return 1.0 if given is None else given[row].item()


def cross_entropy(logit, truth):
    """Of one label."""
    signed = -logit if truth else logit
    return max(signed, 0.0) + math.log1p(math.exp(-abs(signed)))


def value_of(objective, logits, batch, *, generator=None, soft_logits=None, weight=1.0):
    return HeadObjective(objective, link="sigmoid", weight=weight)(
        logits, batch, soft_logits=soft_logits, generator=generator
    )


@every_weight
@weighted_or_not
@pytest.mark.parametrize("judged", [False, True])
def test_texts_are_a_loop_over_rows_and_the_labels_that_somebody_judged(judged, weighted, weight):
    logits, target, rows = random(ROWS, LABELS), target_of(), row_weights(weighted)
    known = random(ROWS, LABELS, seed=2) > -0.5 if judged else None
    found = value_of(BCE, logits, HeadBatch(target, known, rows), weight=weight)
    expected = 0.0
    for row in range(ROWS):
        for label in range(LABELS):
            if known is None or known[row, label]:
                cell = cross_entropy(logits[row, label].item(), target[row, label].item())
                expected += weight * weight_of(rows, row) * cell
    assert found.item() == pytest.approx(expected, rel=1e-12)


@every_weight
@weighted_or_not
def test_tokens_are_a_loop_over_those_that_have_a_tag(weighted, weight):
    logits, rows = random(ROWS, 4, LABELS), row_weights(weighted)
    tags = torch.tensor([[0, -1, 5, -1], [2, 2, 1, 0], [3, 1, -1, -1], [-1] * 4, [-1, 4, -1, -1]])
    batch = HeadBatch(torch.zeros(ROWS, 0), None, rows, tags=tags)
    objective = HeadObjective(
        Objective(CrossEntropyLoss(reduction="sum")),
        link="softmax",
        tags_tokens=True,
        weight=weight,
    )
    chances, expected = logits.softmax(-1).tolist(), 0.0
    for row, places in enumerate(tags.tolist()):
        for place, tag in enumerate(places):
            expected -= (
                weight * weight_of(rows, row) * math.log(chances[row][place][tag])
                if tag >= 0
                else 0.0
            )
    assert objective(logits, batch, generator=None).item() == pytest.approx(expected, rel=1e-12)


def loss_of(name):
    """The loss, with the facts that it asks for."""
    factory = registry.find("losses", name).factory
    facts = {"label_counts": np.arange(1, LABELS + 1), "row_count": 2 * LABELS}
    wanted = inspect.signature(factory).parameters
    return factory(reduction="sum", **{key: value for key, value in facts.items() if key in wanted})


@pytest.mark.parametrize("name", LOSSES)
def test_rows_without_an_answer_are_as_though_they_were_not_there(name):
    loss = loss_of(name)
    objective, labelled = Objective(loss), np.array([True, False, True, True, False])
    target = target_of(one="many" not in loss.tasks)
    target[~labelled] = 0  # as they come: no label is known of them
    rows = HeadRows(target=csr_array(target.numpy()), labelled=labelled)
    given = torch.tensor([0.5, 2.0, 1.5, 1.0, 3.0]).double()
    batch = rows.batch(np.arange(ROWS), given, None, "cpu")
    kept, found = torch.from_numpy(labelled), []
    for size in (1.0, 1e4):  # whatever the network says of them
        logits = random(ROWS, LABELS + loss.extra_logits)
        logits[~kept] *= size
        logits.requires_grad_()
        value = value_of(objective, logits, batch, weight=0.7)
        found.append((value, torch.autograd.grad(value, logits)[0]))
    few = logits.detach()[kept].requires_grad_()
    alone = 0.7 * objective(few, target[kept], example_weight=given[kept])
    if loss.batchwise:  # the value of a batch, times its rows
        alone = alone / len(few) * ROWS
    (slope,) = torch.autograd.grad(alone, few)
    assert slope.any()
    for value, slopes in found:
        assert value.item() == pytest.approx(alone.item(), rel=1e-9)
        torch.testing.assert_close(slopes[kept], slope, rtol=1e-9, atol=1e-12)
        assert not slopes[~kept].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_a_batch_in_which_no_row_has_an_answer_moves_nothing(name, dtype):
    loss = loss_of(name)
    logits = random(ROWS, LABELS + loss.extra_logits).to(dtype).requires_grad_()
    batch = HeadBatch(torch.zeros(ROWS, LABELS, dtype=dtype), None, torch.zeros(ROWS, dtype=dtype))
    value = value_of(Objective(loss), logits, batch)
    (slope,) = torch.autograd.grad(value, logits)
    assert value.isfinite()
    assert not slope.any()


def named(lists):
    """The ids of all rows, one after the other, and where each row begins."""
    return torch.tensor([i for row in lists for i in row]), torch.tensor(
        [0, *np.cumsum([len(row) for row in lists])]
    )


@every_weight
@weighted_or_not
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_labels_in_chunks_are_the_loss_of_all_logits(chunk, judged, weighted, weight):
    hidden, matrix, bias = (
        random(ROWS, WIDTH),
        random(LABELS, WIDTH, seed=3),
        random(LABELS, seed=4),
    )
    given = [tensor.requires_grad_() for tensor in (hidden, matrix, bias)]
    labels = [[0, 3], [], [1, 2, 4, 5], [2], [5, 0]]
    unjudged = [[1], [0, 5], [], [], [3, 4]] if judged else [[]] * ROWS
    rows = row_weights(weighted)
    target = SparseTarget(*named(labels))
    known = SparseMask(*named(unjudged)) if judged else None
    head = SimpleNamespace(linear=SimpleNamespace(weight=matrix, bias=bias), chunk=chunk)
    objective = HeadObjective(BCE, link="sigmoid", weight=weight)
    found = objective.in_chunks(hidden, head, HeadBatch(target, known, rows))
    logits, expected = linear(hidden, matrix, bias), 0.0
    for row in range(ROWS):
        for label in set(range(LABELS)) - set(unjudged[row]):
            truth = torch.tensor(float(label in labels[row])).double()
            cell = binary_cross_entropy_with_logits(logits[row, label], truth)
            expected = expected + weight * weight_of(rows, row) * cell
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
    for one, by_loops in zip(
        torch.autograd.grad(found, given), torch.autograd.grad(expected, given)
    ):
        torch.testing.assert_close(one, by_loops, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 64])
@pytest.mark.parametrize("name", LOSSES)
def test_a_batch_without_a_label_has_a_slope_of_numbers(name, rows):
    loss = loss_of(name)
    logits = random(rows, LABELS + loss.extra_logits).float().requires_grad_()
    value = value_of(Objective(loss), logits, HeadBatch(torch.zeros(rows, LABELS)))
    assert value.isfinite()
    assert torch.autograd.grad(value, logits)[0].isfinite().all()


@every_weight
@weighted_or_not
@pytest.mark.parametrize("labels", ["sum", "mean"])
def test_slots_that_show_their_answer_count_neither_in_the_sum_nor_in_the_mean(
    labels, weighted, weight
):
    logits, target, rows = random(ROWS, LABELS), target_of(), row_weights(weighted)
    visible, known = random(ROWS, LABELS, seed=5) > 0, random(ROWS, LABELS, seed=6) > -1
    visible[0], visible[-1], known[:2] = False, True, True
    shown = torch.where(visible, torch.where(target > 0, YES, NO), MASK)
    objective = Objective(BinaryCrossEntropyLoss(labels=labels, reduction="sum"))
    found = value_of(objective, logits, HeadBatch(target, known, rows, shown=shown), weight=weight)
    expected = 0.0
    for row in range(ROWS):
        left_out = (visible[row] | ~known[row]).tolist()
        mean = mean_of_masked(logits[row].tolist(), target[row].tolist(), left_out)
        count = left_out.count(False)
        # a mean is over the hidden slots, those that nobody judged among them
        share = count if labels == "sum" else count / max((~visible[row]).sum().item(), 1)
        expected += weight * weight_of(rows, row) * mean * share
    assert found.item() == pytest.approx(expected, rel=1e-12)


@every_weight
def test_soft_labels_take_the_place_of_the_labels_or_stand_beside_them(weight):
    logits, target, soft = random(ROWS, LABELS), target_of(), random(ROWS, LABELS, seed=3).sigmoid()
    batch, second = HeadBatch(target, soft=soft), random(ROWS, LABELS, seed=4)
    found = value_of(BCE, logits, batch, weight=weight)
    expected = weight * binary_cross_entropy_with_logits(logits, soft, reduction="sum")
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
    objective = Objective(
        BinaryCrossEntropyLoss(reduction="sum"), beside=Beside(link="sigmoid", alpha=2.0)
    )
    hard = binary_cross_entropy_with_logits(logits, target, reduction="sum")
    for soft_logits in (None, second):
        error = (
            (logits if soft_logits is None else soft_logits).sigmoid() - soft
        ).square().sum() / LABELS
        found = value_of(objective, logits, batch, weight=weight, soft_logits=soft_logits)
        assert found.item() == pytest.approx((weight * (hard + 2 * error) / 18).item(), rel=1e-12)


def test_excused_labels_and_the_draw_reach_the_mask():
    logits, target, excused = random(ROWS, LABELS), target_of(), random(ROWS, LABELS, seed=3) > 0
    cells = binary_cross_entropy_with_logits(logits, target, reduction="none")
    left = cells.masked_fill(excused & (target == 0), 0)
    objective = Objective(
        BinaryCrossEntropyLoss(reduction="sum"),
        mask_of=ElementMask(plain_share=0.5, draw="example"),
    )
    found = value_of(
        objective,
        logits,
        HeadBatch(target, excused=excused),
        generator=torch.Generator().manual_seed(4),
    )
    plain = torch.rand(ROWS, 1, generator=torch.Generator().manual_seed(4)) < 0.5
    assert 0 < plain.sum() < ROWS
    assert found.item() == pytest.approx(torch.where(plain, cells, left).sum().item(), rel=1e-12)


def test_a_loss_that_looks_at_a_whole_batch_says_so():
    found = [
        HeadObjective(Objective(loss()), link="sigmoid").batchwise
        for loss in (BatchDiceLoss, CrossEntropyLoss)
    ]
    assert found == [True, False]


@pytest.mark.parametrize(
    ("given", "expected"), [({}, 0.3), ({"of_any_text": 0.0}, 0.0), ({"of_any_text": 2.0}, 2.0)]
)
def test_what_is_asked_of_any_text_weighs_as_the_objective_where_nothing_else_is_said(
    given, expected
):
    assert HeadObjective(BCE, link="sigmoid", weight=0.3, **given).of_any_text == expected


def test_it_moves_to_a_device_with_all_that_its_loss_keeps():
    made = HeadObjective(Objective(loss_of("logit_adjusted")), link="softmax").to("meta")
    assert {tensor.device.type for tensor in made.buffers()} == {"meta"}
    assert not list(made.parameters())

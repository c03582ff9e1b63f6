"""Captured steps are the plain loop's steps. A CPU runs them as they are; contract/test_gpu.py
captures them.
"""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn

from tagwright.batches.inputs import TokenInputs
from tagwright.batches.resident import Resident
from tagwright.batches.rows import HeadRows, Rows
from tagwright.tokenizers.tokens import Tokens
from tagwright.training import captured
from tagwright.training.captured import CapturedStep, captured_steps
from tagwright.training.loop import Course, Dial, steps

COUNT, LABELS, BATCH, PER_EPOCH = 29, 3, 5, 6


class Bag(nn.Module):
    """Two layers of rates of their own, so that there are two groups of parameters."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.words, self.labels, self.dropout = (
            nn.Embedding(50, 8),
            nn.Linear(8, LABELS),
            nn.Dropout(dropout),
        )

    def forward(self, ids, lengths):
        inside = torch.arange(ids.shape[1]) < lengths[:, None]
        return self.labels(self.dropout((self.words(ids) * inside[..., None]).sum(1)))


def make_rows(weighted=True):
    random = np.random.default_rng(0)
    lengths = random.integers(1, 40, COUNT)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    inputs = TokenInputs(Tokens(random.integers(1, 50, offsets[-1]).astype(np.int32), offsets))
    main = HeadRows(target=csr_array((random.random((COUNT, LABELS)) < 0.5).astype(np.float32)))
    weight = random.random(COUNT).astype(np.float32) if weighted else None
    return Rows(inputs=inputs, heads={"main": main}, weight=weight)


def with_a_second_head(rows):
    """The same, and another head that learns of some of the rows: of none in the last batch of the
    first epoch.
    """
    random = np.random.default_rng(1)
    target, labelled = (
        csr_array(random.random((COUNT, LABELS)).astype(np.float32)),
        random.random(COUNT) < 0.6,
    )
    labelled[plan(0)[-1]] = False
    return replace(rows, heads={**rows.heads, "other": HeadRows(target=target, labelled=labelled)})


def plan(epoch):
    order = np.random.default_rng(epoch).permutation(COUNT)
    return [order[start : start + BATCH] for start in range(0, COUNT, BATCH)]


def course(total):
    return Course(plan=plan, per_epoch=PER_EPOCH, total=total)


def factor(step):
    return 1 - step / 20


class Case:
    def __init__(self, dropout=0.0, weighted=True):
        torch.manual_seed(0)
        self.network, self.rows = Bag(dropout), make_rows(weighted)
        groups = [
            {"params": self.network.words.parameters(), "lr": 0.02},
            {"params": self.network.labels.parameters()},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=0.05, fused=True)

    def loss_of(self, batch, generator):
        logits = self.network(*batch.inputs)
        return sum(self.of_head(logits, own) for own in batch.heads.values())

    def of_head(self, logits, own):
        values = nn.functional.binary_cross_entropy_with_logits(
            logits, own.target, reduction="none"
        ).sum(1)
        return (values * (1 if own.weight is None else own.weight)).sum()

    def plain(self, total, **options):
        def of_rows(index, generator):
            return self.loss_of(self.rows.batch(index, "cpu"), generator)

        return list(steps(self.network, self.optimizer, course(total), of_rows, factor, **options))

    def captured(self, total, start=0, accumulate=1, clip=0.0, dials=(), **options):
        step = CapturedStep(
            Resident(self.rows, torch.device("cpu")),
            self.network,
            self.optimizer,
            self.loss_of,
            batch=BATCH,
            accumulate=accumulate,
            clip=clip,
            dials=dials,
        )
        return list(captured_steps(step, course(total), factor, start=start, **options))

    @property
    def weights(self):
        return {name: value.clone() for name, value in self.network.state_dict().items()}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("options", [{}, {"clip": 0.3}, {"accumulate": 2}])
def test_steps_are_those_of_the_plain_loop(options, weighted):
    one, other = Case(weighted=weighted), Case(weighted=weighted)
    plain, found = one.plain(14, **options), other.captured(14, **options)
    assert [s.loss for s in found] == pytest.approx([s.loss for s in plain], rel=1e-5)
    assert [(s.number, s.epoch, s.rate) for s in found] == [
        (s.number, s.epoch, s.rate) for s in plain
    ]
    torch.testing.assert_close(other.weights, one.weights, rtol=1e-4, atol=1e-6)


def in_loops(case, index):
    """The mean loss of a batch's rows, head by head, row by row, label by label."""
    ids, offsets = case.rows.inputs.tokens.ids, case.rows.inputs.tokens.offsets
    words, (matrix, bias) = (
        case.network.words.weight.tolist(),
        (p.tolist() for p in case.network.labels.parameters()),
    )
    total = 0.0
    for row in index:
        own = [words[i] for i in ids[offsets[row] : offsets[row + 1]]]
        vector = [sum(column) for column in zip(*own)]
        for head in case.rows.heads.values():
            weight = 1.0 if case.rows.weight is None else float(case.rows.weight[row])
            weight *= 1.0 if head.labelled is None else float(head.labelled[row])
            for label, truth in enumerate(head.target.toarray()[row].tolist()):
                logit = sum(w * x for w, x in zip(matrix[label], vector)) + bias[label]
                total += weight * (
                    math.log1p(math.exp(-abs(logit))) + max(logit, 0.0) - truth * logit
                )
    return total / len(index)


@pytest.mark.parametrize("weighted", [True, False])
def test_a_row_weighs_nothing_for_a_head_that_has_no_answer_to_it(weighted):
    one, other = Case(weighted=weighted), Case(weighted=weighted)
    for case in (one, other):
        case.rows = with_a_second_head(case.rows)
    first = in_loops(one, plan(0)[0])
    plain, found = one.plain(PER_EPOCH - 1), other.captured(PER_EPOCH - 1)
    assert plain[0].loss == pytest.approx(first, rel=1e-5)
    last = in_loops(one, plan(0)[-1])  # short, and the second head has no answer in it
    plain, again = (
        one.plain(PER_EPOCH, start=PER_EPOCH - 1),
        other.captured(PER_EPOCH, start=PER_EPOCH - 1),
    )
    assert plain[0].loss == pytest.approx(last, rel=1e-5)
    assert [s.loss for s in found + again][:: PER_EPOCH - 1] == pytest.approx(
        [first, last], rel=1e-4
    )
    torch.testing.assert_close(other.weights, one.weights, rtol=1e-4, atol=1e-6)


def test_a_last_short_batch_is_not_a_larger_step():
    one, other = Case(), Case()
    assert len(plan(0)[-1]) < BATCH
    one.plain(PER_EPOCH)
    other.captured(PER_EPOCH)
    torch.testing.assert_close(other.weights, one.weights, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_going_on_from_any_step_gives_the_same_bits(cut):
    whole, second = Case(dropout=0.3), Case(dropout=0.3)
    whole.captured(14)
    second.captured(cut)
    state = copy.deepcopy(second.optimizer.state_dict())
    fresh = Case(dropout=0.3)
    fresh.network.load_state_dict(second.weights)
    fresh.optimizer.load_state_dict(state)
    fresh.captured(14, start=cut)
    assert all(torch.equal(value, fresh.weights[name]) for name, value in whole.weights.items())


def test_dropout_differs_from_step_to_step_and_with_the_seed():
    drawn = [[s.loss for s in Case(dropout=0.5).captured(4, seed=seed)] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_only_the_last_of_a_group_is_settled(monkeypatch):
    monkeypatch.setattr(captured, "GROUP", 4)
    found = Case().captured(14, due=lambda number: number % 6 == 0)
    # groups of 1, 2, 4, … steps, each no longer than to the next that is due
    assert [s.number for s in found if s.settled] == [1, 3, 6, 10, 12, 14]


def test_slow_groups_become_smaller(monkeypatch):
    monkeypatch.setattr(captured, "PATIENCE", -1.0)
    assert all(s.settled for s in Case().captured(5))


def test_a_settled_step_has_the_weights_of_that_step():
    reference = {}
    for total in (1, 3, 7):
        case = Case()
        case.plain(total)
        reference[total] = case.weights
    case = Case()
    step = CapturedStep(
        Resident(case.rows, torch.device("cpu")),
        case.network,
        case.optimizer,
        case.loss_of,
        batch=BATCH,
    )
    for one in captured_steps(step, course(7), factor):
        if one.settled:
            torch.testing.assert_close(case.weights, reference[one.number], rtol=1e-4, atol=1e-6)


def test_the_optimizer_has_plain_rates_afterwards():
    case = Case()
    case.captured(3)
    assert [group["lr"] for group in case.optimizer.param_groups] == pytest.approx(
        [0.02 * 0.9, 0.05 * 0.9]
    )
    assert {type(group["lr"]) for group in case.optimizer.param_groups} == {float}
    assert case.optimizer.state_dict()["param_groups"][0]["capturable"] is False
    case.plain(5, start=3)


def test_dials_turn_with_the_steps_in_both_loops():
    found = []
    for kind in ("plain", "captured"):
        case, dial = Case(), Dial(torch.zeros(()), lambda step: float(step >= 3))
        whole = case.loss_of
        case.loss_of = lambda batch, generator, whole=whole, dial=dial: (
            whole(batch, generator) * (1 + dial.tensor)
        )
        if kind == "plain":
            losses = [step.loss for step in case.plain(7, dials=[dial])]
        else:
            losses = [step.loss for step in case.captured(7, dials=[dial])]
        found.append((losses, case.weights))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-5)
    assert found[0][0][3] > 1.5 * found[0][0][2]
    torch.testing.assert_close(found[1][1], found[0][1], rtol=1e-4, atol=1e-6)

"""Captured steps of tagged tokens are the plain loop's, and the mean is one over tokens however a
batch is cut.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn

from tagwright.batches.resident import Resident
from tagwright.batches.rows import HeadRows, Rows
from tagwright.batches.token_windows import TagInputs, placed
from tagwright.labels.space import LabelSpace
from tagwright.objective import build_objective
from tagwright.settings.schema import resolve
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.captured import CapturedStep, captured_steps
from tagwright.training.loop import Course, steps

TAGS, BATCH, LIMIT = 4, 6, 9
SPACE = LabelSpace(names=("O", "B-X", "I-X", "B-Y"), counts=(50, 8, 5, 3), exclusive=True)


class Places(nn.Module):
    """A position's tag from its id alone."""

    def __init__(self):
        super().__init__()
        self.words, self.tags = nn.Embedding(60, 8), nn.Linear(8, TAGS)

    def forward(self, ids, lengths):
        return self.tags(self.words(ids))


def make_rows(weighted):
    random = np.random.default_rng(0)
    sizes = random.integers(1, 3, 150)
    pieces = Tokens(
        random.integers(1, 60, sizes.sum()).astype(np.int32),
        np.concatenate([[0], np.cumsum(sizes)]),
    )
    # text 0 fills up, and has tags
    offsets = np.concatenate([[0], np.sort(random.integers(5, 150, 20)), [150]])
    inputs = TagInputs(placed(pieces, offsets, limit=LIMIT, overlap=4), LIMIT)
    own = random.integers(0, TAGS, 150)
    tags = np.where(inputs.places.owner < 0, -1, own[inputs.places.owner])
    weight = random.random(len(inputs.lengths)).astype(np.float32) if weighted else None
    nothing = csr_array((len(inputs.lengths), 0), dtype=np.float32)
    return Rows(inputs=inputs, heads={"main": HeadRows(target=nothing, tags=tags)}, weight=weight)


class Case:
    def __init__(self, objective="pbp", weighted=False):
        torch.manual_seed(0)
        self.network, self.rows = Places(), make_rows(weighted)
        self.objective = build_objective(
            resolve({"objective": objective}, "tokens"), SPACE, row_count=150
        )
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=0.05, fused=True)
        self.per_epoch = -(-len(self.rows.inputs.lengths) // BATCH)

    def plan(self, epoch):
        order = np.random.default_rng(epoch).permutation(len(self.rows.inputs.lengths))
        return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]

    def course(self, total):
        sizes = self.rows.sizes
        size = lambda index: max(int(sizes[index].sum()), 1)  # noqa: E731
        return Course(plan=self.plan, per_epoch=self.per_epoch, total=total, size=size)

    def loss_of(self, batch, generator):
        logits = self.network(*batch.inputs)
        values = (
            self.objective.of_tokens(logits, own.tags, weight=own.weight)
            for own in batch.heads.values()
        )
        return sum(values)

    def plain(self, total, **options):
        def of_rows(index, generator):
            return self.loss_of(self.rows.batch(index, "cpu"), generator)

        return list(
            steps(
                self.network,
                self.optimizer,
                self.course(total),
                of_rows,
                lambda step: 1.0,
                **options,
            )
        )

    def captured(self, total, start=0, **options):
        resident = Resident(self.rows, torch.device("cpu"))
        step = CapturedStep(
            resident, self.network, self.optimizer, self.loss_of, batch=BATCH, **options
        )
        return list(captured_steps(step, self.course(total), lambda step: 1.0, start=start))

    @property
    def weights(self):
        return {name: value.clone() for name, value in self.network.state_dict().items()}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"clip": 0.3}, {"accumulate": 3}], ids=str)
@pytest.mark.parametrize("objective", ["cross_entropy", "pbp", "cecl-ee"])
def test_steps_are_those_of_the_plain_loop(objective, options, weighted):
    one, other = Case(objective, weighted), Case(objective, weighted)
    total = one.per_epoch + 3  # past the short batches, which the captured step fills up
    assert any(len(index) < BATCH for index in one.plan(0))
    plain, found = one.plain(total, **options), other.captured(total, **options)
    assert [s.loss for s in found] == pytest.approx([s.loss for s in plain], rel=1e-5)
    torch.testing.assert_close(other.weights, one.weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("accumulate", [2, 3, 5])
def test_the_parts_that_a_batch_is_cut_into_change_nothing(accumulate):
    whole, cut = Case(), Case()
    expected, found = whole.plain(6), cut.plain(6, accumulate=accumulate)
    assert [s.loss for s in found] == pytest.approx([s.loss for s in expected], rel=1e-5)
    torch.testing.assert_close(cut.weights, whole.weights, rtol=1e-4, atol=1e-5)


def counted(case, head):
    """The loss of every token of the first batch that has a tag of the head, one after the
    other.
    """
    tokens = case.rows.batch(case.plan(0)[0], "cpu")
    with torch.no_grad():
        chances = case.network(*tokens.inputs).double().log_softmax(-1)
    return [
        -chances[row, place, tag].item()
        for row, tags in enumerate(tokens.heads[head].tags.tolist())
        for place, tag in enumerate(tags)
        if tag >= 0
    ]


def test_the_first_loss_is_the_mean_over_the_tokens_of_the_batch():
    case = Case("cross_entropy")
    found = counted(case, "main")
    assert case.plain(1)[0].loss == pytest.approx(sum(found) / len(found), rel=1e-5)


@pytest.mark.parametrize("kind", ["plain", "captured"])
@pytest.mark.parametrize("order", [["main", "other"], ["other", "main"]], ids="+".join)
def test_a_second_head_adds_its_tokens_to_the_mean_and_divides_by_no_more(kind, order):
    case = Case("cross_entropy")
    main = case.rows.heads["main"]
    some = np.where(
        np.random.default_rng(1).random(len(main.tags)) < 0.4, (main.tags + 1) % TAGS, -1
    )
    other = replace(main, tags=np.where(main.tags < 0, -1, some))
    heads = {"main": main, "other": other}
    case.rows = replace(case.rows, heads={name: heads[name] for name in order})
    first, second = counted(case, "main"), counted(case, "other")
    assert 0 < len(second) < len(first)
    found = getattr(case, kind)(1)[0].loss
    assert found == pytest.approx((sum(first) + sum(second)) / len(first), rel=1e-5)


@pytest.mark.parametrize("cut", [1, 4])
def test_going_on_from_any_step_gives_the_same_bits(cut):
    whole, second, fresh = Case(), Case(), Case()
    whole.captured(9)
    second.captured(cut)
    fresh.network.load_state_dict(second.weights)
    fresh.optimizer.load_state_dict(copy.deepcopy(second.optimizer.state_dict()))
    fresh.captured(9, start=cut)
    assert all(torch.equal(value, fresh.weights[name]) for name, value in whole.weights.items())

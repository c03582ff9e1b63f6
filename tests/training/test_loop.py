"""The loop: what one step is, however its batch is cut and whichever step comes first."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from tagwright.training.loop import Course, steps

COUNT, WIDTH, LABELS, BATCH = 29, 7, 3, 5
PER_EPOCH = 6


def plan(epoch):
    order = np.random.default_rng(epoch).permutation(COUNT)
    return [order[start : start + BATCH] for start in range(0, COUNT, BATCH)]


def make(dtype=torch.float64, rate=0.1, maker=torch.optim.SGD):
    torch.manual_seed(0)
    inputs = torch.randn(COUNT, WIDTH, dtype=dtype)
    target = (torch.rand(COUNT, LABELS) > 0.5).to(dtype)
    network = nn.Linear(WIDTH, LABELS).to(dtype)

    def loss_of(rows, generator):
        return nn.functional.binary_cross_entropy_with_logits(
            network(inputs[rows]), target[rows], reduction="sum"
        )

    return network, maker(network.parameters(), lr=rate), loss_of


def trained(
    total=9, factor=lambda step: 1.0, dtype=torch.float64, maker=torch.optim.SGD, **options
):
    network, optimizer, loss_of = make(dtype, maker=maker)
    course = Course(plan=plan, per_epoch=PER_EPOCH, total=total)
    seen = list(steps(network, optimizer, course, loss_of, factor, **options))
    return network, seen


def by_hand(total=9, factor=lambda step: 1.0, clip=None, rate=0.1):
    """The same in numpy: mean gradient of the batch, clipped, times the rate."""
    network, _, _ = make()
    torch.manual_seed(0)
    inputs = torch.randn(COUNT, WIDTH, dtype=torch.float64).numpy()
    target = (torch.rand(COUNT, LABELS) > 0.5).double().numpy()
    weight, bias = network.weight.detach().numpy().copy(), network.bias.detach().numpy().copy()
    for step in range(total):
        rows = plan(step // PER_EPOCH)[step % PER_EPOCH]
        wrong = (1 / (1 + np.exp(-(inputs[rows] @ weight.T + bias))) - target[rows]) / len(rows)
        by_weight, by_bias = wrong.T @ inputs[rows], wrong.sum(0)
        norm = np.sqrt((by_weight**2).sum() + (by_bias**2).sum())
        shrink = 1.0 if clip is None else min(1.0, clip / (norm + 1e-6))
        weight -= rate * factor(step) * shrink * by_weight
        bias -= rate * factor(step) * shrink * by_bias
    return weight, bias


def test_a_step_is_the_mean_gradient_times_the_rate():
    network, _ = trained()
    weight, bias = by_hand()
    np.testing.assert_allclose(network.weight.detach().numpy(), weight, rtol=1e-12)
    np.testing.assert_allclose(network.bias.detach().numpy(), bias, rtol=1e-12)


@pytest.mark.parametrize("accumulate", [2, 3, 100])
@pytest.mark.parametrize("maker", [torch.optim.SGD, torch.optim.AdamW])
def test_a_batch_in_parts_gives_the_weights_of_one_batch(accumulate, maker):
    whole, seen = trained(maker=maker)
    cut, seen_cut = trained(accumulate=accumulate, maker=maker)
    torch.testing.assert_close(cut.weight, whole.weight, rtol=1e-12, atol=1e-14)
    assert [s.loss for s in seen_cut] == pytest.approx([s.loss for s in seen], rel=1e-12)


@pytest.mark.parametrize("accumulate", [2, 3])
def test_in_float32_parts_agree_to_a_millionth(accumulate):
    whole, _ = trained(dtype=torch.float32)
    cut, _ = trained(dtype=torch.float32, accumulate=accumulate)
    torch.testing.assert_close(cut.weight, whole.weight, rtol=0, atol=1e-6)


def test_factors_of_the_schedule_are_applied_and_reported():
    def factor(step):
        return (step + 1) / 9

    network, seen = trained(factor=factor)
    np.testing.assert_allclose(
        network.weight.detach().numpy(), by_hand(factor=factor)[0], rtol=1e-12
    )
    assert [s.rate for s in seen] == pytest.approx([0.1 * (n + 1) / 9 for n in range(9)])


def test_a_factor_of_zero_moves_nothing():
    network, _ = trained(factor=lambda step: 0.0)
    assert torch.equal(network.weight, make()[0].weight)


@pytest.mark.parametrize("accumulate", [1, 3])
def test_clipping_bounds_the_norm_of_the_whole_gradient(accumulate):
    network, _ = trained(clip=0.05, accumulate=accumulate)
    np.testing.assert_allclose(network.weight.detach().numpy(), by_hand(clip=0.05)[0], rtol=1e-10)


def test_no_clipping_at_zero():
    unclipped, _ = trained(clip=0.0)
    np.testing.assert_allclose(unclipped.weight.detach().numpy(), by_hand()[0], rtol=1e-12)


def test_steps_count_from_one_and_epochs_are_fractions():
    _, seen = trained(total=7)
    assert [s.number for s in seen] == [1, 2, 3, 4, 5, 6, 7]
    assert seen[2].epoch == 0.5
    assert seen[6].epoch == pytest.approx(7 / 6)


def test_every_row_is_seen_once_an_epoch():
    course = Course(plan=plan, per_epoch=PER_EPOCH, total=12)
    for epoch in range(2):
        rows = np.concatenate(
            [course.rows(epoch * PER_EPOCH + position) for position in range(PER_EPOCH)]
        )
        assert sorted(rows) == list(range(COUNT))


def test_nothing_is_left_to_do_past_the_end():
    _, seen = trained(total=5, start=5)
    assert seen == []


@pytest.mark.parametrize("cut", [1, 4, 6, 8])
def test_going_on_from_any_step_gives_the_same_bits(cut):
    def factor(step):
        return 1 - step / 9

    whole, _ = trained(factor=factor, maker=torch.optim.AdamW)
    network, optimizer, loss_of = make(maker=torch.optim.AdamW)
    list(
        steps(
            network, optimizer, Course(plan=plan, per_epoch=PER_EPOCH, total=cut), loss_of, factor
        )
    )
    state = copy.deepcopy(optimizer.state_dict())
    second = torch.optim.AdamW(network.parameters(), lr=0.1)
    second.load_state_dict(state)
    list(
        steps(
            network,
            second,
            Course(plan=plan, per_epoch=PER_EPOCH, total=9),
            loss_of,
            factor,
            start=cut,
        )
    )
    assert torch.equal(network.weight, whole.weight)


def test_what_a_step_draws_depends_on_seed_and_step_alone():
    def drawn(start, seed):
        network, optimizer, _ = make()
        found = []

        def loss_of(rows, generator):
            found.append((torch.rand(1, generator=generator).item(), torch.rand(1).item()))
            return network.weight.sum()

        course = Course(plan=plan, per_epoch=PER_EPOCH, total=5)
        list(steps(network, optimizer, course, loss_of, lambda step: 1.0, start=start, seed=seed))
        return found

    assert drawn(0, 1)[2:] == drawn(2, 1)
    assert drawn(0, 1) != drawn(0, 2)
    assert len(set(drawn(0, 1))) == 5


def test_the_network_trains_in_training_mode_again_after_an_evaluation():
    network, optimizer, loss_of = make()
    course = Course(plan=plan, per_epoch=PER_EPOCH, total=3)
    modes = []

    def watching(rows, generator):
        modes.append(network.training)
        return loss_of(rows, generator)

    for _ in steps(network, optimizer, course, watching, lambda step: 1.0):
        network.eval()
    assert modes == [True, True, True]


def crowding(loss_of, most, seen):
    """A loss that a device's memory holds for so many rows at once."""

    def limited(rows, generator):
        seen.append(len(rows))
        if len(rows) > most:
            torch.rand(3)  # a retry must not notice what was drawn
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB. GPU 0 has …")
        return loss_of(rows, generator) * torch.rand(1, generator=generator).item()

    return limited


@pytest.mark.parametrize(("most", "parts"), [(2, 4), (3, 2), (1, 8)])
def test_memory_that_runs_out_cuts_batches_from_there_on_as_if_they_always_had_been(most, parts):
    results, asked = [], []
    for accumulate, limit in ((1, most), (parts, 99)):
        network, optimizer, loss_of = make(maker=torch.optim.AdamW)
        seen, course = [], Course(plan=plan, per_epoch=PER_EPOCH, total=4)
        options = {
            "accumulate": accumulate,
            "crowded": lambda parts, rows: asked.append((parts, rows)) or 2 * parts,
        }
        list(
            steps(
                network,
                optimizer,
                course,
                crowding(loss_of, limit, seen),
                lambda step: 1.0,
                **options,
            )
        )
        results.append((network.weight, seen))
    assert torch.equal(results[0][0], results[1][0])
    assert [count for count in results[0][1] if count <= most][: len(results[1][1])] == results[1][
        1
    ]
    assert asked == [(2**power, BATCH) for power in range(parts.bit_length() - 1)]


def test_nobody_to_ask_lets_the_error_out():
    network, optimizer, loss_of = make()
    course = Course(plan=plan, per_epoch=PER_EPOCH, total=1)
    with pytest.raises(torch.OutOfMemoryError):
        list(steps(network, optimizer, course, crowding(loss_of, 1, []), lambda step: 1.0))

"""RowAdagrad against plain loops and torch's Adagrad."""

import copy

import pytest
import torch
from torch import Tensor

from tagwright.errors import SettingsError, ShapeError
from tagwright.training.optimizers.row_adagrad import RowAdagrad


def gradients(steps: int, width: int, labels: int, *, seed: int = 0) -> list[tuple[Tensor, Tensor]]:
    """For each step some rows, ascending, and their gradients."""
    generator = torch.Generator().manual_seed(seed)
    chosen = [
        torch.rand(width, generator=generator).argsort()[: width // 2].sort().values
        for _ in range(steps)
    ]
    return [
        (rows, torch.randn(len(rows), labels, generator=generator, dtype=torch.float64))
        for rows in chosen
    ]


def sparse(rows: Tensor, values: Tensor, width: int) -> Tensor:
    return torch.sparse_coo_tensor(
        rows[None], values, (width, values.shape[1]), is_coalesced=True, check_invariants=True
    )


def run(
    weight: Tensor, optimizer: torch.optim.Optimizer, steps: list[tuple[Tensor, Tensor]]
) -> None:
    for rows, values in steps:
        weight.grad = sparse(rows, values, len(weight))
        optimizer.step()


def test_sparse_steps_equal_plain_loops() -> None:
    weight, steps = torch.ones(41, 7, dtype=torch.float64, requires_grad=True), gradients(5, 41, 7)
    run(weight, RowAdagrad([weight], lr=0.3, floor=0.5), steps)
    expected, squares = [[1.0] * 7 for _ in range(41)], [0.25] * 41
    for rows, values in steps:
        for row, value in zip(rows.tolist(), values.tolist()):
            squares[row] += sum(v * v for v in value)
            expected[row] = [
                w - 0.3 * v / squares[row] ** 0.5 for w, v in zip(expected[row], value)
            ]
    torch.testing.assert_close(
        weight.detach(), torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=0
    )


def test_one_label_equals_torch_adagrad() -> None:
    ours, theirs = (torch.ones(23, 1, dtype=torch.float64, requires_grad=True) for _ in range(2))
    steps = gradients(6, 23, 1)
    run(ours, RowAdagrad([ours], lr=0.3, floor=0.5), steps)
    run(
        theirs,
        torch.optim.Adagrad([theirs], lr=0.3, initial_accumulator_value=0.25, eps=0.0),
        steps,
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)


def test_a_dense_gradient_equals_torch_adagrad() -> None:
    ours, theirs = (torch.ones(9, dtype=torch.float64, requires_grad=True) for _ in range(2))
    pairs = [RowAdagrad([ours], lr=0.3, floor=0.5)]
    pairs.append(torch.optim.Adagrad([theirs], lr=0.3, initial_accumulator_value=0.25, eps=0.0))
    for step in range(4):
        ours.grad = theirs.grad = torch.arange(9, dtype=torch.float64) - step
        for optimizer in pairs:
            optimizer.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)


def test_many_blocks_equal_one_row_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = (torch.zeros(41, 7, dtype=torch.float64, requires_grad=True) for _ in range(2))
    run(whole, RowAdagrad([whole]), gradients(3, 41, 7))
    monkeypatch.setattr("tagwright.training.optimizers.row_adagrad._BLOCK", 21)
    run(parts, RowAdagrad([parts]), gradients(3, 41, 7))
    assert torch.equal(whole, parts)


def test_rows_without_gradient_stay() -> None:
    weight = torch.ones(5, 3, dtype=torch.float64, requires_grad=True)
    run(
        weight,
        RowAdagrad([weight]),
        [(torch.tensor([1, 4]), torch.ones(2, 3, dtype=torch.float64))],
    )
    assert (weight == 1).all(dim=1).tolist() == [True, False, True, True, False]


def test_a_resumed_run_ends_in_the_same_bits() -> None:
    through = torch.zeros(41, 7, dtype=torch.float64, requires_grad=True)
    steps, optimizer = gradients(6, 41, 7), RowAdagrad([through], lr=0.7, floor=0.1)
    run(through, optimizer, steps[:3])
    saved, weights = copy.deepcopy(optimizer.state_dict()), through.detach().clone()
    run(through, optimizer, steps[3:])
    resumed = weights.requires_grad_()
    again = RowAdagrad([resumed])
    again.load_state_dict(saved)
    run(resumed, again, steps[3:])
    assert torch.equal(through, resumed)


def test_a_schedule_moves_its_learning_rate() -> None:
    weight = torch.zeros(3, requires_grad=True)
    optimizer = RowAdagrad([weight], lr=1.0, floor=1e3)
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5)
    weight.grad = torch.ones(3)
    optimizer.step()
    torch.testing.assert_close(weight.detach(), torch.full((3,), -0.5e-3))


def test_a_row_given_twice_counts_as_its_sum() -> None:
    twice, once = (torch.zeros(5, 2, requires_grad=True) for _ in range(2))
    twice.grad = torch.sparse_coo_tensor(
        [[3, 1, 1]], [[5.0, 5.0], [1.0, 2.0], [3.0, 4.0]], (5, 2), check_invariants=True
    )
    once.grad = sparse(torch.tensor([1, 3]), torch.tensor([[4.0, 6.0], [5.0, 5.0]]), 5)
    for weight in (twice, once):
        RowAdagrad([weight]).step()
    torch.testing.assert_close(twice, once)


def test_sparse_gradients_of_a_vector_are_refused() -> None:
    weight = torch.zeros(5, requires_grad=True)
    weight.grad = torch.sparse_coo_tensor([[1]], [1.0], (5,), check_invariants=True)
    with pytest.raises(ShapeError, match=r"\(d, L\) weights only"):
        RowAdagrad([weight]).step()


def test_a_floor_of_zero_is_refused() -> None:
    with pytest.raises(SettingsError, match="floor > 0"):
        RowAdagrad([torch.zeros(2, requires_grad=True)], floor=0.0)

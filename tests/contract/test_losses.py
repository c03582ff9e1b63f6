"""Every loss keeps the same promises: a file added to the folder is tested here with no edit.

Where a loss has extra logits (a threshold class), they stand after those of the labels.
"""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
import torch
from torch import Tensor, nn

import tagwright.losses
from tagwright import registry
from tagwright.errors import ShapeError
from tagwright.losses import SparseMask, SparseTarget

from .loss_cases import LABELS, NAMES, ROWS, SPARSE, Loss, cells, same

SHARED = {"mask", "positive_weight", "negative_weight"}
no_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, no_gpu])])
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=NAMES)
def loss(request: pytest.FixtureRequest, device: str) -> Loss:
    return Loss(request.param, device)


def test_package_names_the_function_even_after_the_submodule_is_imported():
    assert {"bce", "cross_entropy", "zlpr"} <= set(NAMES)
    for name in NAMES:
        exec(f"import tagwright.losses.{name}; assert callable(tagwright.losses.{name})", {})
        assert getattr(tagwright.losses, name) is getattr(
            import_module(f"tagwright.losses.{name}"), name
        )


def test_importing_the_submodule_first_of_all_leaves_the_name_to_the_function():
    code = "import tagwright.losses.zlpr; assert tagwright.losses.zlpr.__name__ == 'zlpr'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_loss_declares_what_it_is(loss: Loss):
    module = loss.module
    assert issubclass(module, nn.Module)
    assert getattr(tagwright.losses, module.__name__) is module
    assert module.link in {"sigmoid", "sigmoid2", "softmax", "threshold_class", "none"}
    assert set() < set(module.tasks) <= {"one", "many", "tokens"}
    assert [type(module.soft), type(module.batchwise), type(module.extra_logits)] == [
        bool,
        bool,
        int,
    ]
    assert module.unsure_by in {None, *registry.options(module)}


def test_function_and_module_share_their_signature(loss: Loss):
    function, forward = (inspect.signature(f).parameters for f in (loss.plain, loss.module.forward))
    assert list(function)[:2] == list(forward)[1:3] == ["logits", "target"]
    assert function.keys() >= {*SHARED, "validate"}
    assert forward["example_weight"].default is None
    own = {*SHARED, "validate", "example_weight"}
    settings = {key: value for key, value in registry.options(loss.plain).items() if key not in own}
    assert settings.items() <= registry.options(loss.module).items()


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_one_value_an_example_and_a_mean_of_none_is_zero(loss: Loss, rows: int):
    values = loss.function(loss.logits(rows), loss.target(rows))
    assert tuple(values.shape) in ({(LABELS,), (1,)} if loss.module.batchwise else {(rows,)})
    assert rows or loss.module.batchwise or loss.made()(loss.logits(0), loss.target(0)) == 0


def test_gradient_is_that_of_the_value(loss: Loss):
    target = loss.target()
    extras = loss.extras(target)
    logits = loss.logits().requires_grad_()
    soft = torch.softmax(loss.logits(seed=5)[:, :LABELS], -1)
    for truth, more in (
        (target, {}),
        (target, extras),
        *([(soft, extras)] if loss.module.soft else []),
    ):
        assert torch.autograd.gradcheck(
            lambda scores, truth=truth, more=more: loss.function(scores, truth, **more), logits
        )


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str
)
def test_enormous_logits_keep_value_and_gradient_finite(loss: Loss, dtype: torch.dtype):
    target = loss.target()
    mixed = loss.logits().sign() * 1e4
    for logits in (mixed.to(dtype), mixed.abs().to(dtype), -mixed.abs().to(dtype)):
        for extras in ({}, loss.extras(target)):
            assert loss.function(logits, target, **extras).isfinite().all()
            assert loss.slope(logits, target, **extras).isfinite().all()


@pytest.mark.parametrize("name", ["positive_weight", "negative_weight"])
def test_weight_of_zero_keeps_value_and_gradient_finite(loss: Loss, name: str):
    zero = {name: torch.zeros(LABELS, dtype=torch.float64, device=loss.device)}
    assert loss.function(loss.logits(), loss.target(), **zero).isfinite().all()
    assert loss.slope(loss.logits(), loss.target(), **zero).isfinite().all()


@pytest.mark.parametrize("scale", [1, 10, 30])
def test_float32_agrees_with_float64(loss: Loss, scale: int):
    logits, target = (scale * loss.logits()).float(), loss.target()
    extras = loss.extras(target, torch.float32)
    assert loss.function(logits, target, **extras).dtype == torch.float32
    same(
        loss.function(logits, target, **extras),
        loss.function(logits.double(), target, **extras),
        1e-5,
    )
    same(loss.slope(logits, target, **extras), loss.slope(logits.double(), target, **extras), 1e-5)


def test_million_labels_agree_with_float64(loss: Loss):
    logits, target = loss.logits(2, 1_000_003).float(), loss.target(2, 1_000_003)
    assert loss.function(logits, target).isfinite().all()
    same(loss.function(logits, target), loss.function(logits.double(), target), 1e-5)


def test_bfloat16_logits_are_summed_in_float32(loss: Loss):
    logits, target = loss.logits(3, 4001), loss.target(3, 4001)
    values = loss.function(logits.bfloat16(), target)
    assert values.dtype == torch.float32
    same(values, loss.function(logits.bfloat16().double(), target), 1e-5)
    same(values, loss.function(logits.float(), target), 2e-2)


def test_autocast_changes_nothing(loss: Loss):
    logits, target = loss.logits().float(), loss.target().float()
    with torch.autocast(loss.device, dtype=torch.bfloat16):
        values = loss.function(logits, target)
    same(values, loss.function(logits, target), 1e-6)


def test_order_of_the_examples_only_orders_the_values(loss: Loss):
    logits, target = loss.logits(), loss.target()
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(3)).to(loss.device)
    extras = loss.extras(target)
    expected = loss.function(logits, target, **extras)
    actual = loss.function(
        logits[order], target[order], **{**extras, "mask": extras["mask"][order]}
    )
    same(actual, expected if loss.module.batchwise else expected[order])


def test_order_of_the_labels_changes_nothing(loss: Loss):
    logits, target = loss.logits(), loss.target()
    order = torch.randperm(LABELS, generator=torch.Generator().manual_seed(3)).to(loss.device)
    columns = torch.cat([order, torch.arange(LABELS, logits.shape[1], device=loss.device)])
    extras = loss.extras(target)
    expected = loss.function(logits, target, **extras)
    moved = {key: value[..., order] for key, value in extras.items()}
    facts = {k: v[order] if isinstance(v, Tensor) else v for k, v in loss.facts(LABELS).items()}
    actual = loss.plain(logits[:, columns], target[:, order], **moved, **facts)
    same(actual, expected[order] if loss.module.batchwise and len(expected) > 1 else expected)


@pytest.mark.parametrize("anything", [1e4, -1e4, float("nan"), float("inf"), -float("inf")])
def test_masked_label_has_no_say_and_no_gradient(loss: Loss, anything: float):
    logits, target = loss.logits(), loss.target()
    mask = loss.extras(target)["mask"]
    other = logits.clone()
    other[:, :LABELS][~mask] = anything
    same(loss.function(other, target, mask=mask), loss.function(logits, target, mask=mask))
    slope = loss.slope(other, target, mask=mask)
    assert (slope[:, :LABELS][~mask] == 0).all()
    same(slope, loss.slope(logits, target, mask=mask))


@pytest.mark.parametrize("name", sorted(SHARED))
def test_mask_that_covers_nothing_and_weights_of_one_change_nothing(loss: Loss, name: str):
    logits, target = loss.logits(), loss.target()
    ones = torch.ones_like(target, dtype=torch.bool if name == "mask" else None)
    same(loss.function(logits, target, **{name: ones}), loss.function(logits, target))


def test_weights_may_be_given_for_labels_or_for_cells(loss: Loss):
    logits, target = loss.logits(), loss.target()
    labels = loss.extras(target)
    cells = {key: value.expand(ROWS, LABELS) for key, value in labels.items()}
    same(loss.function(logits, target, **cells), loss.function(logits, target, **labels))
    for name in ("positive_weight", "negative_weight"):
        for shape in ((), (1,), (ROWS, 1)):
            few = torch.full(shape, 1.5, dtype=torch.float64, device=loss.device)
            same(
                loss.slope(logits, target, **{name: few}),
                loss.slope(logits, target, **{name: few.expand(ROWS, LABELS)}),
            )


def test_module_reduces_what_the_function_returns(loss: Loss):
    inputs = loss.logits(), loss.target()
    extras = loss.extras(inputs[1])
    values = loss.function(*inputs, **extras)
    same(loss.made(reduction="none")(*inputs, **extras), values)
    same(loss.made(reduction="sum")(*inputs, **extras), sum(values))
    same(loss.made()(*inputs, **extras), sum(values) / len(values))
    with pytest.raises(ValueError, match="reduction must be mean, sum or none, got 'average'"):
        loss.made(reduction="average")(*inputs)


@pytest.mark.parametrize("name", [n for n in NAMES if not Loss(n).module.batchwise])
def test_examples_weigh_what_they_are_given(name: str, device: str):
    loss = Loss(name, device)
    inputs = loss.logits(), loss.target()
    weight = torch.tensor([0.0, 2.0, 0.5, 1.0, 3.0, 0.25, 1.5], dtype=torch.float64, device=device)
    products = [w * v for w, v in zip(weight, loss.function(*inputs))]
    same(loss.made(reduction="none")(*inputs, example_weight=weight), torch.stack(products))
    same(loss.made(reduction="sum")(*inputs, example_weight=weight), sum(products))
    same(loss.made()(*inputs, example_weight=weight), sum(products) / sum(weight))
    assert loss.made()(*inputs, example_weight=0 * weight) == 0


@pytest.mark.parametrize("name", [n for n in NAMES if Loss(n).module.batchwise])
def test_example_of_a_batchwise_loss_counts_as_often_as_it_weighs(name: str, device: str):
    loss = Loss(name, device)
    logits, target = loss.logits(), loss.target()
    times = torch.tensor([1, 2, 0, 1, 3, 1, 1], device=device)
    if (
        name == "two_way"
    ):  # its sums of a label have their own power: a weight is no repetition there
        times = times.clamp(max=1)
    repeated = [tensor.repeat_interleave(times, dim=0) for tensor in (logits, target)]
    same(loss.made()(logits, target, example_weight=times.double()), loss.made()(*repeated))


def test_refuses_what_is_no_target_and_no_mask(loss: Loss):
    logits, target = loss.logits(), loss.target()
    same(loss.function(logits, target.bool()), loss.function(logits, target))  # bool is one
    with pytest.raises(ShapeError, match=r"float or bool tensor, got torch\.int64"):
        loss.function(logits, target.long())
    with pytest.raises(ShapeError, match=r"target must match .*got \(7, 10\)"):
        loss.function(logits, target[:, 1:])
    with pytest.raises(ShapeError, match=r"\(B, L\), got"):
        loss.function(logits[0], target[0])
    for mask in (target[:, 1:].bool(), target):
        with pytest.raises(ShapeError, match=r"mask must be bool \(7, 11\)"):
            loss.function(logits, target, mask=mask)


def test_refuses_weights_that_do_not_fit(loss: Loss):
    logits, target = loss.logits(), loss.target()
    with pytest.raises(ShapeError, match=r"example_weight must be|positive_weight must broadcast"):
        loss.made()(logits, target, example_weight=target[0])
    for name in ("positive_weight", "negative_weight"):
        for weight in (
            target[0, 1:],
            target.expand(2, ROWS, LABELS),
        ):  # the second would make the values (2, 7)
            with pytest.raises(ShapeError, match=name):
                loss.function(logits, target, **{name: weight})


@pytest.mark.parametrize("name", NAMES)
def test_refuses_impossible_values_and_swapped_arguments_on_a_cpu(name: str):
    loss = Loss(name)
    logits, target = loss.logits(), loss.target()
    for wrong in (1.5 * target, -target, torch.full_like(target, float("nan"))):
        with pytest.raises(ShapeError, match=r"target must lie in \[0, 1\], got"):
            loss.function(logits, wrong)
    if not loss.module.extra_logits:
        with pytest.raises(ShapeError, match="are logits and target swapped"):
            loss.function(target, logits)
    logits[3, 2] = float("nan")
    with pytest.raises(ShapeError, match="logits hold NaN"):
        loss.function(logits, target)


def test_vmap_and_functional_gradient_agree_with_loops(loss: Loss):
    logits = torch.stack([loss.logits(seed=seed) for seed in range(3)])
    target = torch.stack([loss.target(seed=seed) for seed in range(3)])
    values = torch.func.vmap(loss.function)(logits, target)
    slopes = torch.func.vmap(torch.func.grad(lambda s, t: loss.function(s, t).sum()))(
        logits, target
    )
    for row in range(3):
        same(values[row], loss.function(logits[row], target[row]))
        same(slopes[row], loss.slope(logits[row], target[row]))


def agrees_when_compiled(loss: Loss, backend: str) -> None:
    torch._dynamo.reset()
    leaf, target = loss.logits(3, 5).requires_grad_(), loss.target(3, 5)
    extras = loss.extras(target)
    value = torch.compile(loss.made(5, reduction="sum"), fullgraph=True, backend=backend)(
        leaf, target, **extras
    )
    same(value, loss.function(leaf, target, **extras).sum())
    same(torch.autograd.grad(value, leaf)[0], loss.slope(leaf, target, **extras))


def test_compiles_into_one_graph(loss: Loss):
    agrees_when_compiled(loss, "aot_eager")


# sums of cells, of rows and of whole batches, sorted labels, pairs, and a class more than labels
GENERATED = ["adaptive_threshold", "asymmetric", "batch_dice", "cecl", "ranking", "zlpr"]


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_generated_code_for_a_cpu_keeps_value_and_gradient(name: str):
    agrees_when_compiled(Loss(name), "inductor")


@pytest.mark.gpu
@no_gpu
@pytest.mark.parametrize("name", NAMES)
def test_generated_code_for_a_gpu_keeps_value_and_gradient(name: str):
    agrees_when_compiled(Loss(name, "cuda"), "inductor")


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("soft", [False, True])
def test_sparse_target_and_mask_give_value_and_gradient_of_the_dense_ones(
    name: str, soft: bool, device: str
):
    loss = Loss(name, device)
    if soft and not loss.module.soft:
        return
    logits, target = loss.logits(), loss.target()
    extras = loss.extras(target)
    background = 0.0
    if soft:
        background = 0.02
        target = torch.where(
            target > 0, 0.9 if not loss.exclusive else 1 - 10 * background, background
        ).double()
    sparse = SparseTarget(*cells(torch.where(target == background, 0.0, target)), background)
    excluded = SparseMask(*cells((~extras["mask"]).double())[:2])
    same(sparse.dense(LABELS), target)
    for given in ({}, {**extras, "mask": None}, extras):
        other = {**given, "mask": excluded} if given.get("mask") is not None else given
        same(loss.function(logits, sparse, **other), loss.function(logits, target, **given))
        same(loss.slope(logits, sparse, **other), loss.slope(logits, target, **given))
    same(loss.slope(logits, target, mask=excluded), loss.slope(logits, target, mask=extras["mask"]))


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_target_is_cut_in_blocks_that_make_no_difference(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    loss = Loss(name)
    logits, target = loss.logits(), loss.target()
    weights = {k: v.expand(ROWS, LABELS) for k, v in loss.extras(target).items()}
    for size in (1, 3 * LABELS + 1):
        monkeypatch.setattr("tagwright.loss_math.blocks.CELLS", {"cpu": size})
        same(
            loss.function(logits, SparseTarget(*cells(target)), **weights),
            loss.function(logits, target, **weights),
        )
        same(
            loss.slope(logits, SparseTarget(*cells(target)), **weights),
            loss.slope(logits, target, **weights),
        )


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(SPARSE)))
def test_loss_that_cannot_take_sparse_targets_says_so(name: str):
    loss = Loss(name)
    with pytest.raises(ShapeError, match="takes dense targets and masks only"):
        loss.function(loss.logits(), SparseTarget(*cells(loss.target())))


@pytest.mark.parametrize("name", NAMES)
def test_soft_targets_are_taken_or_refused_as_declared(name: str):
    loss = Loss(name)
    soft = torch.softmax(loss.logits(seed=5)[:, :LABELS], -1)
    if loss.module.soft:
        assert loss.function(loss.logits(), soft).isfinite().all()
    else:
        for given in (soft, SparseTarget(*cells(soft))):
            with pytest.raises(ShapeError, match=r"targets of 0 and 1 only|dense targets"):
                loss.function(loss.logits(), given)


def test_values_are_checked_elsewhere_when_asked_for(loss: Loss):
    with pytest.raises(ShapeError, match=r"target must lie in \[0, 1\]"):
        loss.function(loss.logits(), 2 * loss.target(), validate=True)


@pytest.mark.parametrize("wrong", [2.0, -3.0])
def test_row_of_masked_labels_alone_is_finite_and_has_no_gradient(loss: Loss, wrong: float):
    logits, target = loss.logits(), loss.target()
    mask = torch.ones_like(target, dtype=torch.bool)
    mask[2] = False
    logits[2, :LABELS] = wrong
    assert loss.function(logits, target, mask=mask).isfinite().all()
    slope = loss.slope(logits, target, mask=mask)
    assert slope.isfinite().all()
    assert (slope[2, :LABELS] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_confident_mistake_is_still_corrected(name: str):
    """Where a loss saturates, its declaration says so and why."""
    loss = Loss(name)
    logits, target = loss.logits(), loss.target()
    gold = int(target[3].argmax())
    other = (gold + 1) % LABELS
    logits[3, gold], logits[3, other] = -300.0, 300.0
    target[3, other] = 0
    slope = loss.slope(logits, target)[3]
    flat = bool((slope[[gold, other]].abs() < 1e-30).any())
    assert flat == bool(loss.module.saturates), slope[[gold, other]]

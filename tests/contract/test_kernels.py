"""Every kernel gives what its loss's plain form gives: without a GPU by Triton's interpreter, with
one on it.
"""

import math

import pytest
import torch

from tagwright import kernels, registry
from tagwright.errors import TagwrightError
from tagwright.losses import SparseMask, SparseTarget

pytestmark = [
    pytest.mark.skipif(not kernels.TRITON, reason="kernels want Triton"),
    # the interpreter's own: overflows that are wanted
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NAMES = sorted(kernels.NAMES)
ROWS = 5


def sparse(dense: torch.Tensor, background: float, *, soft: bool) -> SparseTarget:
    """The cells that are not background, each row in an order of its own."""
    rows = [torch.nonzero(row != background).ravel() for row in dense]
    rows = [row[torch.randperm(len(row))] for row in rows]
    offsets = torch.tensor([0, *(len(row) for row in rows)]).cumsum(0)
    values = torch.cat([dense[i, row] for i, row in enumerate(rows)]) if soft else None
    return SparseTarget(torch.cat(rows), offsets, values, background)


def to_device(value):
    if isinstance(value, torch.Tensor):
        return value.to(DEVICE)
    if isinstance(value, (SparseTarget, SparseMask)):
        return value._replace(**{k: to_device(v) for k, v in value._asdict().items()})
    return value


def case(name: str, labels: int, kind: str, mask: str, weighted: bool):
    """Logits, target and keyword arguments: rows without gold labels, with one, and with logits
    beyond all bounds.
    """
    torch.manual_seed(labels)
    factory = registry.find("losses", name).factory
    truth = (torch.rand(ROWS, labels) < min(0.15, 6 / labels)).float()
    truth[0], truth[1, 0] = 0, 1
    if "many" not in factory.tasks:
        truth = torch.nn.functional.one_hot(torch.randint(labels, (ROWS,)), labels).float()
    if "soft" in kind:
        truth = truth * torch.rand(ROWS, labels)
    background = 0.0
    if kind == "background":
        background = 0.0625
        truth = truth * 0.75 + background
    target = truth
    if kind not in ("hard", "soft"):
        target = sparse(truth, background, soft=kind != "sparse")
    given = {}
    if mask != "none":
        shown = torch.rand(ROWS, labels) < 0.7
        shown[2], shown[4] = True, False
        given["mask"] = shown
        if mask == "sparse":
            given["mask"] = SparseMask(*sparse((~shown).float(), 0.0, soft=False)[:2])
    if weighted:
        given["positive_weight"], given["negative_weight"] = (
            torch.rand(labels) + 0.5,
            torch.rand(ROWS, labels) + 0.5,
        )
        given["negative_weight"][:, 0] = 0
    logits = torch.randn(ROWS, labels) * 3
    logits[3] *= 40
    return logits, target, given


def outcome(name: str, reduction: str, logits, target, given, *, fused: bool, **options):
    """Value and gradient; the gradient flows from different factors of the rows, or from 2 times a
    scalar.
    """
    loss = registry.find("losses", name).factory(reduction=reduction, **options)
    leaf = logits.clone().to(DEVICE).requires_grad_()
    if fused:
        with kernels.everywhere():
            value = loss(leaf, to_device(target), **{k: to_device(v) for k, v in given.items()})
            assert "Fused" not in str(value.grad_fn)
            value.backward(
                torch.arange(1.0, 1 + value.numel(), device=DEVICE).view(value.shape) * 2
            )
    else:
        leaf = logits.double().clone().requires_grad_()
        target = target if isinstance(target, SparseTarget) else target.double()
        value = loss(leaf, target, **given)
        value.backward(torch.arange(1.0, 1 + value.numel()).double().view(value.shape) * 2)
    return value.detach().double().cpu(), leaf.grad.double().cpu()


CASES = [
    (41, "hard", "none", False, "mean"),
    (41, "hard", "dense", True, "none"),
    (41, "soft", "sparse", True, "sum"),
    (41, "sparse", "sparse", True, "mean"),
    (41, "sparse soft", "dense", False, "sum"),
    (41, "background", "sparse", False, "none"),
    (1, "sparse soft", "dense", False, "sum"),
    (401, "sparse", "none", True, "none"),
    (1271, "sparse", "none", False, "mean"),
]


@pytest.mark.parametrize(("labels", "kind", "mask", "weighted", "reduction"), CASES)
@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradient_are_those_of_the_plain_form(
    name, labels, kind, mask, weighted, reduction
):
    if not registry.find("losses", name).factory.soft:
        kind = {"soft": "hard", "sparse soft": "sparse", "background": "sparse"}.get(kind, kind)
    logits, target, given = case(name, labels, kind, mask, weighted)
    if reduction != "none":
        given["example_weight"] = torch.rand(ROWS)
    expected = outcome(name, reduction, logits, target, given, fused=False)
    found = outcome(name, reduction, logits, target, given, fused=True)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_extreme_logits_stay_finite(name):
    logits, target, _ = case(name, 41, "sparse", "none", False)
    logits = torch.where(torch.arange(41) % 2 == 0, 1e4, -1e4) * torch.ones(ROWS, 1)
    for sign in (1, -1):
        found = outcome(name, "mean", sign * logits, target, {}, fused=True)
        expected = outcome(name, "mean", sign * logits, target, {}, fused=False)
        assert all(part.isfinite().all() for part in found)
        # a sum near e^10000 has a log that float32 knows to 0.0005
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", NAMES)
def test_half_precision_is_read_exactly_and_rounded_once(name, dtype):
    logits, target, _ = case(name, 41, "sparse", "none", False)
    logits = logits.clamp(-20, 20).to(dtype)
    _, expected = outcome(name, "sum", logits.double(), target, {}, fused=False)
    value, found = outcome(name, "sum", logits, target, {}, fused=True)
    assert value.isfinite()
    spacing = torch.finfo(dtype).eps
    torch.testing.assert_close(found, expected, rtol=spacing, atol=20 * torch.finfo(dtype).tiny)


OPTIONS = [
    ("focal", {"gamma": 0.0}),
    ("focal", {"gamma": 1.5}),
    ("dice", {"smooth": 0.25}),
    ("asymmetric", {"gamma_positive": 0.0, "gamma_negative": 0.0, "clip": 0.0}),
    ("asymmetric", {"gamma_negative": 2.5, "clip": 0.0}),
    ("asymmetric", {"gamma_negative": 1.0, "clip": 0.2}),
    ("zlpr", {"threshold": 0.75}),
    ("cecl", {"gamma": 2.0, "positive_scale": 3.0}),
    ("cecl", {"gamma": 0.5}),
    ("pbp", {"gamma": 1.0, "positive_scale": 0.5}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_settings_reach_the_kernel(name, options):
    logits, target, given = case(name, 41, "sparse", "sparse", True)
    expected = outcome(name, "mean", logits, target, given, fused=False, **options)
    found = outcome(name, "mean", logits, target, given, fused=True, **options)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["cecl", "pbp"])
def test_as_many_ids_as_rows_need_not_be_one_a_row(name):
    logits = case(name, 41, "sparse", "none", False)[0]
    target = SparseTarget(torch.tensor([3, 7, 5, 0, 40]), torch.tensor([0, 1, 3, 3, 4, 5]))
    expected = outcome(name, "mean", logits, target, {}, fused=False)
    found = outcome(name, "mean", logits, target, {}, fused=True)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("gamma", [0.0, 2.0])
@pytest.mark.parametrize("name", ["cecl", "pbp"])
def test_equal_highest_logits_and_one_far_above_the_others(name, gamma):
    # so many that every row has a program of its own
    logits, target, _ = case(name, 401, "sparse", "none", False)
    logits = logits.clamp(-5, 9)
    logits[0, [400, 7, 300]], logits[1], logits[2, 9] = 10.0, 0.5, 1e4
    expected = outcome(name, "none", logits, target, {}, fused=False, gamma=gamma)
    found = outcome(name, "none", logits, target, {}, fused=True, gamma=gamma)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


def test_zlpr_of_a_million_zero_logits_is_the_log_of_a_million_and_one():
    rows = 1 if DEVICE == "cpu" else 8
    target = SparseTarget(
        torch.empty(0, dtype=torch.int64), torch.zeros(rows + 1, dtype=torch.int64)
    )
    value, gradient = outcome("zlpr", "mean", torch.zeros(rows, 1_000_000), target, {}, fused=True)
    assert value.item() == pytest.approx(math.log(1_000_001), rel=1e-6)
    assert gradient.sum().item() == pytest.approx(2 * 1_000_000 / 1_000_001, rel=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_no_neighbors_in_memory(name):
    logits, target, _ = case(name, 41, "hard", "none", False)
    loss = registry.find("losses", name).factory()
    wide = torch.cat([logits, logits], 1).to(DEVICE)
    expected = outcome(name, "mean", logits, target, {}, fused=True)[1] / 2
    with kernels.everywhere():
        for view in (wide[:, :41], logits.to(DEVICE).t().contiguous().t(), wide.t()[:41].t()):
            leaf = view.detach().requires_grad_()
            loss(leaf, target.to(DEVICE)).backward()
            torch.testing.assert_close(leaf.grad.double().cpu(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "reduction"), [("cecl", "none"), ("zlpr", "none"), *((n, "mean") for n in NAMES)]
)
def test_a_compiled_graph_holds_the_kernel_whole(name, reduction):
    torch._dynamo.reset()
    logits, target, given = case(name, 41, "sparse", "none", True)
    target, given = to_device(target), {k: to_device(v) for k, v in given.items()}
    loss = registry.find("losses", name).factory(reduction=reduction)

    def step(logits: torch.Tensor) -> torch.Tensor:
        return loss(logits * 1.0, target, **given)

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    leaf = logits.clone().to(DEVICE).requires_grad_()
    with kernels.everywhere():
        value = compiled(leaf)
        value.backward(torch.arange(1.0, 1 + value.numel(), device=DEVICE).view(value.shape) * 2)
    expected = outcome(name, reduction, logits, target, given, fused=True)
    torch.testing.assert_close(value.detach().double().cpu(), expected[0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(leaf.grad.double().cpu(), expected[1], rtol=1e-5, atol=1e-6)


def test_a_gradient_that_was_handed_out_is_not_handed_out_again():
    logits, target, _ = case("bce", 41, "hard", "none", False)
    leaf = logits.to(DEVICE).requires_grad_()
    with kernels.everywhere():
        value = registry.find("losses", "bce").factory()(leaf, target.to(DEVICE))
    value.backward(retain_graph=True)
    with pytest.raises(TagwrightError, match='reduction="none"'):
        value.backward()


def penalised(loss, leaf, target, given):
    """The gradient of a loss with a penalty on its gradient."""
    value = loss(leaf, target, **given).sum()
    (slope,) = torch.autograd.grad(value, leaf, create_graph=True)
    (value + slope.square().sum()).backward()
    return leaf.grad.double().cpu()


@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives_are_those_of_the_plain_form(name, reduction):
    logits, target, given = case(name, 41, "sparse", "sparse", True)
    if reduction != "none":
        given["example_weight"] = torch.rand(ROWS)
    loss = registry.find("losses", name).factory(reduction=reduction)
    expected = penalised(loss, logits.double().requires_grad_(), target, given)
    moved = {k: to_device(v) for k, v in given.items()}
    with kernels.everywhere():
        found = penalised(loss, logits.to(DEVICE).requires_grad_(), to_device(target), moved)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_a_compiled_kernel_is_not_differentiated_twice_in_silence(reduction):
    torch._dynamo.reset()
    logits, target, _ = case("zlpr", 41, "hard", "none", False)
    compiled = torch.compile(
        registry.find("losses", "zlpr").factory(reduction=reduction), backend="eager"
    )
    leaf = logits.to(DEVICE).requires_grad_()
    with kernels.everywhere():
        (slope,) = torch.autograd.grad(
            compiled(leaf, target.to(DEVICE)).sum(), leaf, create_graph=True
        )
    with pytest.raises(RuntimeError, match="no autograd formula"):
        slope.square().sum().backward()


def test_a_soft_target_gets_its_gradient():
    logits, target, _ = case("zlpr", 41, "soft", "none", False)
    loss = registry.find("losses", "zlpr").factory()
    found, expected = (
        target.detach().to(DEVICE, dtype).requires_grad_()
        for dtype in (torch.float32, torch.float64)
    )
    with kernels.everywhere():
        loss(logits.to(DEVICE), found).backward()
    loss(logits.to(DEVICE).double(), expected).backward()
    torch.testing.assert_close(found.grad.double(), expected.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "mask"),
    [
        ("hard", "none"),
        ("soft", "dense"),
        ("sparse", "none"),
        ("sparse soft", "sparse"),
        ("background", "dense"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_infinite_logit_makes_the_value_of_its_row_nan(name, kind, mask):
    if not registry.find("losses", name).factory.soft:
        kind = {"soft": "hard", "sparse soft": "sparse", "background": "sparse"}.get(kind, kind)
    logits, target, _ = case(name, 41, kind, "none", False)
    truth = target if isinstance(target, torch.Tensor) else target.dense(41)
    shown = torch.rand(ROWS, 41) < (0.7 if mask != "none" else 1.1)
    for row, (infinite, gold) in enumerate(
        [(math.inf, 1), (-math.inf, 1), (math.inf, 0), (-math.inf, 0)], 1
    ):
        label = int((truth[row] - gold).abs().argmin())
        logits[row, label], shown[row, label] = infinite, True
    logits[~shown] = math.inf  # what takes no part has no say
    given = {
        "none": None,
        "dense": shown,
        "sparse": SparseMask(*sparse((~shown).float(), 0.0, soft=False)[:2]),
    }[mask]
    weights = {"positive_weight": None, "negative_weight": None}
    options = {
        "gamma": 2.0,
        "gamma_positive": 1.0,
        "gamma_negative": 4.0,
        "clip": 0.05,
        "smooth": 1.0,
    }
    options |= {"threshold": 0.0, "positive_scale": 1.0}
    values = kernels.values(abs, name, *map(to_device, (logits, target, given)), weights, options)
    assert values.isnan().tolist() == [False, True, True, True, True]
    assert values[0].isfinite()


@pytest.mark.parametrize("name", ["cecl", "pbp"])
def test_mask_raises_no_target_above_one(name):
    logits, given = torch.randn(ROWS, 41), {"negative_weight": torch.full((41,), 3.0)}
    target = (torch.rand(ROWS, 41) < 0.3).float()
    given["mask"] = torch.rand(ROWS, 41) < 0.5
    given["mask"][0] = target[0] == 0
    expected = outcome(name, "none", logits, target, given, fused=False)
    found = outcome(name, "none", logits, target, given, fused=True)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)
    assert (found[0] >= 0).all()


def test_values_can_be_asked_for_twice():
    logits, target, _ = case("zlpr", 41, "hard", "none", False)
    leaf = logits.to(DEVICE).requires_grad_()
    with kernels.everywhere():
        value = registry.find("losses", "zlpr").factory(reduction="none")(leaf, target.to(DEVICE))
        value.sum().backward(retain_graph=True)
        once = leaf.grad.clone()
        value.sum().backward()
    torch.testing.assert_close(leaf.grad, 2 * once)


def test_what_kernels_cannot_do_is_left_to_the_plain_form():
    logits = torch.zeros(2, 3)
    with kernels.everywhere():
        assert kernels.serves("zlpr", logits, (None,), {})
        assert not kernels.serves("zlpr", logits.double(), (None,), {})
        assert not kernels.serves("zlpr", logits, (torch.ones(3, requires_grad=True),), {})
        assert not kernels.serves("zlpr", logits, (None,), {"threshold": torch.zeros(3)})
        assert not kernels.serves("zlpr", torch.zeros(0, 3), (None,), {})
        assert not kernels.serves("ranking", logits, (None,), {})
        assert not kernels.serves("cecl", torch.zeros(1, 8193), (None,), {})
    assert not kernels.serves("zlpr", logits, (None,), {})

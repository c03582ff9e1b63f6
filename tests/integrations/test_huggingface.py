"""Under Trainer, a step's gradient is that of the mean over all its rows, however they are cut;
without it too.
"""

import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from tagwright import registry
from tagwright.errors import SettingsError, ShapeError
from tagwright.integrations.huggingface import TrainerLoss
from tagwright.losses import (
    AdaptiveThresholdLoss,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    ZLPRLoss,
)
from tagwright.masks.groups import GroupMask
from tagwright.weights.label_weights import LabelWeights

from .huggingface_worker import (
    BATCH,
    LABELS,
    PLAIN,
    TWO_PROCESSES,
    Case,
    data,
    gradient,
    made,
    model,
    trained,
)

WORKER = Path(__file__).with_name("huggingface_worker.py")
BATCHWISE = sorted(set(registry.names("losses")) - set(PLAIN))
ONE = [name for name in PLAIN if "one" in registry.find("losses", name).factory.tasks]
TOKENS = [name for name in PLAIN if "tokens" in registry.find("losses", name).factory.tasks]
needs_trainer = pytest.mark.skipif(
    not (find_spec("transformers") and find_spec("accelerate")),
    reason="pip install tagwright[huggingface]",
)


def same(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance, check_dtype=False)


def direct(case: Case, features: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Value and gradient of the loss's own mean over the labelled rows, picked out one by one."""
    linear = model(case)
    features, width = features.reshape(-1, features.shape[-1]), labels.shape[-1]
    if case.kind in ("classes", "tokens"):
        labels = labels.reshape(-1)
        kept = [row for row, number in enumerate(labels.tolist()) if number != -100]
        target = torch.eye(LABELS, dtype=torch.float64)[labels[kept]]
    else:
        labels = labels.reshape(-1, width)
        kept = [row for row, numbers in enumerate(labels.tolist()) if numbers[0] != -100]
        target = labels[kept].double()
    value = made(case)(linear(features[kept]), target)
    value.backward()
    return value.detach(), gradient(linear)


def steps_of(case: Case, rows: int, together: int) -> list[Tensor]:
    """The gradient of every `together` rows."""
    features, labels = data(case, rows)
    starts = range(0, rows, together)
    return [
        direct(case, features[at : at + together], labels[at : at + together])[1] for at in starts
    ]


def check_steps(case: Case, *, accumulate: int, rows: int = 9) -> None:
    steps, _ = trained(case, rows, TrainerLoss(made(case)), gradient_accumulation_steps=accumulate)
    expected = steps_of(case, rows, BATCH * accumulate)
    assert len(steps) == len(expected)
    for one, other in zip(steps, expected):
        same(one, other)


def on_two_processes(work: str, rows: int, out: Path) -> dict[str, Tensor]:
    """What the worker found, run twice at once and joined by gloo."""
    launcher = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--local-addr=127.0.0.1",
    ]
    command = [*launcher, "--nproc-per-node=2", str(WORKER), work, str(out), str(rows)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        try:
            said, _ = run.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            run.terminate()  # not killed: the launcher ends its processes
            raise
    assert run.returncode == 0, said[-5000:]
    found = load_file(out)
    assert found["processes"] == 2
    return found


@needs_trainer
@pytest.mark.parametrize(
    ("name", "accumulate"), [("bce", 1), ("cross_entropy", 1), *((n, 3) for n in PLAIN)]
)
def test_step_in_trainer_has_the_gradient_of_one_batch(name: str, accumulate: int):
    """Nine rows in twos and threes of twos: the last batch and the last group are short."""
    check_steps(Case(name), accumulate=accumulate)


@needs_trainer
@pytest.mark.parametrize("kind", ["multi_hot", "classes", "tokens", "token_sets"])
def test_labels_of_minus_100_count_for_nothing_in_trainer(kind: str):
    check_steps(Case("bce", kind, gaps=True), accumulate=3)


@needs_trainer
@pytest.mark.parametrize("name", ONE)
def test_class_numbers_are_one_hot_in_trainer(name: str):
    check_steps(Case(name, "classes"), accumulate=3)


@needs_trainer
def test_mean_over_labels_stays_one_in_trainer():
    check_steps(Case("bce", settings=(("labels", "mean"),)), accumulate=3)


@needs_trainer
def test_trainer_evaluates_the_mean():
    _, loss = trained(Case("zlpr"), 9, TrainerLoss(made(Case("zlpr"))))
    assert loss == pytest.approx(float(direct(Case("zlpr"), *data(Case("zlpr"), 9))[0]), rel=1e-6)


@needs_trainer
def test_trainer_in_bfloat16_is_near():
    case = Case("zlpr")
    steps, _ = trained(case, 6, TrainerLoss(made(case)), gradient_accumulation_steps=3, bf16=True)
    same(steps[0], steps_of(case, 6, 6)[0], 2e-2)


@needs_trainer
def test_two_processes_give_the_gradient_and_evaluation_of_one_batch(tmp_path: Path):
    """Twenty rows: each process has groups of three and two batches, and not as many labels as the
    other.
    """
    found = on_two_processes("trainer", 20, tmp_path / "found.safetensors")
    for (name, case), accumulate, average in product(TWO_PROCESSES.items(), (1, 3), (True, False)):
        key = f"{name}/{accumulate}/{average}"
        expected = steps_of(case, 20, 2 * BATCH * accumulate)
        assert sum(other.startswith(f"{key}/") for other in found) == len(expected) + 1
        for step, gradient_of_step in enumerate(expected):
            same(found[f"{key}/{step}"], gradient_of_step)
        if (
            not case.gaps
        ):  # Trainer averages the batches' means, which is another thing where some have more gaps
            same(found[f"{key}/eval"], direct(case, *data(case, 20))[0], 1e-6)


def test_equal_shards_under_distributed_data_parallel_give_the_gradient_of_one_batch(
    tmp_path: Path,
):
    found = on_two_processes("parallel", 8, tmp_path / "found.safetensors")
    for name in PLAIN:
        same(found[name], direct(Case(name), *data(Case(name), 8))[1])


@pytest.mark.parametrize("name", PLAIN)
def test_autocast_model_gives_a_near_gradient_in_float32(name: str):
    features, labels = data(Case(name), 7)
    linear = model(Case(name)).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = linear(features.float())
        value = TrainerLoss(made(Case(name)))(
            {"logits": logits}, labels, num_items_in_batch=labels.numel()
        )
    value.backward()
    assert (logits.dtype, value.dtype) == (torch.bfloat16, torch.float32)
    # the same rounded logits, so that no pair changes its order
    leaf = logits.detach().float().requires_grad_()
    slope = torch.autograd.grad(made(Case(name))(leaf, labels.float()), leaf)[0]
    same(gradient(linear), torch.cat([(slope.T @ features.float()).flatten(), slope.sum(0)]), 2e-2)


@pytest.mark.parametrize("kind", ["multi_hot", "tokens"])
def test_compiles_into_one_graph(kind: str):
    torch._dynamo.reset()
    case = Case("bce", kind, gaps=True)
    features, labels = data(case, 9)
    outputs, items = {"logits": model(case)(features)}, (labels != -100).sum()
    compiled = torch.compile(TrainerLoss(made(case)), fullgraph=True, backend="aot_eager")
    same(compiled(outputs, labels, num_items_in_batch=items), direct(case, features, labels)[0])


@pytest.mark.parametrize("average", [True, False])
def test_data_parallel_is_not_multiplied_by_its_devices(average: bool):
    """As Trainer does with n_gpu = 2: one loss of all rows, a count for each device, and a factor
    for the average.
    """
    features, labels = data(Case("zlpr"), 7)
    items = torch.tensor(labels.numel() // (1 if average else 2)).unsqueeze(0).expand(2, -1)
    loss = TrainerLoss(ZLPRLoss())(
        {"logits": model(Case("zlpr"))(features)}, labels, num_items_in_batch=items
    )
    same(loss * (2 if average else 1), direct(Case("zlpr"), features, labels)[0])


@pytest.mark.parametrize("kind", ["multi_hot", "classes"])
def test_no_label_at_all_gives_zero_and_no_gradient(kind: str):
    logits = torch.randn(2, LABELS, requires_grad=True)
    labels = torch.full((2, LABELS) if kind == "multi_hot" else (2,), -100)
    for items in (None, 0, torch.tensor(0)):
        loss = TrainerLoss(BinaryCrossEntropyLoss())(
            {"logits": logits}, labels, num_items_in_batch=items
        )
        assert loss == 0
        assert (torch.autograd.grad(loss, logits)[0] == 0).all()


@pytest.mark.parametrize("name", PLAIN)
def test_without_a_number_of_items_it_is_the_mean(name: str):
    case = Case(name, gaps=True)
    features, labels = data(case, 9)
    same(
        TrainerLoss(made(case))({"logits": model(case)(features)}, labels),
        direct(case, features, labels)[0],
    )


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_are_rows(name: str):
    case = Case(name, "tokens", gaps=True)
    features, labels = data(case, 6)
    same(
        TrainerLoss(made(case))({"logits": model(case)(features)}, labels),
        direct(case, features, labels)[0],
    )


def test_bools_integers_and_floats_are_the_same_labels():
    logits, labels = torch.randn(3, LABELS), torch.rand(3, LABELS) < 0.5
    values = [
        TrainerLoss(ZLPRLoss())({"logits": logits}, given)
        for given in (labels, labels.long(), labels.float())
    ]
    assert values[0] == values[1] == values[2] == ZLPRLoss()(logits, labels)


def test_outputs_may_be_named_or_a_tuple():
    logits, labels = torch.randn(3, LABELS), torch.tensor([0, 4, -100])
    loss_of = TrainerLoss(CrossEntropyLoss())
    values = {
        float(loss_of(o, labels))
        for o in (SimpleNamespace(logits=logits), {"logits": logits}, (logits, None))
    }
    assert values == {float(loss_of({"logits": logits}, labels))}
    with pytest.raises(ShapeError, match=r"must give logits .*got none in SimpleNamespace"):
        loss_of(SimpleNamespace(scores=logits), labels)


def test_mask_and_weights_are_those_of_the_objective():
    logits, labels = torch.randn(3, LABELS), (torch.rand(3, LABELS) < 0.5).float()
    membership = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]], bool)
    mask_of = GroupMask(membership, plain_share=0.0)
    weights = LabelWeights(positive=np.arange(1.0, LABELS + 1))
    loss_of = TrainerLoss(BinaryCrossEntropyLoss(), mask_of=mask_of, weights=weights)
    weight = torch.arange(1.0, LABELS + 1)
    same(
        loss_of({"logits": logits}, labels),
        BinaryCrossEntropyLoss()(logits, labels, mask=mask_of(labels), positive_weight=weight),
        1e-6,
    )


def test_module_given_stays_as_it_was_and_its_parameter_is_learnt():
    threshold = nn.Parameter(torch.zeros(LABELS))
    given = ZLPRLoss(threshold=threshold, reduction="none")
    TrainerLoss(given)({"logits": torch.randn(2, LABELS)}, torch.ones(2, LABELS)).backward()
    assert given.reduction == "none"
    assert given.threshold is threshold
    assert threshold.grad.abs().sum() > 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_buffers_follow_the_logits_and_the_module_given_stays():
    given = made(Case("logit_adjusted"))
    logits, labels = torch.randn(3, LABELS), torch.tensor([0, 1, 2])
    on_device = TrainerLoss(given)(
        {"logits": logits.cuda()}, labels.cuda(), torch.tensor(3, device="cuda")
    )
    same(on_device.cpu(), TrainerLoss(given)({"logits": logits}, labels), 1e-5)
    assert {buffer.device.type for buffer in given.buffers()} == {"cpu"}


@pytest.mark.parametrize("name", BATCHWISE)
def test_batchwise_loss_is_refused(name: str):
    with pytest.raises(
        SettingsError,
        match=r"looks at a whole batch.*gradient_accumulation_steps=1 and one process",
    ):
        TrainerLoss(made(Case(name)))


def test_refuses_what_it_cannot_use():
    logits, sets = torch.randn(2, LABELS), TrainerLoss(AdaptiveThresholdLoss())
    with pytest.raises(SettingsError, match=r"module of tagwright\.losses, got BCEWithLogitsLoss"):
        TrainerLoss(nn.BCEWithLogitsLoss())
    with pytest.raises(
        SettingsError, match="AdaptiveThresholdLoss is not for one class an example"
    ):
        sets({"logits": logits}, torch.tensor([0, 1]))
    with pytest.raises(SettingsError, match="ZLPRLoss is not for one class a token"):
        TrainerLoss(ZLPRLoss())({"logits": logits[None]}, torch.tensor([[0, 1]]))
    for labels, message in (
        (None, "labels must be a tensor, got NoneType"),
        (torch.zeros(2, LABELS + 1), r"multi-hot \(2, 5\) or whole class numbers \(2,\)"),
        (torch.zeros(2), r"got torch\.float32 \(2,\)"),
        (torch.tensor([0, LABELS]), "class numbers must lie in 0 to 4, .* got 5"),
        (torch.tensor([0, -1]), "class numbers must lie in 0 to 4, .* got -1"),
        (torch.full((2, LABELS), 2), "must be 0 or 1, got 2 to 2"),
        (torch.tensor([[1.0, 0, 0, 0, -100], [0] * 5]), "-100 as a whole or nowhere"),
    ):
        with pytest.raises(ShapeError, match=message):
            TrainerLoss(BinaryCrossEntropyLoss())({"logits": logits}, labels)


def test_importing_needs_no_transformers():
    imports = "import sys, tagwright.integrations.huggingface"
    code = f"{imports}; sys.exit('transformers' in sys.modules or 'accelerate' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

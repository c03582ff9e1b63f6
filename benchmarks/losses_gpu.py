"""Losses on a GPU: fused kernels beside what one would take instead, and beside what memory allows.

    python benchmarks/losses_gpu.py                        # all tables
    python benchmarks/losses_gpu.py --table large linear   # some of them

The floor is the time of a copy of the logits, measured in the same run: they have to be read once
and their gradient written once. Times are medians of 20 forward and backward passes; ours are
replays of a captured graph, which leaves out what Python adds (the table of small batches says how
much that is). Rivals get dense targets of 0 and 1, for they know no others. timm is measured where
it is installed; Liger-Kernel has none of these losses.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from statistics import median

import torch
import torch.nn.functional as F
import triton
from torch import Tensor

from tagwright import registry
from tagwright.losses import SparseTarget, ZLPRLoss
from tagwright.models.label_matrix.linear_objective import LinearObjective

LARGE, TOKENS, SMALL, LINEAR = (
    (4096, 131_072),
    (262_144, 32),
    ((32, 54), (256, 618)),
    (1024, 768, 1_000_000),
)
GOLD = 10
Step = Callable[[], None]


def gold(rows: int, labels: int, count: int) -> SparseTarget:
    """`count` different labels a row, in no order."""
    ids = torch.randint(labels - count + 1, (rows, count), device="cuda").sort(1).values
    ids = (ids + torch.arange(count, device="cuda"))[:, torch.randperm(count, device="cuda")]
    return SparseTarget(ids.flatten(), torch.arange(0, rows * count + 1, count, device="cuda"))


def milliseconds(step: Step, rounds: int = 20) -> float:
    """The median of some calls, by the device's clock."""
    for _ in range(3):
        step()
    times = []
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        step()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return median(times)


def captured(step: Step) -> float:
    """The median of replays of the step as a graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return milliseconds(graph.replay)


def copied(tensor: Tensor) -> float:
    """Milliseconds to copy it."""
    other = torch.empty_like(tensor)
    return milliseconds(lambda: other.copy_(tensor))  # type: ignore[func-returns-value]


def extra(step: Step, beside: int) -> float:
    """Gigabytes at the peak of a step beyond what was there and `beside` bytes."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before - beside) / 2**30


def passes(function: Callable[[Tensor, object], Tensor], logits: Tensor, target: object) -> Step:
    """Forward and backward; of values (B,) with a gradient of their own each."""
    upstream = torch.rand(len(logits), device="cuda")

    def step() -> None:
        logits.grad = None
        value = function(logits, target)
        value.backward(None if value.ndim == 0 else upstream)

    return step


def usual_bce(logits: Tensor, target: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(
        logits.float(), target.float(), reduction="sum"
    ) / len(logits)


def usual_focal(logits: Tensor, target: Tensor) -> Tensor:
    logits, target = logits.float(), target.float()
    chance = logits.sigmoid()
    right = chance * target + (1 - chance) * (1 - target)
    entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return ((1 - right) ** 2 * entropy).sum() / len(logits)


def both_sums(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    logits, target = logits.float(), target.float()
    return -logits - (1 - target) * 1e12, logits - target * 1e12


def usual_zlpr(logits: Tensor, target: Tensor) -> Tensor:
    zero = logits.new_zeros(len(logits), 1, dtype=torch.float32)
    low, high = both_sums(logits, target)
    return (torch.cat([low, zero], 1).logsumexp(1) + torch.cat([high, zero], 1).logsumexp(1)).mean()


def usual_lsep(logits: Tensor, target: Tensor) -> Tensor:
    low, high = both_sums(logits, target)
    return F.softplus(low.logsumexp(1) + high.logsumexp(1)).mean()


USUAL = {"bce": usual_bce, "focal": usual_focal, "zlpr": usual_zlpr, "lsep": usual_lsep}


def timm_loss(name: str) -> Callable[[Tensor, Tensor], Tensor] | None:
    """timm's form, where it has one and is installed."""
    if name not in ("bce", "asymmetric") or importlib.util.find_spec("timm") is None:
        return None
    from timm import loss

    if name == "bce":
        return loss.BinaryCrossEntropy(smoothing=0.0, sum_classes=True)
    return loss.AsymmetricLossMultiLabel()


def large_table() -> None:
    """Sparse targets at a size where only memory counts."""
    rows, labels = LARGE
    logits = torch.randn(LARGE, device="cuda", dtype=torch.bfloat16).requires_grad_()
    sparse, size = gold(rows, labels, GOLD), 2 * logits.numel()
    floor = copied(logits.detach())
    print(
        f"\n{rows} x {labels}, bfloat16; floor {floor:.3f} ms, {2 * size / floor / 1e9:.2f} TB/s\n"
    )
    head = [
        "loss",
        "reduced, x floor",
        "GB beyond logits and gradient",
        "not reduced, x three transfers",
    ]
    head += [
        "dense target, x floor",
        "eager, x floor",
        "GB",
        "compiled, x floor",
        "GB",
        "timm, x floor",
    ]
    print(f"| {' | '.join(head)} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in ("bce", "focal", "zlpr", "lsep", "bpmll", "dice", "asymmetric"):
        factory = registry.find("losses", name).factory
        one, each = (
            passes(factory(), logits, sparse),
            passes(factory(reduction="none"), logits, sparse),
        )
        one()
        logits.grad = None
        memory = extra(one, size)
        figures = [
            f"{captured(one) / floor:.2f}",
            f"{memory:.3f}",
            f"{captured(each) / floor / 1.5:.2f}",
        ]
        logits.grad = None
        dense = torch.zeros_like(logits, requires_grad=False)
        dense.view(-1)[
            sparse.ids + torch.arange(rows, device="cuda").repeat_interleave(GOLD) * labels
        ] = 1
        figures.append(f"{captured(passes(factory(), logits, dense)) / floor / 1.5:.2f}")
        for rival in (USUAL.get(name), name in USUAL and torch.compile(USUAL[name])):
            if not rival:
                figures += ["", ""]
                continue
            step = passes(rival, logits, dense)
            logits.grad = None
            memory = extra(step, size)
            figures += [f"{milliseconds(step, 5) / floor:.1f}", f"{memory:.1f}"]
        rival = timm_loss(name)
        figures.append(
            f"{milliseconds(passes(rival, logits, dense), 5) / floor:.1f}" if rival else ""
        )
        logits.grad = None
        del dense
        print(f"| {name} | {' | '.join(figures)} |", flush=True)


def token_table() -> None:
    """A softmax over few classes, many rows."""
    rows, classes = TOKENS
    logits = torch.randn(TOKENS, device="cuda", dtype=torch.bfloat16).requires_grad_()
    wide = torch.zeros(2**30, device="cuda", dtype=torch.bfloat16)
    rate = 4 * wide.numel() / copied(wide)
    sparse = gold(rows, classes, 1)
    dense = sparse.dense(classes)
    print(f"\n{rows} x {classes}, bfloat16; floor {4e3 * logits.numel() / rate:.1f} us\n")
    print(
        "| loss | sparse target, us | x floor | dense float32 target, us | x floor | plain form,"
        " us |"
    )
    print("|---|---|---|---|---|---|")
    for name in ("cecl", "pbp"):
        loss, figures = registry.find("losses", name).factory(), []
        for target, size in ((sparse, 4), (dense, 8)):
            taken = captured(passes(loss, logits, target))
            figures += [f"{1e3 * taken:.1f}", f"{taken * rate / (size * logits.numel()):.2f}"]
        # a transform takes the plain form
        plain = torch.func.grad(lambda s, loss=loss: loss(s, dense))
        figures.append(f"{1e3 * milliseconds(lambda plain=plain: plain(logits.detach())):.0f}")
        print(f"| {name} | {' | '.join(figures)} |", flush=True)


def small_table() -> None:
    """Small batches beside torch's own binary cross-entropy: on the device, and as Python sees
    it.
    """
    print(
        "\n| B x L | loss | us on the device | BCE of torch | us a call | BCE of torch"
        " |\n|---|---|---|---|---|---|"
    )
    for rows, labels in SMALL:
        logits = torch.randn(rows, labels, device="cuda").requires_grad_()
        target = gold(rows, labels, 3).dense(labels)
        theirs = passes(F.binary_cross_entropy_with_logits, logits, target)
        for name in ("bce", "focal", "zlpr", "lsep", "asymmetric", "dice", "cecl"):
            ours = passes(registry.find("losses", name).factory(), logits, target)
            turns = [(microseconds(ours), microseconds(theirs)) for _ in range(5)]
            device = [f"{1e3 * captured(step):.1f}" for step in (ours, theirs)]
            called = [f"{median(column):.0f}" for column in zip(*turns)]
            print(f"| {rows} x {labels} | {name} | {' | '.join(device + called)} |", flush=True)


def microseconds(step: Step, rounds: int = 100) -> float:
    """The mean of calls one after the other, by the host's clock."""
    step()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(rounds):
        step()
    torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - started) / rounds


def linear_table() -> None:
    """A label matrix and its loss: in chunks without logits, and as they are usually written."""
    rows, width, labels = LINEAR
    hidden = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16).requires_grad_()
    target = gold(rows, labels, GOLD)
    print(f"\nlinear + zlpr, {rows} x {width} -> {labels}, bfloat16\n")
    print(
        "| form | ms | ms as a graph | GiB beyond weights and their gradient |\n|---|---|---|---|"
    )
    head = LinearObjective(ZLPRLoss(), width, labels).to("cuda", torch.bfloat16)
    held = 2 * sum(weight.numel() for weight in head.parameters())

    def ours() -> None:
        hidden.grad = head.weight.grad = head.bias.grad = None
        head(hidden, target).backward()

    for chunk in (16_384, 32_768, 65_536):
        head.chunk = chunk
        ours()
        hidden.grad = head.weight.grad = head.bias.grad = None
        memory = extra(ours, held)
        print(
            f"| chunks of {chunk} | {milliseconds(ours):.2f} | {captured(ours):.2f} |"
            f" {memory:.3f} |",
            flush=True,
        )
    head.weight.grad = head.bias.grad = None
    dense = target.dense(labels).to(torch.bfloat16)
    for name, form in (("eager", usual_zlpr), ("compiled", torch.compile(usual_zlpr))):

        def theirs(form: Callable[[Tensor, Tensor], Tensor] = form) -> None:
            hidden.grad = head.weight.grad = head.bias.grad = None
            form(F.linear(hidden, head.weight, head.bias), dense).backward()

        theirs()
        hidden.grad = head.weight.grad = head.bias.grad = None
        memory = extra(theirs, held)
        print(f"| {name} | {milliseconds(theirs, 5):.2f} | | {memory:.2f} |", flush=True)


TABLES = {"large": large_table, "tokens": token_table, "small": small_table, "linear": linear_table}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", nargs="*", choices=TABLES, default=list(TABLES))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    torch.manual_seed(0)
    for name in parser.parse_args().table:
        TABLES[name]()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

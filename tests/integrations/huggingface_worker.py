"""What `test_huggingface.py` trains: a linear model on rows of a case; as a script, one process of
a run on two.

Weights stay as they are (learning rate 0), so every optimizer step has the gradient of its own rows
at one place.
"""

import inspect
import os
import sys
from itertools import product
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, distributed, nn

from tagwright import registry

LABELS, FEATURES, TOKENS, BATCH = 5, 3, 4, 2
PLAIN = [
    name for name in registry.names("losses") if not registry.find("losses", name).factory.batchwise
]


class Case(NamedTuple):
    """A loss, what its labels are (multi_hot, classes, tokens, token_sets), and whether some are
    -100.
    """

    loss: str
    kind: str = "multi_hot"
    gaps: bool = False
    settings: tuple[tuple[str, Any], ...] = ()


TWO_PROCESSES = {
    "zlpr": Case("zlpr"),
    "zlpr_with_unlabelled_rows": Case("zlpr", gaps=True),
    "bce_mean_of_labels": Case("bce", settings=(("labels", "mean"),)),
    "cross_entropy": Case("cross_entropy", "classes"),
    "tokens": Case("cross_entropy", "tokens", gaps=True),
    "adaptive_threshold": Case("adaptive_threshold", gaps=True),
}


def made(case: Case, **more: Any) -> nn.Module:
    """The loss's module, with the facts of the data it asks for."""
    factory = registry.find("losses", case.loss).factory
    facts = {"label_counts": np.arange(1, LABELS + 1), "row_count": 2 * LABELS}
    wanted = inspect.signature(factory).parameters
    return factory(**{k: v for k, v in facts.items() if k in wanted}, **dict(case.settings), **more)


def data(case: Case, rows: int) -> tuple[Tensor, Tensor]:
    """Features (B, D) or (B, T, D), and labels; the gaps are not spread evenly."""
    generator = torch.Generator().manual_seed(7)
    lead = (rows, TOKENS) if case.kind.startswith("token") else (rows,)
    features = torch.randn(*lead, FEATURES, generator=generator, dtype=torch.float64)
    labels = torch.randint(LABELS, lead, generator=generator)
    if case.kind in ("multi_hot", "token_sets"):
        hot = nn.functional.one_hot(labels, LABELS)
        many = "many" in registry.find("losses", case.loss).factory.tasks
        more = torch.rand(hot.shape, generator=generator) < 0.3
        labels = hot | more if many else hot
        labels = labels if case.gaps else labels.double()  # whole numbers with -100, else floats
    if case.gaps:
        labels[1::4] = -100
        labels[:3] = -100 if lead == (rows,) else labels[:3]
        if case.kind == "tokens":
            labels[::2, 2:] = -100
    return features, labels


def model(case: Case) -> nn.Module:
    """The same linear model every time, in float64."""
    width = LABELS + registry.find("losses", case.loss).factory.extra_logits
    weights = torch.Generator().manual_seed(3)
    linear = nn.Linear(FEATURES, width).double()
    with torch.no_grad():
        for parameter in linear.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=weights, dtype=torch.float64))
    return linear


class Scorer(nn.Module):
    """A model as Trainer knows them: arguments by name, outputs by name."""

    def __init__(self, linear: nn.Module) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, features: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        """Trainer drops a column that is no argument here, so `labels` must be one."""
        return {"logits": self.linear(features)}


def gradient(module: nn.Module) -> Tensor:
    return torch.cat([parameter.grad.flatten() for parameter in module.parameters()])


def trained(case: Case, rows: int, loss_of: Any, **arguments: Any) -> tuple[list[Tensor], float]:
    """The gradient of every optimizer step of an epoch in Trainer, and the loss that it
    evaluates.
    """
    from transformers import Trainer, TrainerCallback, TrainingArguments

    steps: list[Tensor] = []

    class Keep(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model, **others):
            steps.append(gradient(model).clone())

    examples = [{"features": one, "labels": other} for one, other in zip(*data(case, rows))]
    with TemporaryDirectory() as folder:
        settings = TrainingArguments(
            **{
                "output_dir": folder,
                "optim": "sgd",
                "learning_rate": 0.0,
                "max_grad_norm": 0.0,
                "num_train_epochs": 1,
                "per_device_train_batch_size": BATCH,
                "per_device_eval_batch_size": BATCH,
                "train_sampling_strategy": "sequential",
                "use_cpu": True,
                "save_strategy": "no",
                "logging_strategy": "no",
                "report_to": [],
                "disable_tqdm": True,
                **arguments,
            }
        )
        trainer = Trainer(
            Scorer(model(case)),
            settings,
            train_dataset=examples,
            eval_dataset=examples,
            compute_loss_func=loss_of,
            callbacks=[Keep()],
        )
        trainer.train()
        return steps, trainer.evaluate()["eval_loss"]


def parallel(case: Case, rows: int) -> Tensor:
    """The gradient in a plain loop under DistributedDataParallel, every process with its share of
    the rows.
    """
    features, labels = data(case, rows)
    share = slice(distributed.get_rank(), rows, distributed.get_world_size())
    wrapped = nn.parallel.DistributedDataParallel(model(case))
    made(case)(wrapped(features[share]), labels[share]).backward()
    return gradient(wrapped)


def trained_in_every_way(rows: int) -> dict[str, Tensor]:
    """Case/accumulation/average_tokens_across_devices/step -> gradient, and "eval" for the step."""
    from tagwright.integrations.huggingface import TrainerLoss

    found: dict[str, Tensor] = {}
    for name, case in TWO_PROCESSES.items():
        for accumulate, average in product((1, 3), (True, False)):
            ways = {
                "gradient_accumulation_steps": accumulate,
                "average_tokens_across_devices": average,
            }
            steps, loss = trained(case, rows, TrainerLoss(made(case)), **ways, ddp_backend="gloo")
            found |= {
                f"{name}/{accumulate}/{average}/{step}": value for step, value in enumerate(steps)
            }
            found[f"{name}/{accumulate}/{average}/eval"] = torch.tensor(loss, dtype=torch.float64)
    return found


def main(work: str, out: str, rows: int) -> None:
    torch.set_num_threads(1)
    if work == "trainer":  # which opens the process group itself
        found = trained_in_every_way(rows)
    else:
        distributed.init_process_group("gloo")
        found = {name: parallel(Case(name), rows) for name in PLAIN}
    found["processes"] = torch.tensor(distributed.get_world_size())
    if distributed.get_rank() == 0:
        save_file(found, out)
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.stdout.flush()
    # the work is done; a thread of gloo's that outlives Python now and then aborts the process
    os._exit(0)

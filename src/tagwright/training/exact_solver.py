"""Where nothing is learnt by steps: the regressions of all labels, solved one by one, and what can
be solved so.
"""

import pyarrow as pa
import pyarrow.compute as pc
import torch

from tagwright import registry
from tagwright.batches.rows import Rows
from tagwright.errors import SettingsError
from tagwright.models.network import Network
from tagwright.settings.schema import Settings
from tagwright.training.history import History
from tagwright.training.memory import free_bytes
from tagwright.training.optimizers.joint import JointOptimizer
from tagwright.training.optimizers.label_by_label import label_steps
from tagwright.training.prepared import Prepared
from tagwright.training.state import Run, Training
from tagwright.training.step_stream import interruptible, saved

# of the features, that one regression may hold at a time: with labels beside them, and scaled by
# row
COPIES = 3


def check_exact(prepared: Prepared, settings: Settings) -> None:
    """Refuse what is no logistic regression of features that stay as they are; all faults at
    once.
    """
    encoder, loss, head = settings.encoder.name, settings.loss.name, settings.head.name
    sparse = registry.find(registry.ENCODERS, encoder).factory.sparse
    names = ", ".join(choice.name for choice in settings.regularize)
    faults = {
        f"{encoder} learns its features, and they must stay as they are: take --encoder bow": (
            not sparse
        ),
        f"each label is a logistic regression, whose loss is bce, not {loss}": loss != "bce",
        f"labels are there or not, targets {settings.targets.name} are soft: take hard": (
            settings.targets.name != "hard"
        ),
        "labels are there or not, and the data give some of them values between": _between(
            prepared.tables["train"]
        ),
        f"mask {settings.mask.name} is for training by steps: take none": (
            settings.mask.name != "none"
        ),
        f"weights {settings.weights.name} are for training by steps: take none": (
            settings.weights.name != "none"
        ),
        f"{names} stand around training by steps: leave them out": bool(names),
        f"head {head} is trained by steps: take document or chain": (
            head not in ("document", "chain")
        ),
        "whole texts are labelled, and these data have tags of tokens": (
            bool(prepared.sheets) and not prepared.tagged
        ),
        f"it solves one head, and there are {len(prepared.heads)}": (
            len(prepared.heads) > 1 and not prepared.sheets
        ),
        "each text has exactly one label, and a chain is for any number: take binary-relevance": (
            head == "chain" and prepared.space.exclusive
        ),
    }
    if any(faults.values()):
        found = "; ".join(sentence for sentence, holds in faults.items() if holds)
        raise SettingsError(f"fit.optimizer=exact cannot be here: {found}")


def solve_network(
    network: Network, rows: Rows, settings: Settings, run: Run, *, fingerprint: str, phase: str
) -> None:
    """Solve for all labels, from the run's checkpoint on where there is one."""
    training = Training(network=network, optimizer=JointOptimizer([]), history=History())
    folder = None if run.folder is None else run.folder / phase
    if folder is not None:
        training.take_up(folder, fingerprint)

    def save(label: int) -> None:
        if folder is not None:
            training.save(label, folder, fingerprint)

    (name, own), *_ = rows.heads.items()  # a run with several heads was refused
    stream = label_steps(
        network.heads[name],
        rows,
        cost=settings.fit.cost,
        start=training.step,
        workers=workers_for(rows),
    )
    stream = interruptible(saved(stream, save, seconds=settings.fit.save_seconds), run.asked, save)
    for _ in run.progress(stream, phase, training.step, own.target.shape[1]):
        pass


def workers_for(rows: Rows) -> int:
    """As many threads as there are for torch, and as memory has room for what they hold."""
    matrix, free = rows.inputs.matrix, free_bytes(torch.device("cpu"))  # type: ignore[attr-defined]
    held = COPIES * (8 * matrix.nnz + matrix.indices.nbytes) + 1
    return max(
        1, torch.get_num_threads() if free is None else min(torch.get_num_threads(), free // held)
    )


def _between(table: pa.Table) -> bool:
    """Whether a label of the data has another value than 0 and 1."""
    if "values" not in table.column_names:
        return False
    found = pc.unique(pc.list_flatten(table["values"])).to_pylist()
    return bool({*found} - {0, 1, None})

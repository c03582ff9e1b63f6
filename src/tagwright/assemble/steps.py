"""Which loop trains: whole steps captured as graphs where a GPU can, else the plain one; both find room by cutting."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from tagwright import parts
from tagwright.assemble.chunked import chunked_loss
from tagwright.assemble.device import device_of
from tagwright.assemble.memory import crowded, free_bytes
from tagwright.assemble.training import Run, Training
from tagwright.batches.resident import Resident, one_row_a_text, resident_bytes
from tagwright.batches.rows import Batch, Rows
from tagwright.fit.captured import CapturedStep, NotCaptured, captured_steps
from tagwright.fit.learner import Learn, learner_of, slots_drawn
from tagwright.fit.loop import Course, Dial, Step, steps
from tagwright.losses import SparseTarget
from tagwright.masks import Mask
from tagwright.network import Network
from tagwright.objective import Objective
from tagwright.seeds import uniform_of
from tagwright.settings import Settings

SHARE = 0.25  # of a GPU's free memory, that the rows may take


def steps_of(
    training: Training,
    course: Course,
    objective: Objective,
    rows: Rows,
    settings: Settings,
    run: Run,
    due: Callable[[int], bool],
) -> Iterator[Step]:
    """The steps from the training's own on. After a step that is `due`, the weights are those of that step."""
    choice, device = settings.fit, device_of(settings)
    facts = {"step_count": course.total, "width": training.network.encoder.width_out}
    factor = parts.build("schedules", settings.schedule.name, settings.schedule.options, **facts)
    done, dials = training.step, _dials(objective, rows, settings)
    tag_link = None if objective.tagging is None else settings.of_tags().link
    learn = learner_of(training.network, objective, settings, {"link": settings.link, "tag_link": tag_link})
    loss_of = partial(batch_loss, training.network, objective, learn)

    def loss_of_rows(index: np.ndarray, generator: torch.Generator) -> Tensor:
        return loss_of(rows.batch(index, device), generator)

    def in_more_parts(count: int, of_rows: int) -> int:
        training.parts = crowded(count, of_rows, settings, run.say)
        return training.parts

    reason = against_capture(training, objective, rows, settings, run)
    if reason is None:
        try:
            captured = CapturedStep(
                Resident(rows, device),
                training.network,
                training.optimiser,  # type: ignore[arg-type]
                loss_of,
                batch=choice.batch,
                accumulate=training.parts,
                clip=choice.clip,
                dials=dials,
            )
            for step in captured_steps(captured, course, factor, start=done, due=due, seed=choice.seed):
                done = step.number
                yield step
            return
        except NotCaptured as refusal:
            reason = str(refusal)
    if reason:
        run.say(f"steps run one by one, not as captured graphs: {reason}")
    yield from steps(
        training.network,
        training.optimiser,
        course,
        loss_of_rows,
        factor,
        start=done,
        accumulate=training.parts,
        crowded=in_more_parts,
        clip=choice.clip,
        seed=choice.seed,
        device=device,
        dials=dials,
        ranks=run.ranks,
    )


def _dials(objective: Objective, rows: Rows, settings: Settings) -> list[Dial]:
    """What of the objective changes from step to step."""
    found = []
    if rows.soft is not None and settings.soft.from_step:
        found.append(Dial(objective.begun, lambda step: float(step >= settings.soft.from_step)))
    if isinstance(objective.mask_of, Mask) and objective.mask_of.draw == "step":
        objective.of_step = torch.zeros((), device=device_of(settings))
        found.append(Dial(objective.of_step, lambda step: uniform_of(settings.fit.seed, "mask", step)))
    return found


def batch_loss(
    network: Network, objective: Objective, learn: Learn, batch: Batch, generator: torch.Generator
) -> Tensor:
    """The objective of a batch, summed over its examples."""
    if isinstance(batch.target, SparseTarget):
        return chunked_loss(network, objective, batch)
    return learn(slots_drawn(network, batch, generator), generator).value


def against_capture(training: Training, objective: Objective, rows: Rows, settings: Settings, run: Run) -> str | None:
    """Why steps are not captured: None where they are, nothing to say where nobody would expect it."""
    device = device_of(settings)
    asked = settings.fit.capture and device.type == "cuda"
    if not asked or not isinstance(training.optimiser, torch.optim.AdamW):
        return ""
    if run.ranks.world > 1:
        return "several processes add up their gradients"
    if objective.loss.batchwise:
        return f"{settings.loss.name} looks at a whole batch, which may not be filled up"
    if rows.sparse:
        return "the labels come in chunks"
    if not one_row_a_text(rows):
        return "texts in windows have no fixed shape"
    size, free = resident_bytes(rows), free_bytes(device) or 0
    if size > SHARE * free:
        return f"texts and labels take {size / 1e9:.1f} GB, and the GPU has {free / 1e9:.1f} GB free"
    return None

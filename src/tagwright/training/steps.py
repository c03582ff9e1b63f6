"""Which loop trains: whole steps captured as graphs where a GPU can, else the plain one; both find
room by cutting.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch import Tensor

from tagwright import registry
from tagwright.arrays import Ints
from tagwright.batches.resident import Resident, one_row_a_text, resident_bytes
from tagwright.batches.rows import Batch, Rows
from tagwright.masks import Mask
from tagwright.models.device import device_of
from tagwright.models.network import Network
from tagwright.randomness import uniform_of
from tagwright.settings.schema import Settings
from tagwright.training.captured import CapturedStep, NotCaptured, captured_steps
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import Learn, learner_of, slots_drawn
from tagwright.training.loop import Course, Dial, Step, steps
from tagwright.training.memory import crowded, free_bytes
from tagwright.training.state import Run, Training

SHARE = 0.25  # of a GPU's free memory, that the rows may take


def steps_of(
    training: Training,
    course: Course,
    objectives: Mapping[str, HeadObjective],
    rows: Rows,
    settings: Settings,
    run: Run,
    due: Callable[[int], bool],
) -> Iterator[Step]:
    """The steps from the training's own on. After a step that is `due`, the weights are those of
    that step.
    """
    choice, device = settings.fit, device_of(settings)
    facts = {"step_count": course.total, "width": training.network.encoder.width_out}
    factor = registry.build(
        registry.SCHEDULES, settings.schedule.name, settings.schedule.options, **facts
    )
    done, dials = training.step, _dials(objectives, rows, settings)
    loss_of = partial(
        batch_loss, training.network, learner_of(training.network, objectives, settings)
    )

    def loss_of_rows(index: Ints, generator: torch.Generator) -> Tensor:
        return loss_of(rows.batch(index, device), generator)

    def in_more_parts(count: int, of_rows: int) -> int:
        training.parts = crowded(count, of_rows, settings, run.say)
        return training.parts

    reason = against_capture(training, objectives, rows, settings, run)
    if reason is None:
        try:
            captured = CapturedStep(
                Resident(rows, device),
                training.network,
                training.optimizer,  # type: ignore[arg-type]
                loss_of,
                batch=choice.batch,
                accumulate=training.parts,
                clip=choice.clip,
                dials=dials,
            )
            for step in captured_steps(
                captured, course, factor, start=done, due=due, seed=choice.seed
            ):
                done = step.number
                yield step
            return
        except NotCaptured as refusal:
            reason = str(refusal)
    if reason:
        run.say(f"steps run one by one, not as captured graphs: {reason}")
    yield from steps(
        training.network,
        training.optimizer,
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


def _dials(objectives: Mapping[str, HeadObjective], rows: Rows, settings: Settings) -> list[Dial]:
    """What of the objectives changes from step to step."""
    found = []
    for name, head in objectives.items():
        objective, begins = head.objective, settings.of(name).soft.from_step
        if rows.heads[name].soft is not None and begins:
            found.append(Dial(objective.begun, partial(_begun, begins)))
        if isinstance(objective.mask_of, Mask) and objective.mask_of.draw == "step":
            objective.of_step = torch.zeros((), device=device_of(settings))
            found.append(Dial(objective.of_step, partial(uniform_of, settings.fit.seed, "mask")))
    return found


def _begun(begins: int, step: int) -> float:
    return float(step >= begins)


def batch_loss(network: Network, learn: Learn, batch: Batch, generator: torch.Generator) -> Tensor:
    """The objectives of a batch, summed over its examples."""
    return learn(slots_drawn(network, batch, generator), generator).value


def against_capture(
    training: Training,
    objectives: Mapping[str, HeadObjective],
    rows: Rows,
    settings: Settings,
    run: Run,
) -> str | None:
    """Why steps are not captured: None where they are, nothing to say where nobody would expect
    it.
    """
    device = device_of(settings)
    asked = settings.fit.capture and device.type == "cuda"
    if not asked or not isinstance(training.optimizer, torch.optim.AdamW):
        return ""
    if run.ranks.world > 1:
        return "several processes add up their gradients"
    batchwise = [settings.of(name).loss.name for name, head in objectives.items() if head.batchwise]
    if batchwise:
        return f"{batchwise[0]} looks at a whole batch, which may not be filled up"
    if rows.sparse:
        return "the labels come in chunks"
    if not one_row_a_text(rows):
        return "texts in windows have no fixed shape"
    size, free = resident_bytes(rows), free_bytes(device) or 0
    if size > SHARE * free:
        return (
            f"texts and labels take {size / 1e9:.1f} GB, and the GPU has {free / 1e9:.1f} GB free"
        )
    return None

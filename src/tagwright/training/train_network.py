"""One training of a network: its steps, and what stands around them."""

from collections.abc import Callable, Mapping

from tagwright.arrays import Ints
from tagwright.batches.bucket import plan
from tagwright.batches.rows import Rows
from tagwright.models.device import deterministic, forked_random
from tagwright.models.network import Network
from tagwright.models.precision import settle
from tagwright.settings.schema import Settings
from tagwright.settings.sections import FitSettings
from tagwright.training.distributed_limits import require_one_start
from tagwright.training.exact_solver import solve_network
from tagwright.training.head_objective import HeadObjective
from tagwright.training.history import History
from tagwright.training.loop import Course
from tagwright.training.memory import explained
from tagwright.training.optimizers.optimizer import optimizer_of
from tagwright.training.state import Run, Training
from tagwright.training.step_stream import (
    Evaluation,
    due,
    evaluated,
    interruptible,
    recorded,
    saved,
    stopped,
)
from tagwright.training.steps import steps_of


def train_network(
    network: Network,
    objectives: Mapping[str, HeadObjective],
    rows: Rows,
    settings: Settings,
    run: Run,
    history: History,
    score: Callable[[], Evaluation] | None,
    *,
    fingerprint: str,
    phase: str,
) -> None:
    """Train to the end, from the run's checkpoint where there is one; the network ends with its
    best weights.
    """
    if settings.fit.optimizer == "exact":
        solve_network(network, rows, settings, run, fingerprint=fingerprint, phase=phase)
        return
    choice, course, ranks = settings.fit, _course(rows, settings.fit), run.ranks
    optimizer = optimizer_of(network, settings, objectives)
    training = Training(
        network=network, optimizer=optimizer, history=history, parts=choice.accumulate
    )
    folder = None if run.folder is None else run.folder / phase
    if folder is not None:
        training.take_up(folder, fingerprint)
    if network.encoder.precision == "auto":
        settle(network.encoder, agreed=ranks.all)
    if ranks.world > 1:
        require_one_start(network, training.step, fingerprint, ranks)

    def save(step: int) -> None:
        if folder is not None and ranks.first:
            training.save(step, folder, fingerprint)

    def save_and_meet(step: int) -> None:
        save(step)
        # one that ends makes torchrun end the others: not while the first is writing
        ranks.any(False)

    def evaluation_due(number: int) -> bool:
        return score is not None and due(
            number, every=course.per_epoch / choice.evaluations, total=course.total
        )

    stream = steps_of(training, course, objectives, rows, settings, run, evaluation_due)
    if score is not None:
        stream = evaluated(stream, score, evaluation_due)
    stream = stopped(
        recorded(stream, history, training.keep), history, patience=choice.patience if score else 0
    )
    stream = saved(stream, save, seconds=choice.save_seconds)
    stream = interruptible(stream, lambda: ranks.any(run.asked()), save_and_meet)
    with forked_random(), deterministic(choice.deterministic), explained():
        for _ in run.progress(stream, phase, training.step, course.total):
            pass
    if training.best:
        network.load_state_dict(training.best)
    network.encoder.finish()
    for name in network.heads.keys() - rows.heads.keys():  # those that have served
        del network.heads[name]


def _course(rows: Rows, choice: FitSettings) -> Course:
    lengths = rows.inputs.lengths
    per_epoch = -(-len(lengths) // choice.batch)
    latest: dict[int, list[Ints]] = {}

    def batches(epoch: int) -> list[Ints]:
        if epoch not in latest:
            latest.clear()
            latest[epoch] = plan(lengths, batch=choice.batch, seed=choice.seed, epoch=epoch)
        return latest[epoch]

    sizes = rows.sizes
    size = len if sizes is None else lambda index: max(int(sizes[index].sum()), 1)
    return Course(
        plan=batches, per_epoch=per_epoch, total=max(1, round(choice.epochs * per_epoch)), size=size
    )

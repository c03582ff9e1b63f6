"""Training: from prepared data to a model with its decision, resumable at every step."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module

import numpy as np

from tagwright import registry
from tagwright.batches.bucket import plan
from tagwright.batches.rows import Rows
from tagwright.errors import SettingsError
from tagwright.inference.fit_decision import rule_of
from tagwright.masks import Mask
from tagwright.models.build import build_network, check_head
from tagwright.models.device import deterministic, device_of, forked_random
from tagwright.models.network import Network
from tagwright.models.precision import settle
from tagwright.models.shortlist import left_out
from tagwright.objective import build_objective
from tagwright.settings.schema import Choice, Settings
from tagwright.settings.sections import FitSettings
from tagwright.storage import toml
from tagwright.training.decided import Fitted, TrainedNetwork, decided
from tagwright.training.dev import DevInputs, Watched, devs_of, scorer
from tagwright.training.distributed_limits import require_one_start
from tagwright.training.exact import check_exact, is_exact, solve_network
from tagwright.training.head_objective import HeadObjective
from tagwright.training.history import History
from tagwright.training.learner import check_regularizers
from tagwright.training.loop import Course
from tagwright.training.memory import explained
from tagwright.training.mlm_head import check_mlm, mlm_heads
from tagwright.training.needed_memory import require_memory
from tagwright.training.optimizers.of_network import optimizer_of
from tagwright.training.pipes import (
    Evaluation,
    due,
    evaluated,
    interruptible,
    recorded,
    saved,
    stopped,
)
from tagwright.training.prepare import Prepared
from tagwright.training.state import OF_HEAD, Run, Training
from tagwright.training.steps import steps_of
from tagwright.training.teacher import Teaching
from tagwright.training.training_rows import check_lessons, lessons


def check(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """Refuse what cannot be trained, before anything is written; what a person should know of the
    rest comes back.
    """
    several = len(prepared.heads) > 1
    said: list[str] = []
    for name in prepared.heads:
        with _about_head(name, several=several):
            _check_kind(settings.of(name), tagged=prepared.heads[name].tags_tokens)
    check_exact(prepared, settings)
    _check_clip(settings)
    _check_size(settings)
    for name in prepared.heads:
        with _about_head(name, several=several):
            said += _check_head(prepared.alone(name), settings.of(name))
    _with_vector_width(settings, prepared.vectors)
    _check_together(prepared, settings)
    Watched(prepared, settings)
    check_regularizers(settings, [settings.of(name) for name in prepared.heads])
    require_memory(prepared, settings)
    return (*said, *check_mlm(prepared, settings))


def _check_size(settings: Settings) -> None:
    """Refuse settings that a model folder could not hold: the trained model would not load."""
    try:
        toml.loads(settings.to_toml())
        toml.loads(toml.dumps(toml.without_none(settings.given)))
    except ValueError as error:
        raise SettingsError(
            f"these settings could not be read back from the model folder: as TOML, {error}; name"
            " fewer labels in split.keep, or train fewer heads"
        ) from None


def _check_kind(own: Settings, *, tagged: bool) -> None:
    """Refuse a head for tokens where texts are labelled, and one for texts where tokens are
    tagged.
    """
    if tagged != (own.head.name == "tokens"):
        wanted = (
            "tokens, for these are tagged"
            if tagged
            else "document, cloze or chain, for whole texts are labelled"
        )
        raise SettingsError(f"head.name is {own.head.name}; take {wanted}")


def _check_head(prepared: Prepared, own: Settings) -> tuple[str, ...]:
    """Refuse what one head by itself cannot learn."""
    objective = build_objective(
        own, prepared.space, row_count=prepared.heads[prepared.first].examples
    )
    check_head(own, prepared.space)
    rule_of(own.decide, exclusive=prepared.space.exclusive, tagged=prepared.tagged)
    check_lessons(prepared, own, objective)
    mask = objective.mask_of.said if isinstance(objective.mask_of, Mask) else ()
    return (*mask, *left_out(own.head, len(prepared.space)))


@contextmanager
def _about_head(name: str, *, several: bool) -> Iterator[None]:
    """Errors inside say which of several heads they are about."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"[heads.{name}] {error}" if several else str(error)) from None


def _check_together(prepared: Prepared, settings: Settings) -> None:
    """Refuse heads that cannot stand beside each other."""
    slotted = [
        name
        for name in prepared.heads
        if registry.find("heads", settings.of(name).head.name).factory.has_slots
    ]
    if len(slotted) > 1:
        raise SettingsError(
            f"heads {' and '.join(slotted)} put slots before a text, and only one can; take"
            " document"
        )
    tagging = [name for name, head in prepared.heads.items() if head.tags_tokens]
    if len({settings.of(name).head.options.get("overlap") for name in tagging}) > 1:
        raise SettingsError(
            f"heads {' and '.join(tagging)} read the same windows; give them one head.overlap"
        )
    if slotted and prepared.sheets:
        raise SettingsError(
            "head cloze puts slots before a text, and tags of its tokens are read without them; for"
            " both take head document"
        )


def _check_clip(settings: Settings) -> None:
    """Refuse to clip gradients that are sparse, such as those of bow."""
    if registry.find("encoders", settings.encoder.name).factory.sparse and settings.fit.clip > 0:
        raise SettingsError(
            f"{settings.encoder.name} has sparse gradients, which cannot be clipped; leave fit.clip"
            " out or set it to 0"
        )


def fit(prepared: Prepared, settings: Settings, run: Run | None = None) -> Fitted:
    """Train, and fit the decision on dev."""
    return decided(train(prepared, settings, run))


def train(prepared: Prepared, settings: Settings, run: Run | None = None) -> TrainedNetwork:
    """Train and keep the best; then train on everything where the settings say so."""
    # the first optimizer would: a second that is not the first run's
    import_module("torch._dynamo")
    started, run = time.monotonic(), run or Run()
    settings = _with_vector_width(settings, prepared.vectors)
    fingerprint = prepared.fingerprint(settings)
    network = _network(prepared, settings)
    objectives = objectives_of(prepared, settings)
    teachings = {name: _teaching(prepared, name, settings, run) for name in prepared.heads}
    rows = lessons(prepared, teachings, ["train"], network, objectives, settings)
    dev = prepared.rows("dev", network, settings)
    asked = DevInputs(prepared, settings, dev.inputs, devs_of(prepared, settings, dev))
    watch = Watched(prepared, settings)
    history, score = History(sign=watch.sign), scorer(network, asked, watch, run.ranks)
    train_network(
        network,
        objectives,
        rows,
        settings,
        run,
        history,
        score,
        fingerprint=fingerprint,
        phase="fit",
    )
    answers = asked.answers(network, run.ranks)
    if settings.fit.refit:
        epochs = settings.fit.epochs if history.best is None else history.best["epoch"]
        again = replace(settings, fit=replace(settings.fit, epochs=epochs))
        network = _network(prepared, settings)
        both = lessons(prepared, teachings, ["train", "dev"], network, objectives, settings)
        train_network(
            network,
            objectives,
            both,
            again,
            run,
            History(),
            None,
            fingerprint=fingerprint,
            phase="refit",
        )
    return TrainedNetwork(
        prepared=prepared,
        settings=settings,
        network=network.cpu(),
        history=history.rows,
        watch=watch,
        devs=asked.devs,
        answers=answers,
        started=started,
    )


def _teaching(prepared: Prepared, name: str, settings: Settings, run: Run) -> Teaching:
    """The teachers of one head, which learn it alone."""
    if len(prepared.heads) > 1 and run.folder is not None:
        run = replace(run, folder=run.folder / f"{OF_HEAD}{name}")
    return Teaching(prepared=prepared.alone(name), settings=settings.of(name), run=run, train=fit)


def objectives_of(prepared: Prepared, settings: Settings) -> dict[str, HeadObjective]:
    """What each head learns by, on the run's device.

    A step divides by what its rows count: texts, or tokens where every head tags these. Every head
    weighs as its setting says, so one that has answers for a tenth of them weighs each of its
    answers ten times. A loss of a whole batch of texts is a mean as it is.
    """
    found, counted = {}, prepared.counted
    for name, head in prepared.heads.items():
        own, weight = settings.of(name), settings.weight_of(name)
        objective = build_objective(own, head.space, row_count=head.examples)
        a_mean = objective.loss.batchwise and not head.tags_tokens
        balanced = (
            weight if a_mean or head.examples == counted else weight * counted / head.examples
        )
        of_any = balanced if head.tags_tokens else weight
        made = HeadObjective(
            objective,
            link=own.link,
            tags_tokens=head.tags_tokens,
            weight=balanced,
            of_any_text=of_any,
        )
        found[name] = made.to(device_of(settings))
    return found


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
    if is_exact(settings):
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
    settle(network.encoder, agreed=ranks.all)
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


def _network(prepared: Prepared, settings: Settings) -> Network:
    network = build_network(
        settings,
        {name: (head.space, head.examples) for name, head in prepared.heads.items()},
        sizes=prepared.tokenizer.sizes,
        learned=prepared.learned,
        vectors=prepared.vectors,
        fresh=True,
        tokenizer=prepared.tokenizer,
    )
    network.heads.update(mlm_heads(prepared, settings, network.encoder))
    return network.to(device_of(settings))


def _course(rows: Rows, choice: FitSettings) -> Course:
    lengths = rows.inputs.lengths
    per_epoch = -(-len(lengths) // choice.batch)
    latest: dict[int, list[np.ndarray]] = {}

    def batches(epoch: int) -> list[np.ndarray]:
        if epoch not in latest:
            latest.clear()
            latest[epoch] = plan(lengths, batch=choice.batch, seed=choice.seed, epoch=epoch)
        return latest[epoch]

    sizes = rows.sizes
    size = len if sizes is None else lambda index: max(int(sizes[index].sum()), 1)
    return Course(
        plan=batches, per_epoch=per_epoch, total=max(1, round(choice.epochs * per_epoch)), size=size
    )


def _with_vector_width(settings: Settings, vectors: np.ndarray | None) -> Settings:
    if vectors is None:
        # not in the encoder: a saved model is built without the file, its vectors come with the
        # weights
        takes = registry.asked(registry.find("encoders", settings.encoder.name).factory)
        if "vectors" in takes and settings.encoder.options.get("freeze"):
            raise SettingsError(
                "freeze holds given vectors as they are, but there are none; give --vectors"
            )
        return settings
    options = {**settings.encoder.options, "width": vectors.shape[1]}
    return replace(settings, encoder=Choice(name=settings.encoder.name, options=options))

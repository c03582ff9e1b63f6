"""Training: from prepared data to a model with its decision, resumable at every step."""

import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from tagwright import metrics, parts
from tagwright.assemble.chunked import optimiser_of
from tagwright.assemble.decided import MAIN, TAGS, Fitted, Trained, decided
from tagwright.assemble.decision import decide_on, measured, rule_of, truth_of
from tagwright.assemble.device import deterministic, device_of, forked_random
from tagwright.assemble.exact import check_exact, is_exact, solve_network
from tagwright.assemble.lessons import check_lessons, lessons
from tagwright.assemble.memory import explained
from tagwright.assemble.mlm import check_mlm, mlm_heads
from tagwright.assemble.needed_memory import require_memory
from tagwright.assemble.network import build_network, check_head
from tagwright.assemble.prepare import Prepared
from tagwright.assemble.ranks import require_one_start
from tagwright.assemble.sheets import truth_of_tags
from tagwright.assemble.steps import steps_of
from tagwright.assemble.tag_head import tag_answers, tagging_of
from tagwright.assemble.teacher import Teaching
from tagwright.assemble.training import Run, Training
from tagwright.batches.bucket import plan
from tagwright.batches.rows import Rows
from tagwright.decide.zero import Zero
from tagwright.errors import SettingsError
from tagwright.fit.history import History
from tagwright.fit.learner import check_regularisers
from tagwright.fit.loop import Course
from tagwright.fit.pipes import Evaluation, due, evaluated, interruptible, recorded, saved, stopped
from tagwright.fit.precision import settle
from tagwright.fit.ranks import Ranks
from tagwright.labels.space import LabelSpace
from tagwright.masks import Mask
from tagwright.metrics._shortlist import TOP, WATCHED, require_given
from tagwright.metrics._tokens import usual_of_tags
from tagwright.model import Head, answers_of
from tagwright.network import Network
from tagwright.objective import Objective, build_objective
from tagwright.sections import FitSettings
from tagwright.settings import Choice, Settings
from tagwright.shortlist import left_out, shortlisted

BESIDE = ("macro_f1", "macro_f2", "entity_f1")  # shown beside the score where tokens are tagged


def check(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """Refuse what cannot be trained, before anything is written; what a person should know of the rest comes back."""
    if prepared.tagged != (settings.head.name == "tokens"):
        wanted = (
            "tokens, for these are tagged"
            if prepared.tagged
            else "document, cloze or chain, for whole texts are labelled"
        )
        raise SettingsError(f"head.name is {settings.head.name}; take {wanted}")
    check_exact(prepared, settings)
    _check_clip(settings)
    objective = build_objective(settings, prepared.space, row_count=prepared.example_count)
    check_head(settings, prepared.space)
    _with_vector_width(settings, prepared.vectors)
    watched(settings, prepared.space)
    rule_of(settings.decide, exclusive=prepared.space.exclusive, tagged=prepared.tagged)
    tagging_of(prepared, settings)
    check_regularisers(settings, *(() if prepared.tag_space is None else (settings.of_tags(),)))
    check_lessons(prepared, settings, objective)
    require_memory(prepared, settings)
    mask = objective.mask_of.said if isinstance(objective.mask_of, Mask) else ()
    said = (*mask, *left_out(settings.head, len(prepared.space)))
    return (*said, *check_mlm(prepared, settings))


def _check_clip(settings: Settings) -> None:
    """Refuse to clip gradients that are sparse, such as those of bow."""
    if parts.find("encoders", settings.encoder.name).factory.sparse and settings.fit.clip > 0:
        raise SettingsError(
            f"{settings.encoder.name} has sparse gradients, which cannot be clipped; leave fit.clip out or set it to 0"
        )


def fit(prepared: Prepared, settings: Settings, run: Run | None = None) -> Fitted:
    """Train, and fit the decision on dev."""
    return decided(train(prepared, settings, run))


def train(prepared: Prepared, settings: Settings, run: Run | None = None) -> Trained:
    """Train and keep the best; then train on everything where the settings say so."""
    import_module("torch._dynamo")  # the first optimiser would: a second that is not the first run's
    started, run = time.monotonic(), run or Run()
    settings = _with_vector_width(settings, prepared.vectors)
    space, fingerprint = prepared.space, prepared.fingerprint(settings)
    network = _network(prepared, settings)
    objective = build_objective(settings, space, row_count=prepared.example_count)
    objective.tagging = tagging_of(prepared, settings)
    objective = objective.to(device_of(settings))
    teaching = Teaching(prepared=prepared, settings=settings, run=run, train=fit)
    rows, dev = lessons(teaching, ["train"], network, objective), prepared.rows("dev", network, settings)
    sheet = prepared.sheets["dev"] if prepared.tagged else None
    truth = truth_of(dev.target, settings.head) if sheet is None else truth_of_tags(sheet.tags, len(space))
    metric = watched(settings, space)
    history = History(sign=1 if metrics.metric(metric)[1] else -1)
    score = _scorer(network, dev, truth, metric, settings, prepared, run.ranks)
    train_network(network, objective, rows, settings, run, history, score, fingerprint=fingerprint, phase="fit")
    answers = answers_of(network, dev.inputs, settings.head, space, settings.link, head=MAIN, ranks=run.ranks)
    of_tags = None if prepared.tag_space is None else tag_answers(prepared, network, settings, run.ranks)
    if settings.fit.refit:
        epochs = settings.fit.epochs if history.best is None else history.best["epoch"]
        again = replace(settings, fit=replace(settings.fit, epochs=epochs))
        network = _network(prepared, settings)
        both = lessons(teaching, ["train", "dev"], network, objective)
        train_network(network, objective, both, again, run, History(), None, fingerprint=fingerprint, phase="refit")
    return Trained(
        prepared=prepared,
        settings=settings,
        network=network.cpu(),
        history=history.rows,
        metric=metric,
        answers=answers,
        of_tags=of_tags,
        truth=truth,
        offsets=None if sheet is None else sheet.offsets,
        started=started,
    )


def train_network(
    network: Network,
    objective: Objective,
    rows: Rows,
    settings: Settings,
    run: Run,
    history: History,
    score: Callable[[], Evaluation] | None,
    *,
    fingerprint: str,
    phase: str,
) -> None:
    """Train to the end, from the run's checkpoint where there is one; the network ends with its best weights."""
    if is_exact(settings):
        solve_network(network, rows, settings, run, fingerprint=fingerprint, phase=phase)
        return
    choice, course, ranks = settings.fit, _course(rows, settings.fit), run.ranks
    optimiser = optimiser_of(network, settings)
    training = Training(network=network, optimiser=optimiser, history=history, parts=choice.accumulate)
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
        ranks.any(False)  # one that ends makes torchrun end the others: not while the first is writing

    def evaluation_due(number: int) -> bool:
        return score is not None and due(number, every=course.per_epoch / choice.evaluations, total=course.total)

    stream = steps_of(training, course, objective, rows, settings, run, evaluation_due)
    if score is not None:
        stream = evaluated(stream, score, evaluation_due)
    stream = stopped(recorded(stream, history, training.keep), history, patience=choice.patience if score else 0)
    stream = saved(stream, save, seconds=choice.save_seconds)
    stream = interruptible(stream, lambda: ranks.any(run.asked()), save_and_meet)
    with forked_random(), deterministic(choice.deterministic), explained():
        for _ in run.progress(stream, phase, training.step, course.total):
            pass
    if training.best:
        network.load_state_dict(training.best)
    network.encoder.finish()
    for name in {"soft", "mlm"} & network.heads.keys():  # they have served
        del network.heads[name]


def _network(prepared: Prepared, settings: Settings) -> Network:
    two = settings.soft.heads == 2 and settings.targets.name != "hard"
    beside = {} if prepared.tag_space is None else {TAGS: prepared.tag_space}
    network = build_network(
        settings,
        {MAIN: prepared.space} | ({"soft": prepared.space} if two else {}) | beside,
        sizes=prepared.tokeniser.sizes,
        learned=prepared.learned,
        vectors=prepared.vectors,
        row_count=prepared.example_count,
        token_count=prepared.token_count,
        fresh=True,
        tokeniser=prepared.tokeniser,
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
    return Course(plan=batches, per_epoch=per_epoch, total=max(1, round(choice.epochs * per_epoch)), size=size)


def watched(settings: Settings, space: LabelSpace) -> str:
    """The metric that chooses the best model. By default it is free of thresholds, for F1 at a fixed one stays 0 for
    long where labels are sparse. One that the scores do not give is refused."""
    short, tagged = shortlisted(settings.head, len(space)), settings.head.name == "tokens"
    usual = usual_of_tags(space.names) if tagged else "accuracy" if space.exclusive else WATCHED if short else "lrap"
    name = usual if settings.fit.metric == "auto" else settings.fit.metric
    metrics.metric(name)
    return require_given(name) if short else name


def _scorer(
    network: Network, dev: Rows, truth: Any, metric: str, settings: Settings, prepared: Prepared, ranks: Ranks
) -> Callable[[], Evaluation]:
    space, link = prepared.space, settings.link
    texts = {"offsets": prepared.sheets["dev"].offsets} if prepared.tagged else {}
    beside = BESIDE if prepared.tagged else ()

    def score() -> Evaluation:
        answers = answers_of(network, dev.inputs, settings.head, space, link, head=MAIN, ranks=ranks)
        # ranking needs no decision, and fitting thresholds at every evaluation would cost
        if metric in ("lrap", *TOP):
            scores = Head(space=space, link=link, rule="zero", decision=Zero()).scores(answers)
        else:
            head, chosen = decide_on(answers, truth, settings, space, **texts)
            scores = head.scores(answers, **texts)._replace(chosen=chosen)
        found = measured(scores, truth, names=[metric, *beside], tags=space.names, **texts)
        results = found.results(label_counts=space.counts)
        if metric not in results:
            raise SettingsError(f"{metric} has no value for these labels and this decision; choose another fit.metric")
        return Evaluation(ranks.of_first(results[metric]), {name: results[name] for name in beside})

    return score


def _with_vector_width(settings: Settings, vectors: np.ndarray | None) -> Settings:
    if vectors is None:
        # not in the encoder: a saved model is built without the file, its vectors come with the weights
        takes = parts.asked(parts.find("encoders", settings.encoder.name).factory)
        if "vectors" in takes and settings.encoder.options.get("freeze"):
            raise SettingsError("freeze holds given vectors as they are, but there are none; give --vectors")
        return settings
    options = {**settings.encoder.options, "width": vectors.shape[1]}
    return replace(settings, encoder=Choice(name=settings.encoder.name, options=options))

"""Training: from prepared data to a model with its decision, resumable at every step."""

import time
from dataclasses import replace
from importlib import import_module

from tagwright.models.build import build_network
from tagwright.models.device import device_of
from tagwright.models.network import Network
from tagwright.settings.schema import Settings
from tagwright.training.dev_split import DevInputs, Watched, devs_of, scorer
from tagwright.training.fitted import Fitted, TrainedNetwork, decided
from tagwright.training.head_objective import objectives_of
from tagwright.training.history import History
from tagwright.training.mlm_head import mlm_heads
from tagwright.training.prepared import Prepared
from tagwright.training.state import OF_HEAD, Run
from tagwright.training.teacher import Teaching
from tagwright.training.train_network import train_network
from tagwright.training.training_rows import lessons


def fit(prepared: Prepared, settings: Settings, run: Run | None = None) -> Fitted:
    """Train, and fit the decision on dev."""
    return decided(train(prepared, settings, run))


def train(prepared: Prepared, settings: Settings, run: Run | None = None) -> TrainedNetwork:
    """Train and keep the best; then train on everything where the settings say so."""
    # the first optimizer would: a second that is not the first run's
    import_module("torch._dynamo")
    started, run = time.monotonic(), run or Run()
    settings = prepared.widened(settings)
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
    if settings.regularize:
        network.heads.update(mlm_heads(prepared, settings, network.encoder))
    return network.to(device_of(settings))

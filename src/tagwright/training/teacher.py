"""A teacher: a trained model of the same kind, whose scores are soft labels (KWLS) or tell what
words do (MaskLoss).

It is made when it is asked for: loaded from a model folder, or trained with the run's own settings
on the labels as given. What was trained or scored is kept in the run's folder, or where several
runs share it.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from tagwright.arrays import Floats
from tagwright.errors import ModelError, some
from tagwright.inference import model_folder
from tagwright.inference.model import Model, inputs_of
from tagwright.labels.shortlist import Shortlist
from tagwright.labels.space import LabelSpace
from tagwright.masks.dependencies import Elements
from tagwright.models.device import device_of
from tagwright.settings.schema import Choice, Settings
from tagwright.settings.sections import SoftSettings
from tagwright.storage.files import replaced, write_json
from tagwright.storage.folder import MANIFEST, sha256
from tagwright.targets.distil import TeacherScores, folders_in
from tagwright.training.loop import Step
from tagwright.training.prepared import Prepared
from tagwright.training.state import Run

PHASE = "teacher"
CARD = (
    "# A teacher\n\nTrained on the labels as given, to make soft labels or masks for another"
    " model.\n"
)


class TrainedModel(Protocol):
    """What a training comes to."""

    @property
    def model(self) -> Model:
        """The model."""


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """The teachers of one run. `train` makes a model of data and settings: `fit` itself."""

    prepared: Prepared
    settings: Settings
    run: Run
    train: Callable[[Prepared, Settings, Run], TrainedModel]
    _models: dict[str, Model] = field(default_factory=dict)  # by folder
    _elements: list[Elements] = field(default_factory=list)

    def elements(self, find: Callable[[], Elements]) -> Elements:
        """The words that labels depend on, found once in this run."""
        if not self._elements:
            self._elements.append(find())
        return self._elements[0]

    def model(self, folder: str = "") -> Model:
        """The teacher in a model folder, with the labels of the data; "" is one that is trained for
        this run.
        """
        if folder not in self._models:
            made = self._loaded(Path(folder)) if folder else self._trained()
            self._models[folder] = made
        return self._models[folder]

    def scores(self, names: Sequence[str], folder: str = "") -> TeacherScores:
        """Logits (n, L) of the texts of some tables; kept beside the teacher, so that they are made
        once.
        """
        model, store, ranks = self.model(folder), self.store(folder), self.run.ranks
        link = model.primary.link
        path = (
            None
            if store is None
            else store / f"scores-{'-'.join(names)}-{self.key(folder)[:16]}.npy"
        )
        if path is not None and ranks.all(path.is_file()):
            return TeacherScores(np.load(path), link)
        logits = self._logits(
            model, pa.concat_tables(self.prepared.tables[name].select(["text"]) for name in names)
        )
        if folder:  # several would all stay in memory until the run ends
            del model, self._models[folder]
        with ranks.together():
            if path is not None and ranks.first:
                _save(logits, path)
        return TeacherScores(logits, link)

    def store(self, folder: str = "") -> Path | None:
        """Where a teacher and what it said are kept; None where the run keeps nothing."""
        if self.run.teachers is not None:
            return self.run.teachers / self.key(folder)[:16]
        return None if self.run.folder is None else self.run.folder / PHASE

    def key(self, folder: str = "") -> str:
        """A digest of the teacher and the data."""
        if not folder:
            return self.prepared.fingerprint(plainly(self.settings))
        return hashlib.sha256(
            f"{sha256(Path(folder) / MANIFEST)} {self.prepared.data_digest}".encode()
        ).hexdigest()

    def _loaded(self, folder: Path) -> Model:
        with self.run.ranks.together():
            require_labels(folder, self.prepared.space, self.prepared.first)
            self.run.say(f"the teacher is the model {folder}")
            model = model_folder.load(folder)
            return model.alone(self.prepared.first) if self.prepared.first in model.heads else model

    def _trained(self) -> Model:
        settings, store, ranks = plainly(self.settings), self.store(), self.run.ranks
        with ranks.together():
            stands = store is not None and _stands(store, self.key())
        if store is not None and ranks.all(stands):
            self.run.say("the teacher is trained already")
            with ranks.together():
                return model_folder.load(store / "model", plugins=True)  # made by this run
        self.run.say(
            f"a teacher is trained first: {settings.encoder.name} with {settings.loss.name}, labels"
            " as given"
        )
        own = replace(self.run, folder=store, teachers=None, progress=self._progress)
        model = self.train(self.prepared, settings, own).model
        with ranks.together():
            if store is not None and ranks.first:
                _keep(model, store, self.key())
        return model

    def _progress(
        self, stream: Iterator[Step], title: str, start: int, total: int
    ) -> Iterator[Step]:
        return self.run.progress(stream, PHASE, start, total)

    def _logits(self, model: Model, table: pa.Table) -> Floats:
        """Logits (n, L) in the order of the data's labels, on which the link holds without a
        calibration.
        """
        head, network = model.primary, model.network.to(device_of(self.settings))
        inputs = inputs_of(
            network, model.tokenizer.encode(table["text"]), limit=model.inference.limit
        )
        found = model.answers(inputs, ranks=self.run.ranks)
        network.cpu()
        if isinstance(found, Shortlist):
            raise ModelError(
                f"a teacher must score all labels, and one of {len(head.space):,} keeps the highest"
                " alone"
            )
        found = head.calibration.log_odds(found)
        place = {name: number for number, name in enumerate(head.space.names)}
        columns = [place[name] for name in self.prepared.space.names]
        return np.ascontiguousarray(found[:, columns], np.float32)


def plainly(settings: Settings) -> Settings:
    """The settings of a teacher: those of the run, with the labels as given, no mask and no second
    training.
    """
    return replace(
        settings,
        # it says nothing that the parts do not, and two presets may share a teacher
        objective=settings.loss.name,
        targets=Choice(name="hard"),
        mask=Choice(name="none"),
        soft=SoftSettings(),
        fit=replace(settings.fit, refit=False),
    )


def check_teachers(settings: Settings, space: LabelSpace, head: str) -> None:
    """Refuse folders of teachers, named in the settings, that are no models of these labels."""
    named = [
        *folders_in(settings.targets.options.get("model", "")),
        settings.mask.options.get("model", ""),
    ]
    for folder in filter(None, named):
        require_labels(Path(folder), space, head)


def require_labels(folder: Path, space: LabelSpace, head: str) -> None:
    """Refuse a model folder whose labels are not those of `space`; their order does not matter.

    Of several heads the one with the same name as the `head` that learns counts, else the first.
    """
    if not folder.exists():
        raise ModelError(
            f"no model folder {folder} to teach; `tagwright fit DATA --out {folder}` makes one"
        )
    if not (folder / MANIFEST).is_file():
        raise ModelError(f"{folder} is no model folder; name the --out of a `tagwright fit`")
    own = model_folder.load_labels(folder, head)
    ours, theirs = set(space.names), set(own.names)
    sides = {"only the data have": ours - theirs, "only the teacher has": theirs - ours}
    found = [f"{side} {some(sorted(names))}" for side, names in sides.items() if names]
    if found:
        raise ModelError(
            f"the teacher {folder} has other labels: {'; '.join(found)}; train it on the same data"
        )
    if own.exclusive != space.exclusive:
        kinds = ["any number of labels", "exactly one label"]
        raise ModelError(
            f"the teacher {folder} is for texts with {kinds[own.exclusive]}, these have"
            f" {kinds[space.exclusive]}; train it on the same data"
        )


def _stands(store: Path, key: str) -> bool:
    """Whether the folder holds the finished teacher; that of another run is an error."""
    try:
        found = json.loads((store / "teacher.json").read_text(encoding="utf-8"))["fingerprint"]
    except FileNotFoundError:
        return False
    if found != key:
        raise ModelError(
            f"{store} belongs to a run with other data or settings; give those, or start over with"
            " --overwrite"
        )
    return True


def _keep(model: Model, store: Path, key: str) -> None:
    model_folder.save(model, store / "model", card=CARD, overwrite=True)
    write_json(store / "teacher.json", {"fingerprint": key})
    shutil.rmtree(store / "fit", ignore_errors=True)  # its checkpoints have served


def _save(array: Floats, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as aside, aside.open("wb") as file:
        np.save(file, array)

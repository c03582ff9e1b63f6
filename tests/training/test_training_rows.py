"""The rows that a run learns from: a teacher is asked only by those that want one."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tagwright import load, registry
from tagwright.data import read_data
from tagwright.errors import ModelError
from tagwright.objective import build_objective
from tagwright.settings.schema import resolve
from tagwright.training.head_objective import objectives_of
from tagwright.training.prepare import prepare
from tagwright.training.state import Run
from tagwright.training.teacher import Teaching
from tagwright.training.train import _network, fit
from tagwright.training.training_rows import check_lessons, lessons

from ..pipelines.kills import Watching
from ..pipelines.several import MOODS, TOPICS, heads_of, ready, write_heads


class Asked(Exception):
    """Somebody wanted a teacher."""


@pytest.fixture
def learnt(source, tiny):
    """The rows of train, where a teacher is an error."""

    def of(**sections):
        settings = resolve(tiny(**sections))
        prepared = prepare(read_data(source), settings)

        def train(*given):
            raise Asked

        return learnt_of(prepared, settings, train)

    return of


def lessons_of(prepared, settings, train, names=("train",)):
    """What is learnt of some tables; teachers are made by `train`."""
    facts = {"run": Run(), "train": train}
    own = {
        name: {"prepared": prepared.alone(name), "settings": settings.of(name)}
        for name in prepared.heads
    }
    teachings = {name: Teaching(**one, **facts) for name, one in own.items()}
    objectives, network = objectives_of(prepared, settings), _network(prepared, settings)
    return lessons(prepared, teachings, names, network, objectives, settings)


def learnt_of(prepared, settings, train, names=("train",)):
    """What the one head learns of them."""
    return lessons_of(prepared, settings, train, names).heads["main"]


def test_labels_as_given_and_soft_ones_from_words_ask_nobody(learnt):
    plain, soft = learnt(), learnt(targets={"name": "kwls"})
    assert plain.soft is None
    assert plain.excused is None
    assert soft.soft.shape == soft.target.shape
    assert soft.excused is None


@pytest.mark.parametrize(
    "wanting", [{"targets": {"name": "distil"}}, {"mask": {"name": "elements"}}]
)
def test_scores_and_words_of_a_teacher_ask_for_one(learnt, wanting):
    with pytest.raises(Asked):
        learnt(**wanting)


def test_a_file_of_words_asks_nobody(learnt, tmp_path):
    (tmp_path / "w.csv").write_text("word,label\nparis,city\nparis,tool\n")
    excused = learnt(mask={"name": "elements", "words": str(tmp_path / "w.csv")}).excused
    assert excused.shape[0] < 120
    assert excused.nnz > 0


@pytest.fixture
def half_labelled(source):
    """The data, every other text without its labels."""
    data = read_data(source)
    table = data.first
    kept = [
        labels if number % 2 else None for number, labels in enumerate(table["labels"].to_pylist())
    ]
    column = table.schema.get_field_index("labels")
    table = table.set_column(column, "labels", pa.array(kept, pa.list_(pa.string())))
    return replace(data, tables={"all": table})


def test_texts_without_labels_have_the_teachers_scores_for_labels(half_labelled, tiny, trained):
    model = {"name": "distil", "model": str(trained)}
    settings = resolve(tiny(targets=model))
    prepared = prepare(half_labelled, settings)
    rows = learnt_of(prepared, settings, fit)
    labelled, apart = prepared.tables["train"], prepared.tables["unlabelled"]
    assert apart.num_rows >= labelled.num_rows > 0
    assert len(rows.soft) == labelled.num_rows + apart.num_rows
    said = load(trained).predict_proba([*labelled["text"].to_pylist(), *apart["text"].to_pylist()])
    assert rows.soft == pytest.approx(said, abs=1e-5)
    assert rows.target[labelled.num_rows :].nnz == 0
    assert rows.labelled is None


def test_the_rows_of_two_tables_have_soft_labels_made_of_both(source, tiny):
    settings = resolve(tiny(targets={"name": "kwls"}))
    prepared = prepare(read_data(source), settings)
    rows = learnt_of(prepared, settings, fit, ["train", "dev"])
    labels = pa.concat_tables(prepared.tables[name].select(["labels"]) for name in ("train", "dev"))
    tokens = prepared.tokens["train"].joined(prepared.tokens["dev"])
    expected = registry.build(
        "targets", "kwls", {}, table=labels, space=prepared.space, tokens=tokens
    )
    np.testing.assert_array_equal(rows.soft, expected)
    gold = [
        [label in row for label in prepared.space.names] for row in labels["labels"].to_pylist()
    ]
    np.testing.assert_array_equal(rows.target.toarray(), np.array(gold, np.float32))


def test_every_head_has_the_soft_labels_of_its_own_labels(tmp_path):
    """Of one from words, of the other none; and a teacher learns the head alone that asks for
    it.
    """
    asked = []

    def train(prepared, settings, run):
        asked.append((prepared.first, settings.targets.name))
        raise Asked

    answers = {"mood": MOODS, "topic": TOPICS}
    own = {"topic": {"targets": "kwls", "objective": "bce"}}
    folder = write_heads(tmp_path, answers)
    prepared, settings = ready(folder, heads_of(*answers, **own), encoder="cnn")
    rows = lessons_of(prepared, settings, train).heads
    table, tokens = (
        prepared.alone("topic").tables["train"].select(["labels"]),
        prepared.tokens["train"],
    )
    expected = registry.build(
        "targets", "kwls", {}, table=table, space=prepared.heads["topic"].space, tokens=tokens
    )
    np.testing.assert_array_equal(rows["topic"].soft, expected)
    assert rows["mood"].soft is None
    assert asked == []
    taught = heads_of(*answers, mood={"targets": "distil"})
    with pytest.raises(Asked):
        lessons_of(*ready(folder, taught, encoder="cnn"), train)
    assert asked == [("mood", "hard")]


def test_the_teacher_of_half_labelled_data_learns_from_labels_alone(half_labelled, tiny):
    watching, settings = Watching(), resolve(tiny(targets={"name": "distil"}))
    prepared = prepare(half_labelled, settings)
    fit(prepared, settings, Run(progress=watching))
    labelled = prepared.tables["train"].num_rows
    both = labelled + prepared.tables["unlabelled"].num_rows
    assert watching.steps == {"teacher": 3 * -(-labelled // 16), "fit": 3 * -(-both // 16)}


@pytest.mark.parametrize("section", ["targets", "mask"])
def test_a_teacher_that_is_not_there_is_refused_before_training(section, source, tiny, tmp_path):
    name = {"targets": "distil", "mask": "elements"}[section]
    settings = resolve(tiny(**{section: {"name": name, "model": str(tmp_path / "none")}}))
    prepared = prepare(read_data(source), settings)
    with pytest.raises(ModelError, match="no model folder"):
        check_lessons(prepared, settings, build_objective(settings, prepared.space, row_count=120))

"""The rows that a run learns from: a teacher is asked only by those that want one."""

import pytest

from tagwright.assemble.lessons import check_lessons, lessons
from tagwright.assemble.prepare import prepare
from tagwright.assemble.teacher import Teaching
from tagwright.assemble.train import _network
from tagwright.assemble.training import Run
from tagwright.errors import ModelError
from tagwright.objective import build_objective
from tagwright.read import read_data
from tagwright.settings import resolve


class Asked(Exception):
    """Somebody wanted a teacher."""


@pytest.fixture
def learnt(source, tiny):
    """The rows of train, where a teacher is an error."""

    def of(**sections):
        settings = resolve(tiny(**sections))
        prepared = prepare(read_data(source), settings)
        objective = build_objective(settings, prepared.space, row_count=120)

        def train(*given):
            raise Asked

        teaching = Teaching(prepared=prepared, settings=settings, run=Run(), train=train)
        return lessons(teaching, ["train"], _network(prepared, settings), objective)

    return of


def test_labels_as_given_and_soft_ones_from_words_ask_nobody(learnt):
    plain, soft = learnt(), learnt(targets={"name": "kwls"})
    assert plain.soft is None
    assert plain.excused is None
    assert soft.soft.shape == soft.target.shape
    assert soft.excused is None


@pytest.mark.parametrize("wanting", [{"targets": {"name": "distil"}}, {"mask": {"name": "elements"}}])
def test_scores_and_words_of_a_teacher_ask_for_one(learnt, wanting):
    with pytest.raises(Asked):
        learnt(**wanting)


def test_a_file_of_words_asks_nobody(learnt, tmp_path):
    (tmp_path / "w.csv").write_text("word,label\nparis,city\nparis,tool\n")
    excused = learnt(mask={"name": "elements", "words": str(tmp_path / "w.csv")}).excused
    assert excused.shape[0] < 120
    assert excused.nnz > 0


@pytest.mark.parametrize("section", ["targets", "mask"])
def test_a_teacher_that_is_not_there_is_refused_before_training(section, source, tiny, tmp_path):
    name = {"targets": "distil", "mask": "elements"}[section]
    settings = resolve(tiny(**{section: {"name": name, "model": str(tmp_path / "none")}}))
    prepared = prepare(read_data(source), settings)
    with pytest.raises(ModelError, match="no model folder"):
        check_lessons(prepared, settings, build_objective(settings, prepared.space, row_count=120))

"""How the pieces are put together: slips of one line that no test of a single piece notices."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.analysis.run_facts import card_facts
from tagwright.data import read_data
from tagwright.experiments import runs
from tagwright.experiments.ledger import Ledger
from tagwright.experiments.plan import Planned, plan, source_of
from tagwright.experiments.progress import Watch
from tagwright.experiments.recipe import TrainCut, read_recipe
from tagwright.experiments.runs import Making
from tagwright.inference import model_folder
from tagwright.inference.fit_decision import decide_on
from tagwright.inference.spans import token_scores
from tagwright.labels.shortlist import Shortlist
from tagwright.labels.space import LabelSpace
from tagwright.settings.schema import Choice, resolve
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, fit

THRESHOLDS = {"name": "threshold", "shrink": 0.0}
RECIPE = """
title = "A table"
paper = "A paper"
note = "Its numbers"
metric = "micro_f1"
seeds = 1
data = ["texts"]
encoders = ["cnn"]
baseline = "plain"

[[variants]]
name = "plain"
objective = "bce"

[[cuts]]
name = "whole"
"""


def test_a_refit_starts_from_a_fresh_network(source, tiny):
    """A trained network would start with a loss far below that of a fresh one."""
    settings = resolve(tiny(decide={"name": "zero"}, fit={"refit": True, "epochs": 8}))
    losses = defaultdict(list)

    def recording(stream, title, start, total):
        for step in stream:
            losses[title].append(step.loss)
            yield step

    fit(prepare(read_data(source), settings), settings, Run(progress=recording))
    assert losses["fit"][-1] < 0.5 * losses["fit"][0]
    assert losses["refit"][0] > 0.8 * losses["fit"][0]


def drawn(rows, labels=3, seed=0):
    """Logits and truth, which the logits tell only roughly."""
    random = np.random.default_rng(seed)
    truth = random.random((rows, labels)) < 0.4
    return (truth + random.normal(size=truth.shape)).astype(np.float32), truth


def space_of(labels=3):
    return LabelSpace(names=tuple("abcdefg"[:labels]), counts=(5,) * labels)


def shortlist_of(logits):
    """The same logits as a shortlist that leaves no label out."""
    order = np.argsort(-logits, axis=1).astype(np.int32)
    return Shortlist(order, np.take_along_axis(logits, order, 1), None, logits.shape[1])


def test_no_text_has_a_say_in_its_own_choices_from_a_shortlist():
    settings = resolve({"objective": "bce", "decide": {"name": "threshold"}})
    others_moved = 0
    for seed in range(5):
        logits, truth = drawn(11, seed=seed)
        answers = shortlist_of(logits)
        _, before = decide_on(answers, csr_array(truth), settings, space_of())
        for row in range(len(truth)):
            turned = truth.copy()
            turned[row] = ~turned[row]
            _, after = decide_on(answers, csr_array(turned), settings, space_of())
            assert after[row].tolist() == before[row].tolist()
            others_moved += int((after != before).any())
    assert others_moved  # the truth does matter


@pytest.mark.parametrize("form", [np.asarray, shortlist_of], ids=["dense", "shortlist"])
def test_decision_folds_follow_the_seed_of_the_split(form):
    """Runs that differ in `fit.seed` alone are decided by the same folds, so they compare."""
    logits, truth = drawn(41)
    given = form(logits), truth if form is np.asarray else csr_array(truth)

    def chosen(split, fit):
        sections = {"split": {"seed": split}, "fit": {"seed": fit}, "decide": THRESHOLDS}
        settings = resolve({"objective": "bce", **sections})
        return decide_on(*given, settings, space_of())[1].tolist()

    assert len({str(chosen(split, 0)) for split in range(6)}) > 1  # folds do matter here
    assert len({str(chosen(0, seed)) for seed in range(6)}) == 1


def test_a_run_scored_on_dev_has_another_key_than_one_scored_on_test(split_source, tmp_path, tiny):
    (tmp_path / "recipe.toml").write_text(RECIPE)
    recipe = read_recipe(str(tmp_path / "recipe.toml"))
    data, _ = read_for(str(split_source), tiny())
    options = {"only": (), "seeds": 1, "device": None, "more": ()}
    keys = set()
    for part in ("test", "dev"):
        (run,) = plan(recipe, {"texts": source_of(data, data.size, on=part)}, **options)
        keys.add(run.key)
    assert len(keys) == 2


@pytest.fixture
def in_processes(monkeypatch, split_source, tiny, tmp_path):
    """Make five runs with workers in this process; what each worker is set up with comes back."""
    data, settings = read_for(str(split_source), tiny())
    place = {"data": "texts", "encoder": "cnn", "cut": TrainCut(), "part": "", "variant": "bce"}
    planned = [Planned(**place, seed=n, key=str(n), settings=settings) for n in range(5)]
    found = {"teachers": [], "gpus": []}

    def shared(tasks, start, *, jobs, told):
        works = [start(number) for number in range(jobs)]
        return [(place, works[place % jobs](task, print)) for place, task in enumerate(tasks)]

    def row_of(run, bench, making, tell):
        found["teachers"].append(making.teachers)
        return {"key": run.key}

    monkeypatch.setattr(runs, "shared", shared)
    monkeypatch.setattr(runs, "row_of", row_of)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    monkeypatch.setattr(torch.cuda, "set_device", found["gpus"].append)

    def made(jobs):
        sources = {"texts": source_of(data, data.size)}
        making = Making(sources=sources, teachers=tmp_path / "teachers")
        options = {"jobs": jobs, "watch": Watch(), "made": {}}
        ledger = Ledger(tmp_path / "runs.jsonl")
        assert len(list(runs.make(planned, making, ledger, **options))) == 5
        return found

    return made


def test_each_process_keeps_its_teachers_in_a_folder_of_its_own(in_processes, tmp_path):
    """Two that train one teacher would write into each other's files."""
    teachers = in_processes(3)["teachers"]
    assert teachers[:2] == teachers[3:]  # a worker keeps its own
    assert len(set(teachers)) == 3
    assert {folder.parent for folder in teachers} == {tmp_path / "teachers"}


def test_processes_take_turns_on_the_gpus(in_processes, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert in_processes(3)["gpus"] == [0, 1, 0]


def test_long_texts_are_tagged_in_windows_that_overlap_as_the_head_says(token_trained):
    """Each token has the logits of the window in which it has context on both sides."""
    model = model_folder.load(token_trained.model)
    head = Choice(name="tokens", options={"overlap": 10})
    heads = {"main": replace(model.primary, part=head)}
    model = replace(model, inference=replace(model.inference, limit=20), heads=heads)
    known = np.array(["new", "york", "the", "pear", "very", "oslo", "of"])
    words = known[np.random.default_rng(0).integers(0, len(known), 50)]

    def logits(part):
        return token_scores(model, part, np.array([0, len(part)])).logits

    whole, windows = logits(words), [logits(words[at : at + 20]) for at in (0, 10, 20, 30)]
    parts = [windows[0][:15], windows[1][5:15], windows[2][5:15], windows[3][5:]]
    np.testing.assert_allclose(whole, np.concatenate(parts), rtol=1e-4, atol=1e-5)


def test_the_card_says_how_many_texts_get_no_label(source, tiny):
    settings = resolve(tiny(decide={"name": "zero"}, fit={"epochs": 1}))
    prepared = prepare(read_data(source), settings)
    fitted = fit(prepared, settings)
    chosen = np.zeros_like(fitted.dev.chosen)
    chosen[1:, 0] = True  # all but one text get the first of five labels
    known = fitted.heads["main"]
    heads = {"main": known._replace(scores=known.scores._replace(chosen=chosen))}
    told = card_facts(prepared, replace(fitted, heads=heads))
    assert told.nothing_predicted == pytest.approx(1 / len(chosen))

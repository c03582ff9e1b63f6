"""A recipe from its file to its tables, on a small set: kept runs, failures, cuts."""

import json

import numpy as np
import pytest

from tagwright.data import read_data
from tagwright.errors import DataError, InUseError, ModelError, SettingsError, WriteError
from tagwright.experiments import prepared_cache
from tagwright.experiments import runs as module
from tagwright.experiments.ledger import unpacked
from tagwright.experiments.progress import Watch
from tagwright.inference.score import score
from tagwright.pipelines import reproduce as reproducing
from tagwright.pipelines.reproduce import reproduce, write_tables
from tagwright.settings.schema import resolve
from tagwright.storage import lock
from tagwright.storage.lock import LOCK
from tagwright.training.prepare import prepare
from tagwright.training.train import fit

from ..full_disk import room

RECIPE = """
title = "A table"
paper = "A paper"
note = "Its numbers"
metric = "accuracy"
seeds = 2
data = ["things"]
encoders = ["cnn"]
baseline = "plain"

[settings]
encoder = { width = 8, filters = 4 }
fit = { epochs = 1, batch = 16, learning_rate = 0.03 }

[[variants]]
name = "plain"
objective = "cross_entropy"

[[variants]]
name = "smooth"
objective = "ls-classic"
grid."targets.epsilon" = [0.1, 0.5]
"""
MASKED = """
[[variants]]
name = "masked"
objective = "maskloss-label"
settings.mask.groups = "alike.csv"
"""
BROKEN = """
[[variants]]
name = "broken"
objective = "ls-classic"
settings.targets.epsilon = 7.0

[[variants]]
name = "misspelt"
objective = "ls-klassic"
"""
CUTS = """
[[cuts]]
name = "in turn"
each = 10
labels = ["city", "tool"]

[[cuts]]
name = "few"
keep = { sport = 3 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows_of, write_csv):
    """A folder of data sets with one: 90 texts in train, 60 in dev, 41 in test."""
    home = tmp_path_factory.mktemp("sets")
    for seed, (name, count) in enumerate([("train", 90), ("dev", 60), ("test", 41)]):
        write_csv(home / "things" / f"{name}.csv", rows_of(count, seed=seed, many=False))
    return home


@pytest.fixture
def make(tmp_path, folder):
    """Reproduce a recipe from its text."""

    def made(text=RECIPE, **options):
        (tmp_path / "mine.toml").write_text(text)
        return reproduce(
            str(tmp_path / "mine.toml"), **{"data": folder, "out": tmp_path / "out", **options}
        )

    return made


@pytest.fixture
def trained(monkeypatch):
    """What is trained, as (objective, seed)."""
    seen, real = [], module.fit

    def counting(prepared, settings, run):
        seen.append((settings.objective, settings.fit.seed))
        return real(prepared, settings, run)

    monkeypatch.setattr(module, "fit", counting)
    return seen


def ledger(tmp_path):
    return [
        json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    ]


def test_every_variant_runs_with_every_seed_and_the_table_says_so(make, tmp_path):
    said = []
    done = make(say=said.append)
    (table,) = done.facts.tables
    assert [line.variant for line in table.lines] == [
        "plain",
        "smooth epsilon 0.1",
        "smooth epsilon 0.5",
    ]
    assert all(len(line.scores) == 2 for line in table.lines)
    assert (done.facts.finished, done.facts.runs, done.failed) == (6, 6, 0)
    assert done.report.read_text().count("| smooth epsilon 0.1 |") == 1
    assert sum(sentence.startswith("run ") for sentence in said) == 6
    assert json.loads((tmp_path / "out" / "results.json").read_text())["tables"][0]["texts"] == 41


def test_scores_are_those_of_fit_and_score(make, tmp_path, folder):
    make(seeds=1)
    data = read_data(folder / "things")
    encoder, choice = (
        {"name": "cnn", "width": 8, "filters": 4},
        {"epochs": 1, "batch": 16, "learning_rate": 0.03},
    )
    settings = resolve({"objective": "cross_entropy", "encoder": encoder, "fit": choice}, "one", 90)
    fitted = fit(prepare(data, settings), settings)
    expected = score(fitted.model, data, split="test").as_dict()["metrics"]
    row = ledger(tmp_path)[0]
    assert row["scored"]["accuracy"] == expected["accuracy"]
    assert row["scored"]["macro_f1"] == pytest.approx(expected["macro_f1"])
    assert row["dev"]["accuracy"] == fitted.model.heads["main"].metrics["metrics"]["accuracy"]
    assert unpacked(row["right"], row["texts"]).mean() == pytest.approx(expected["accuracy"])


def test_a_second_time_nothing_is_trained(make, trained):
    first = make()
    assert len(trained) == 6
    again = make()
    assert len(trained) == 6
    assert again.facts.tables == first.facts.tables


def test_more_seeds_add_to_what_is_there(make, trained):
    make(seeds=1)
    make(seeds=2)
    assert [seed for _, seed in trained] == [0] * 3 + [1] * 3


def test_another_setting_is_another_run(make, trained):
    make(seeds=1)
    make(seeds=1, more=["fit.epochs=2"])
    assert len(trained) == 6


def test_a_killed_one_goes_on_where_it_was(make, trained, monkeypatch, tmp_path):
    counting = module.fit

    def killed(prepared, settings, run):
        if len(trained) == 4:
            raise KeyboardInterrupt
        return counting(prepared, settings, run)

    monkeypatch.setattr(module, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        make()
    assert "4 of 6; seeds: 2" in (tmp_path / "out" / "results.md").read_text()
    monkeypatch.setattr(module, "fit", counting)
    done = make()
    assert len(trained) == len(set(trained)) + 2 == 6
    assert done.facts.finished == 6


def test_one_killed_in_its_first_run_goes_on(make, monkeypatch, tmp_path):
    real = module.fit

    def killed(prepared, settings, run):
        (tmp_path / "out" / "teachers").mkdir()  # what a run may leave behind
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "fit", killed)
    with pytest.raises(KeyboardInterrupt):
        make(seeds=1)
    monkeypatch.setattr(module, "fit", real)
    (tmp_path / "out" / "results.md").unlink()
    assert make(seeds=1).facts.finished == 3


def test_failing_variants_are_shown_and_the_rest_goes_on(make, trained, tmp_path):
    done = make(RECIPE + BROKEN, seeds=1)
    assert done.failed == 2
    assert done.facts.finished == 3
    page = done.report.read_text()
    assert "| broken | failed | 0, 1 failed |" in page
    assert "smooth.epsilon must be from 0 to 1, got 7.0" in page
    assert "did you mean 'ls-classic'?" in page
    make(RECIPE + BROKEN, seeds=1)
    assert [objective for objective, _ in trained].count("cross_entropy") == 1


def test_a_failed_run_that_ends_well_later_is_no_failure(make, monkeypatch):
    real = module.fit

    def failing(prepared, settings, run):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(module, "fit", failing)
    assert make(seeds=1).failed == 3
    monkeypatch.setattr(module, "fit", real)
    assert make(seeds=1).failed == 0


def test_data_are_prepared_once_for_all_variants_and_seeds(make, monkeypatch):
    prepared, real = [], prepared_cache.prepare
    monkeypatch.setattr(prepared_cache, "prepare", lambda *a: prepared.append(1) or real(*a))
    make()
    assert len(prepared) == 1


def test_a_variant_that_reads_texts_otherwise_gets_data_of_its_own(make, monkeypatch):
    prepared, real = [], prepared_cache.prepare
    monkeypatch.setattr(prepared_cache, "prepare", lambda *a: prepared.append(1) or real(*a))
    own = (
        '[[variants]]\nname = "letters"\nobjective = "cross_entropy"\nsettings.embed = { name ='
        ' "char" }\n'
    )
    assert make(RECIPE + own).failed == 0
    assert len(prepared) == 2


def test_classes_cut_in_turn_are_one_table_of_means(make, tmp_path):
    done = make(RECIPE + CUTS, seeds=1)
    tables = {table.cut: table for table in done.facts.tables}
    assert list(tables) == ["in turn", "few"]
    assert tables["in turn"].parts == 2
    rows = [
        row for row in ledger(tmp_path) if row["cut"] == "in turn" and row["variant"] == "plain"
    ]
    assert [row["part"] for row in rows] == ["city", "tool"]
    mean = np.mean([row["scored"]["accuracy"] for row in rows])
    assert tables["in turn"].lines[0].scores == pytest.approx([mean])
    assert len([note for note in tables["in turn"].notes if note.startswith("keep: 2 of ")]) == 2
    assert any(
        note.startswith("keep: 3 of ") and note.endswith("sport") for note in tables["few"].notes
    )


def test_files_of_groups_stand_beside_the_recipe_and_move_with_it(make, tmp_path, trained, folder):
    groups = "label,group\ncity,x\nfruit,x\nmetal,y\nsport,y\ntool,y\n"
    (tmp_path / "alike.csv").write_text(groups)
    assert make(RECIPE + MASKED, seeds=1).failed == 0
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "alike.csv").write_text(groups)
    (moved / "mine.toml").write_text(RECIPE + MASKED)
    reproduce(str(moved / "mine.toml"), data=folder, out=tmp_path / "out", seeds=1)
    assert len(trained) == 4
    (moved / "alike.csv").write_text(groups.replace("tool,y", "tool,x"))
    reproduce(str(moved / "mine.toml"), data=folder, out=tmp_path / "out", seeds=1)
    assert trained[4:] == [("maskloss-label", 0)]


def test_nothing_of_the_machine_is_in_the_tables(make, tmp_path, folder):
    (tmp_path / "alike.csv").write_text("label,group\ncity,x\nfruit,x\n")
    make(RECIPE + MASKED, seeds=1)
    for name in ("results.md", "results.json"):
        text = (tmp_path / "out" / name).read_text()
        assert str(tmp_path) not in text
        assert str(folder) not in text


def test_a_missing_set_is_an_error_before_anything_is_written(make, tmp_path):
    with pytest.raises(
        DataError, match="has no data set 'other'; put it there, or leave it out with --only"
    ):
        make(RECIPE.replace('["things"]', '["things", "other"]'))
    assert not (tmp_path / "out").exists()
    assert (
        make(RECIPE.replace('["things"]', '["things", "other"]'), only=["things"], seeds=1).failed
        == 0
    )


def test_a_set_without_a_test_is_an_error(make, tmp_path, folder, rows_of, write_csv):
    write_csv(tmp_path / "sets" / "things.csv", rows_of(60, many=False))
    with pytest.raises(DataError, match="things has no test"):
        make(data=tmp_path / "sets")
    assert make(data=tmp_path / "sets", seeds=1, more=["split.test_share=0.3"]).failed == 0


def test_a_label_that_is_cut_and_not_there_is_an_error(make, tmp_path):
    with pytest.raises(SettingsError, match="did you mean 'city'"):
        make(RECIPE + CUTS.replace('"city"', '"citty"'))
    assert not (tmp_path / "out").exists()


def test_what_others_made_is_refused(make, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(ModelError, match="exists and is no folder of results"):
        make()


def test_tables_alone_are_those_of_the_runs_without_data(make, tmp_path, trained):
    done = make(RECIPE + CUTS + BROKEN)
    ended = len(trained)
    again = write_tables(str(tmp_path / "mine.toml"), out=tmp_path / "out")
    assert repr(again.facts.tables) == repr(done.facts.tables)
    assert (again.failed, len(trained)) == (done.failed, ended)


def test_tables_of_nothing_are_an_error(tmp_path):
    with pytest.raises(ModelError, match="has no runs"):
        write_tables("maskloss", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_that_never_meet_are_an_error(make):
    with pytest.raises(SettingsError, match="no table where these meet"):
        make(
            (RECIPE + CUTS)
            .replace('["things"]', '["things", "more"]')
            .replace("each = 10", 'data = ["more"]\neach = 10'),
            only=["things", "in turn"],
        )


def test_runs_of_one_seed_share_a_teacher(make, tmp_path):
    taught = """
[[variants]]
name = "taught"
objective = "ls-distil"
grid."targets.temperature" = [1.0, 2.0]
"""
    assert make(RECIPE + taught, only=["taught"]).failed == 0
    assert len(list((tmp_path / "out" / "teachers").glob("*/teacher.json"))) == 2  # a seed each


def test_tables_say_what_the_runs_were_made_with(make, tmp_path):
    made = make(only=["smooth"], seeds=1, more=["fit.batch=8"])
    assert made.facts.settings["fit"]["batch"] == 8
    again = write_tables(str(tmp_path / "mine.toml"), out=tmp_path / "out", seeds=1)
    assert again.facts.settings == made.facts.settings
    assert again.facts.command.endswith("--set fit.batch=8")
    ledger = tmp_path / "out" / "results.jsonl"
    rows = [json.loads(line) for line in ledger.read_text().splitlines()]
    rows[0] |= {"versions": {"torch": "1.0"}, "when": "2001-02-03T04:05:06"}
    ledger.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = write_tables(str(tmp_path / "mine.toml"), out=tmp_path / "out", seeds=1)
    assert again.facts.versions["torch"] == f"1.0 and {rows[1]['versions']['torch']}"
    rows[0] |= {"set": ["fit.batch=9"]}
    ledger.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        ModelError, match=r"different settings \(--set fit.batch=9 and --set fit.batch=8\)"
    ):
        write_tables(str(tmp_path / "mine.toml"), out=tmp_path / "out", seeds=1)


def test_texts_of_test_with_labels_that_train_lacks_are_told(tmp_path, rows_of, write_csv):
    for seed, (name, count) in enumerate([("train", 90), ("dev", 60), ("test", 41)]):
        write_csv(tmp_path / "things" / f"{name}.csv", rows_of(count, seed=seed, many=False))
    with (tmp_path / "things" / "test.csv").open("a") as file:
        file.write("999,something new,unheard\n")
    (tmp_path / "mine.toml").write_text(RECIPE)
    made = reproduce(
        str(tmp_path / "mine.toml"), data=tmp_path, out=tmp_path / "out", only=["plain"], seeds=1
    )
    assert (
        "left out of test: 1 texts, whose labels train does not have" in made.facts.tables[0].notes
    )
    assert made.facts.tables[0].texts == 41


def test_a_cut_of_an_unknown_label_is_an_error_before_the_first_run(make, trained):
    with pytest.raises(SettingsError, match="label of the cut 'few'"):
        make(RECIPE + '\n[[cuts]]\nname = "few"\nkeep = { spoort = 3 }\n')
    assert trained == []


def test_a_picture_that_fails_is_said_and_the_tables_stand(make, tmp_path, monkeypatch):
    def breaking(facts):
        raise ValueError("cannot be drawn")

    monkeypatch.setattr(reproducing, "picture", breaking)
    said = []
    done = make(say=said.append)
    assert done.report.exists()
    assert any("results.svg" in one and "ValueError: cannot be drawn" in one for one in said)


def test_of_two_at_once_the_second_is_told_of_the_first_and_tables_are_free(
    make, tmp_path, monkeypatch
):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    refused = []

    class Second(Watch):
        def end(self, number, row):
            with pytest.raises(InUseError, match=r"out is in use by process .*another --out"):
                make(seeds=1)
            refused.append(
                write_tables(str(tmp_path / "mine.toml"), out=tmp_path / "out").facts.finished
            )

    done = make(seeds=1, watch=lambda metric: Second())
    assert done.failed == 0
    assert refused == list(range(1, done.facts.runs + 1))
    assert LOCK not in {path.name for path in (tmp_path / "out").iterdir()}


def test_tables_that_the_disk_does_not_take_are_written_the_next_time(make, tmp_path, trained):
    make(seeds=1)
    old = (tmp_path / "out" / "results.md").read_text()
    with room(1_000), pytest.raises(WriteError, match=r"cannot write .*out/results"):
        make(seeds=1)
    assert (tmp_path / "out" / "results.md").read_text() == old
    trained.clear()
    assert (make(seeds=1).failed, trained) == (0, [])

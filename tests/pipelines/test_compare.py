"""Objectives × seeds on one split, and the sentence that sums them up."""

import json
from contextlib import nullcontext

import numpy as np
import pytest

from tagwright.errors import (
    DataError,
    InUseError,
    ModelError,
    SettingsError,
    TagwrightError,
    WriteError,
)
from tagwright.experiments import comparison_facts as telling
from tagwright.experiments import comparison_files, scored_run
from tagwright.experiments import runs as module
from tagwright.experiments.progress import Watch
from tagwright.pipelines import compare as comparing
from tagwright.pipelines.compare import compare_folder
from tagwright.settings.schema import resolve
from tagwright.storage import files, lock
from tagwright.storage.lock import LOCK

from ..full_disk import room


@pytest.fixture(scope="module")
def quick(tiny):
    return tiny(fit={"epochs": 1}, decide={"name": "zero"})


@pytest.fixture(scope="module")
def compared(split_source, quick, tmp_path_factory):
    out = tmp_path_factory.mktemp("compared") / "c"
    return out, compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=3, out=out
    )


def counting(monkeypatch):
    """How often something is trained."""
    trained, real = [], module.fit
    monkeypatch.setattr(module, "fit", lambda *a, **k: trained.append(1) or real(*a, **k))
    return trained


def rows_in(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def strict(path):
    return json.loads(
        path.read_text(), parse_constant=lambda word: pytest.fail(f"{path.name}: {word} is no JSON")
    )


def test_every_objective_runs_with_every_seed(compared):
    _, done = compared
    found = sorted((row["objective"], row["seed"]) for row in done.facts.rows)
    assert found == [(name, seed) for name in ("bce", "zlpr") for seed in range(3)]


def test_means_and_spreads_are_those_of_the_runs(compared):
    _, done = compared
    for entry in done.facts.summary:
        values = [
            row["metrics"]["macro_f1"]
            for row in done.facts.rows
            if row["objective"] == entry["objective"]
        ]
        assert entry["metrics"]["macro_f1"] == pytest.approx(
            (np.mean(values), np.std(values, ddof=1))
        )


def test_differences_are_paired_by_seed_against_the_first(compared):
    from scipy import stats

    _, done = compared
    scores = {
        n: [r["metrics"]["lrap"] for r in done.facts.rows if r["objective"] == n]
        for n in ("bce", "zlpr")
    }
    (found,) = [d for d in done.facts.differences if d["metric"] == "lrap"]
    expected = stats.ttest_rel(scores["zlpr"], scores["bce"])
    assert found["objective"] == "zlpr"
    assert found["mean"] == pytest.approx(np.mean(scores["zlpr"]) - np.mean(scores["bce"]))
    assert found["p_value"] == pytest.approx(expected.pvalue)
    assert (found["low"], found["high"]) == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_results_and_report_are_written(compared):
    out, done = compared
    assert strict(out / "results.json")["baseline"] == "bce"
    assert done.report == out / "report.html"
    assert done.facts.split == "test"
    assert len((out / "runs.jsonl").read_text().splitlines()) == 6
    assert all((out / row["page"]).is_file() for row in done.facts.rows)


def test_resuming_trains_nothing_anew(compared, split_source, quick, monkeypatch):
    out, done = compared
    trained = counting(monkeypatch)
    again = compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=3, out=out, resume=True
    )
    assert trained == []
    assert again.facts.rows == done.facts.rows


def test_a_run_that_failed_half_way_keeps_what_it_has(split_source, quick, tmp_path, monkeypatch):
    real, trained = module.fit, []

    def failing(*arguments, **options):
        trained.append(1)
        if len(trained) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(module, "fit", failing)
    options = {"objectives": ["bce", "zlpr"], "seeds": 2, "out": tmp_path / "c"}
    with pytest.raises(KeyboardInterrupt):
        compare_folder(str(split_source), quick, **options)
    compare_folder(str(split_source), quick, **options, resume=True)
    assert len(trained) == 5


def test_another_setting_is_trained_anew(compared, split_source, quick, monkeypatch):
    out, _ = compared
    trained = counting(monkeypatch)
    other = {**quick, "fit": {**quick["fit"], "learning_rate": 0.01}}
    compare_folder(
        str(split_source), other, objectives=["bce", "zlpr"], seeds=1, out=out, resume=True
    )
    assert len(trained) == 2


def test_other_test_rows_are_scored_anew(
    split_source, quick, tmp_path, rows_of, write_csv, monkeypatch
):
    folder = tmp_path / "data"
    for name in ("train.csv", "dev.csv"):
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes((split_source / name).read_bytes())
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    write_csv(folder / "test.csv", rows_of(40, seed=2))
    first = compare_folder(str(folder), quick, **options)
    write_csv(folder / "test.csv", rows_of(30, seed=77))
    second = compare_folder(str(folder), quick, **options, resume=True)
    assert first.facts.rows[0]["metrics"]["lrap"] != second.facts.rows[0]["metrics"]["lrap"]


def test_labels_of_test_change_no_choice(split_source, quick, tmp_path, rows_of, write_csv):
    """The trained runs are the same with any test labels, so scores on dev are."""
    folder = tmp_path / "data"
    for name in ("train.csv", "dev.csv"):
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes((split_source / name).read_bytes())
    write_csv(folder / "test.csv", [(i, text, "tool") for i, text, _ in rows_of(40, seed=2)])
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "split": "dev"}
    with_thresholds = {k: v for k, v in quick.items() if k != "decide"}
    first = compare_folder(str(split_source), with_thresholds, **options, out=tmp_path / "a")
    second = compare_folder(str(folder), with_thresholds, **options, out=tmp_path / "b")
    for one, other in zip(first.facts.rows, second.facts.rows):
        assert one["metrics"] == pytest.approx(other["metrics"], nan_ok=True)


def test_one_seed_gives_plain_json_and_a_verdict_that_says_so(split_source, quick, tmp_path):
    done = compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c"
    )
    assert strict(tmp_path / "c" / "results.json")
    assert "seed" in done.facts.verdict


@pytest.mark.parametrize(
    "options",
    [{"metric": "nonsense"}, {"split": "nowhere"}, {"objectives": ["bce", "cross_entropy"]}],
    ids=["metric", "split", "objective"],
)
def test_a_mistake_trains_nothing_and_writes_nothing(source, quick, tmp_path, monkeypatch, options):
    trained = counting(monkeypatch)
    with pytest.raises(TagwrightError):
        compare_folder(
            str(source),
            quick,
            **{"objectives": ["bce", "zlpr"], "seeds": 1, **options},
            out=tmp_path / "c",
        )
    assert list(tmp_path.iterdir()) == []
    assert trained == []


@pytest.mark.parametrize(
    "flags", [{}, {"resume": True}, {"overwrite": True}], ids=["plain", "resume", "overwrite"]
)
def test_what_others_made_is_refused_and_unchanged(source, quick, tmp_path, flags):
    (tmp_path / "mine.txt").write_text("x")
    for out in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(ModelError, match="exists and is no comparison; choose another --out"):
            compare_folder(
                str(source), quick, objectives=["bce", "zlpr"], seeds=1, out=out, **flags
            )
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_an_existing_comparison_is_gone_on_with_or_started_over_only_when_asked(
    source, quick, tmp_path, monkeypatch
):
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    compare_folder(str(source), quick, **options)
    (tmp_path / "c" / "notes.txt").write_text("mine")
    with pytest.raises(ModelError, match=r"--resume.*--overwrite"):
        compare_folder(str(source), quick, **options)
    trained = counting(monkeypatch)
    compare_folder(str(source), quick, **options, overwrite=True)
    assert len(trained) == 2
    assert (tmp_path / "c" / "notes.txt").read_text() == "mine"


def test_settings_that_depend_on_the_objective_are_told(single_source, tmp_path):
    given = {"encoder": "bow", "fit": {"epochs": 1}}
    objectives = ["cross_entropy", "squared_hinge"]
    done = compare_folder(
        str(single_source), given, objectives=objectives, seeds=1, out=tmp_path / "c"
    )
    assert done.facts.differing["fit.batch"] == {"cross_entropy": 256, "squared_hinge": 32}
    assert "fit.epochs" not in done.facts.differing
    assert not any(name.startswith(("loss", "objective")) for name in done.facts.differing)
    assert (
        strict(tmp_path / "c" / "results.json")["differing"]["fit.optimizer"]["squared_hinge"]
        == "sgd"
    )


def test_a_small_dev_set_is_told(source, quick, tmp_path):
    said = []
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    done = compare_folder(str(source), quick, **options, say=said.append)
    assert len(done.facts.warnings) == 1
    assert "say little" in done.facts.warnings[0]
    assert done.facts.warnings[0] in said


def test_without_test_rows_dev_is_measured(source, quick, tmp_path):
    done = compare_folder(
        str(source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c"
    )
    assert done.facts.split == "dev"


TAGGER = {"encoder": {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 2, "feed": 8}}
TAGGER["fit"] = {"epochs": 1, "batch": 16, "learning_rate": 0.03}


def test_taggers_are_compared_by_their_spans(tagged_sets, tmp_path):
    source, objectives = str(tagged_sets / "places"), ["cross_entropy", "pbp-ee"]
    done = compare_folder(source, TAGGER, objectives=objectives, seeds=2, out=tmp_path / "c")
    assert (done.facts.metric, done.facts.split) == ("entity_f1", "test")
    assert {"entity_f1", "macro_f1", "macro_f2"} <= done.facts.summary[0]["metrics"].keys()
    assert "entity_f1" in done.facts.verdict


def test_a_metric_that_such_data_do_not_have_is_refused(
    tagged_sets, source, quick, tmp_path, monkeypatch
):
    trained = counting(monkeypatch)
    options = {"objectives": ["cross_entropy", "pbp-ee"], "seeds": 1, "out": tmp_path / "c"}
    with pytest.raises(SettingsError, match="lrap is not measured where tokens are tagged"):
        compare_folder(str(tagged_sets / "places"), TAGGER, **options, metric="lrap")
    with pytest.raises(SettingsError, match="entity_f1 is a metric of tagged tokens"):
        compare_folder(
            str(source), quick, **{**options, "objectives": ["bce", "zlpr"]}, metric="entity_f1"
        )
    assert trained == list(tmp_path.iterdir()) == []


def test_a_missing_source_writes_nothing(quick, tmp_path):
    with pytest.raises(DataError):
        compare_folder(
            "nowhere.csv", quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c"
        )
    assert list(tmp_path.iterdir()) == []


class Phases(Watch):
    """Hears the phases of every run; with `until`, stops it all at the first step of that one."""

    def __init__(self, until=None):
        self.heard, self.until = [], until

    def under_way(self, number, far):
        if far.done == 1 or not self.heard or self.heard[-1] != (number, far.phase):
            self.heard.append((number, far.phase))
        if far.phase == self.until:
            raise KeyboardInterrupt


def test_objectives_share_a_teacher_and_it_does_not_stay(split_source, quick, tmp_path):
    """Two presets of one loss and seed want the same teacher; two seeds want two."""
    phases = Phases()
    chosen = {"loss": {"name": "bce"}, "targets": {"name": "distil"}, "soft": {"role": "auxiliary"}}
    options = {
        "objectives": ["bce", "ls-distil"],
        "seeds": 2,
        "out": tmp_path / "c",
        "watch": lambda metric: phases,
    }
    compare_folder(
        str(split_source), quick, chosen=chosen, sweep=["ls-distil:soft.alpha=0.5"], **options
    )
    assert phases.heard == [
        (0, "teacher"),
        (0, "fit"),
        (1, "fit"),
        (2, "teacher"),
        (2, "fit"),
        (3, "fit"),
    ]
    made = ["report.html", "results.json", "runs", "runs.jsonl"]
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == made


def test_a_comparison_that_ended_while_teaching_can_be_resumed(split_source, quick, tmp_path):
    given = {**quick, "fit": {**quick["fit"], "save_seconds": 0.0}}
    choice = {
        "objectives": ["bce", "zlpr"],
        "seeds": 1,
        "out": tmp_path / "c",
        "chosen": {"targets": {"name": "distil"}},
    }
    with pytest.raises(KeyboardInterrupt):
        compare_folder(
            str(split_source), given, **choice, watch=lambda metric: Phases(until="teacher")
        )
    assert {path.name for path in (tmp_path / "c").iterdir()} == {"runs.jsonl", "teachers", LOCK}
    compare_folder(str(split_source), given, **choice, resume=True)
    assert not (tmp_path / "c" / "teachers").exists()


def test_a_run_that_fails_is_shown_and_the_others_go_on(split_source, quick, tmp_path, monkeypatch):
    real = module.fit

    def failing(prepared, settings, run):
        if (settings.objective, settings.fit.seed) == ("zlpr", 1):
            raise RuntimeError("the disk is full")
        return real(prepared, settings, run)

    monkeypatch.setattr(module, "fit", failing)
    options = {"objectives": ["bce", "zlpr"], "seeds": 3, "out": tmp_path / "c"}
    done = compare_folder(str(split_source), quick, **options)
    assert (done.failed, len(done.facts.rows)) == (1, 6)
    (broken,) = [row for row in done.facts.rows if row["failed"]]
    assert (broken["objective"], broken["seed"], broken["failed"]) == (
        "zlpr",
        1,
        "RuntimeError: the disk is full",
    )
    counts = {row["objective"]: (row["finished"], row["failed"]) for row in done.facts.summary}
    assert counts == {"bce": (3, 0), "zlpr": (2, 1)}
    assert done.facts.games == 2
    assert "the disk is full" in done.report.read_text()
    monkeypatch.setattr(module, "fit", real)
    again = compare_folder(str(split_source), quick, **options, resume=True)
    assert (again.failed, again.facts.games) == (0, 3)


def test_a_full_disk_ends_the_comparison_and_keeps_the_runs_that_are_finished(
    split_source, quick, tmp_path, monkeypatch
):
    """The run whose report the disk did not take is made again, report and all."""
    real, written = scored_run.write_report, []

    def write_report(*arguments):
        written.append(1)
        with room(10_000) if len(written) == 2 else nullcontext():
            return real(*arguments)

    monkeypatch.setattr(scored_run, "write_report", write_report)
    trained, options = (
        counting(monkeypatch),
        {"objectives": ["bce", "zlpr"], "seeds": 2, "out": tmp_path / "c"},
    )
    with pytest.raises(WriteError, match=r"cannot write .*/c/runs/.*report\.html"):
        compare_folder(str(split_source), quick, **options, jobs=1)
    (kept,) = rows_in(tmp_path / "c")
    assert len(trained) == 2
    done = compare_folder(str(split_source), quick, **options, jobs=1, resume=True)
    assert (rows_in(tmp_path / "c")[0], len(trained), done.failed) == (kept, 5, 0)
    assert all((tmp_path / "c" / row["page"]).is_file() for row in done.facts.rows)


def test_a_full_disk_ends_runs_that_are_made_at_once(split_source, quick, tmp_path):
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    with room(10_000), pytest.raises(WriteError, match=r"cannot write .*/c/runs/.*report\.html"):
        compare_folder(str(split_source), quick, **options, jobs=2)
    assert rows_in(tmp_path / "c") == []


def test_where_every_run_of_an_objective_fails_the_rest_is_still_told(
    split_source, quick, tmp_path, monkeypatch
):
    real = module.fit

    def failing(prepared, settings, run):
        if settings.objective == "bce":
            raise RuntimeError("no")
        return real(prepared, settings, run)

    monkeypatch.setattr(module, "fit", failing)
    done = compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=2, out=tmp_path / "c"
    )
    assert done.failed == 2
    assert done.facts.verdict.startswith("No objective can be compared with bce")


def test_interrupted_and_continued_gives_the_same_table(
    compared, split_source, quick, tmp_path, monkeypatch
):
    """All figures but times and memory are those of a comparison that was never stopped."""
    real, trained = module.fit, []

    def stopping(*arguments, **options):
        trained.append(1)
        if len(trained) in (2, 5):
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(module, "fit", stopping)
    options = {"objectives": ["bce", "zlpr"], "seeds": 3, "out": tmp_path / "c"}
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            compare_folder(str(split_source), quick, **options, resume=bool(len(trained)))
    done = compare_folder(str(split_source), quick, **options, resume=True).facts
    never = compared[1].facts
    assert [row["metrics"] for row in done.rows] == [row["metrics"] for row in never.rows]
    assert str(done.differences) == str(never.differences)  # NaN is not equal to itself
    assert (done.verdict, done.wins, done.games) == (never.verdict, never.wins, never.games)
    assert str(done.flips) == str(never.flips)


def test_several_encoders_have_a_baseline_each(split_source, quick, tmp_path):
    given = {key: value for key, value in quick.items() if key != "encoder"}
    options = {
        "objectives": ["bce", "zlpr"],
        "encoders": ["bow", "cnn"],
        "seeds": 2,
        "out": tmp_path / "c",
    }
    done = compare_folder(str(split_source), given, **options).facts
    assert [(row["encoder"], row["objective"]) for row in done.summary] == [
        (encoder, objective) for encoder in ("bow", "cnn") for objective in ("bce", "zlpr")
    ]
    primary = [one for one in done.differences if one["metric"] == done.metric]
    assert [(one["objective"], one["encoder"]) for one in primary] == [
        ("zlpr", "bow"),
        ("zlpr", "cnn"),
    ]
    for one in primary:
        means = {
            row["objective"]: row["metrics"][done.metric][0]
            for row in done.summary
            if row["encoder"] == one["encoder"]
        }
        assert one["mean"] == pytest.approx(means["zlpr"] - means["bce"])
    assert done.shown == {"bow": "zlpr", "cnn": "zlpr"}
    assert done.games == 4


def test_a_sweep_is_an_objective_for_every_value(split_source, quick, tmp_path):
    options = {
        "objectives": ["bce", "focal"],
        "sweep": ["focal:loss.gamma=1,3"],
        "seeds": 2,
        "out": tmp_path / "c",
    }
    done = compare_folder(str(split_source), quick, **options).facts
    assert done.objectives == ["bce", "focal gamma 1", "focal gamma 3"]
    (curve,) = done.sweeps
    assert (curve["objective"], curve["setting"], list(curve["values"])) == (
        "focal",
        "loss.gamma",
        [1, 3],
    )
    means = {row["objective"]: row["metrics"][done.metric][0] for row in done.summary}
    assert list(curve["means"]) == pytest.approx([means["focal gamma 1"], means["focal gamma 3"]])


def test_several_at_once_give_the_table_of_one_by_one(compared, split_source, quick, tmp_path):
    import torch

    threads = torch.get_num_threads()
    # as each of two processes has on the smallest machine: sums in one order
    torch.set_num_threads(1)
    try:
        alone = compare_folder(
            str(split_source),
            quick,
            objectives=["bce", "zlpr"],
            seeds=1,
            out=tmp_path / "a",
            jobs=1,
        )
    finally:
        torch.set_num_threads(threads)
    both = compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "b", jobs=2
    )
    for one, other in zip(alone.facts.rows, both.facts.rows):
        assert (one["objective"], one["failed"], other["failed"]) == (other["objective"], "", "")
        assert one["metrics"] == pytest.approx(other["metrics"], nan_ok=True, abs=1e-5)


def test_the_untuned_figure_stands_beside_where_thresholds_are_fitted(
    split_source, quick, tmp_path
):
    fitted = {key: value for key, value in quick.items() if key != "decide"}
    done = compare_folder(
        str(split_source), fitted, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "a"
    ).facts
    plain = compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "b"
    ).facts
    for one, other in zip(
        done.rows, plain.rows
    ):  # `quick` decides at 0, which is what untuned means
        assert one["untuned"]["macro_f1"] == pytest.approx(other["metrics"]["macro_f1"])
        assert other["untuned"] == {}


def test_every_objective_trains_its_own_loss_over_a_file_that_names_another(
    split_source, quick, tmp_path
):
    """A model's settings file made all of them train the file's loss, and the report said "no
    difference".
    """
    file = resolve({**quick, "objective": "focal"}).as_dict()
    told: list[str] = []
    options = {
        "objectives": ["bce", "zlpr", "focal"],
        "seeds": 1,
        "out": tmp_path / "c",
        "say": told.append,
    }
    done = compare_folder(str(split_source), file, **options)
    assert [row["settings"]["loss"]["name"] for row in rows_in(tmp_path / "c")] == [
        "bce",
        "zlpr",
        "focal",
    ]
    assert len({row["metrics"]["lrap"] for row in done.facts.rows}) == 3
    assert any(
        "not taken from the settings file" in sentence and "loss.gamma" in sentence
        for sentence in told
    )


def breaking(*arguments, **options):
    raise ValueError("cannot be drawn")


def test_a_page_that_fails_is_said_and_the_rest_stands(split_source, quick, tmp_path, monkeypatch):
    monkeypatch.setattr(comparison_files, "compare_report", breaking)
    said = []
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c", "say": said.append}
    done = compare_folder(str(split_source), quick, **options)
    assert done.report is None
    assert (done.failed, len(strict(tmp_path / "c" / "results.json")["summary"])) == (0, 2)
    assert any(
        "report" in sentence and "ValueError: cannot be drawn" in sentence for sentence in said
    )


def test_details_that_fail_are_said_and_the_summary_stands(
    split_source, quick, tmp_path, monkeypatch
):
    monkeypatch.setattr(telling.contrast, "gains", breaking)
    said = []
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c", "say": said.append}
    done = compare_folder(str(split_source), quick, **options)
    assert len(done.facts.summary) == 2
    assert done.report is not None
    (sentence,) = [one for one in done.facts.warnings if "cannot be drawn" in one]
    assert sentence in said


def test_a_report_of_a_run_that_fails_does_not_lose_the_run(
    split_source, quick, tmp_path, monkeypatch
):
    monkeypatch.setattr(scored_run, "write_report", breaking)
    done = compare_folder(
        str(split_source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c"
    )
    assert (done.failed, [row["page"] for row in done.facts.rows]) == (0, ["", ""])
    assert all(
        any("cannot be drawn" in one for one in row["said"]) for row in rows_in(tmp_path / "c")
    )


def test_rows_say_which_part_was_scored(split_source, quick, compared, tmp_path):
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c", "split": "dev"}
    compare_folder(str(split_source), quick, **options)
    on_dev, on_test = rows_in(tmp_path / "c"), rows_in(compared[0])
    assert {row["on"] for row in on_dev} == {"dev"}
    assert {row["on"] for row in on_test} == {"test"}
    assert not any("test" in row for row in (*on_dev, *on_test))


def test_a_comparison_of_an_earlier_version_is_gone_on_with(
    compared, split_source, quick, tmp_path, monkeypatch
):
    (tmp_path / "c").mkdir()
    rows = rows_in(compared[0])
    old = [
        {"test": row.pop("scored"), **{k: v for k, v in row.items() if k != "on"}} for row in rows
    ]
    (tmp_path / "c" / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in old))
    trained = counting(monkeypatch)
    options = {"objectives": ["bce", "zlpr"], "seeds": 3, "out": tmp_path / "c", "resume": True}
    done = compare_folder(str(split_source), quick, **options)
    assert trained == []
    assert [row["metrics"] for row in done.facts.rows] == [
        row["metrics"] for row in compared[1].facts.rows
    ]


def test_no_objective_keeps_what_a_file_says_of_it(split_source, quick, tmp_path):
    """The file's own objective kept its mask and loss, and was compared with others that did not,
    as "focal".
    """
    file = {
        **quick,
        "objective": "focal",
        "loss": {"gamma": 3.0},
        "mask": {"name": "groups", "separator": "i"},
    }
    told: list[str] = []
    compare_folder(
        str(split_source),
        file,
        objectives=["bce", "focal"],
        seeds=1,
        out=tmp_path / "c",
        say=told.append,
    )
    settings = {row["variant"]: row["settings"] for row in rows_in(tmp_path / "c")}
    assert (settings["focal"]["loss"]["gamma"], settings["focal"]["mask"]["name"]) == (2.0, "none")
    assert [sentence for sentence in told if "loss.gamma, mask.name, mask.separator" in sentence]


@pytest.mark.parametrize(
    "flags", [{}, {"resume": True}, {"overwrite": True}], ids=["plain", "resume", "overwrite"]
)
def test_of_two_comparisons_at_once_the_second_is_told_of_the_first(
    split_source, quick, tmp_path, monkeypatch, flags
):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    options, refused = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}, []

    class Second(Watch):
        def end(self, number, row):
            with pytest.raises(InUseError, match=r"c is in use by process .*another --out"):
                compare_folder(str(split_source), quick, **options, **flags)
            refused.append(number)

    done = compare_folder(str(split_source), quick, **options, watch=lambda metric: Second())
    assert (refused, done.failed) == ([0, 1], 0)
    assert LOCK not in {path.name for path in (tmp_path / "c").iterdir()}


def test_a_kill_after_an_old_comparison_was_cleared_leaves_a_folder_that_goes_on(
    split_source, quick, tmp_path, monkeypatch
):
    """Nothing that told the folder for ours was left beside a person's notes, and every command
    refused them.
    """
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    compare_folder(str(split_source), quick, **options)
    (tmp_path / "c" / "notes.txt").write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(comparing, "Ledger", breaking)
        with pytest.raises(ValueError, match="cannot be drawn"):
            compare_folder(str(split_source), quick, **options, overwrite=True)
    assert {path.name for path in (tmp_path / "c").iterdir()} == {"notes.txt", LOCK}
    assert compare_folder(str(split_source), quick, **options, resume=True).failed == 0


@pytest.mark.parametrize("name", ["results.json", "report.html"])
def test_a_comparison_that_the_disk_ends_goes_on(split_source, quick, tmp_path, monkeypatch, name):
    options, real = (
        {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"},
        files._synced,
    )

    def full(path):
        if path.name == f".{name}.part" and path.parent == tmp_path / "c":
            raise OSError(28, "No space left on device")
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "_synced", full)
        with pytest.raises(WriteError, match=f"cannot write .*c/{name}: no space left on device"):
            compare_folder(str(split_source), quick, **options)
    trained = counting(monkeypatch)
    assert (
        compare_folder(str(split_source), quick, **options, resume=True).report
        == tmp_path / "c" / "report.html"
    )
    assert trained == []

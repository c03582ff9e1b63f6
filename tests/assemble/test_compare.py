"""Objectives × seeds on one split, and the sentence that sums them up."""

import json

import numpy as np
import pytest

from tagwright.assemble import compare as module
from tagwright.assemble.compare import compare_folder, summarise, verdict
from tagwright.errors import DataError, ModelError, SettingsError, TagwrightError


@pytest.fixture(scope="module")
def quick(tiny):
    return tiny(fit={"epochs": 1}, decide={"name": "zero"})


@pytest.fixture(scope="module")
def compared(split_source, quick, tmp_path_factory):
    out = tmp_path_factory.mktemp("compared") / "c"
    return out, compare_folder(str(split_source), quick, objectives=["bce", "zlpr"], seeds=3, out=out)


def counting(monkeypatch):
    """How often something is trained."""
    trained, real = [], module.fit
    monkeypatch.setattr(module, "fit", lambda *a, **k: trained.append(1) or real(*a, **k))
    return trained


def strict(path):
    return json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(f"{path.name}: {word} is no JSON"))


def test_every_objective_runs_with_every_seed(compared):
    _, done = compared
    found = sorted((row["objective"], row["seed"]) for row in done.facts.rows)
    assert found == [(name, seed) for name in ("bce", "zlpr") for seed in range(3)]


def test_means_and_spreads_are_those_of_the_runs(compared):
    _, done = compared
    for entry in done.facts.summary:
        values = [row["metrics"]["macro_f1"] for row in done.facts.rows if row["objective"] == entry["objective"]]
        assert entry["metrics"]["macro_f1"] == pytest.approx((np.mean(values), np.std(values, ddof=1)))


def test_differences_are_paired_by_seed_against_the_first(compared):
    from scipy import stats

    _, done = compared
    scores = {n: [r["metrics"]["lrap"] for r in done.facts.rows if r["objective"] == n] for n in ("bce", "zlpr")}
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
    assert len(list((out / "runs").glob("*.json"))) == 6


def test_resuming_trains_nothing_anew(compared, split_source, quick, monkeypatch):
    out, done = compared
    trained = counting(monkeypatch)
    again = compare_folder(str(split_source), quick, objectives=["bce", "zlpr"], seeds=3, out=out, resume=True)
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
    compare_folder(str(split_source), other, objectives=["bce", "zlpr"], seeds=1, out=out, resume=True)
    assert len(trained) == 2


def test_other_test_rows_are_scored_anew(split_source, quick, tmp_path, rows_of, write_csv, monkeypatch):
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
    done = compare_folder(str(split_source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c")
    assert strict(tmp_path / "c" / "results.json")
    assert "seed" in done.facts.verdict


@pytest.mark.parametrize("objectives", [[], ["bce"], ["bce", "bce"], ["bce", "bcee"]])
def test_fewer_than_two_known_objectives_are_refused_and_nothing_written(source, quick, tmp_path, objectives):
    with pytest.raises(SettingsError):
        compare_folder(str(source), quick, objectives=objectives, seeds=1, out=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [{"metric": "nonsense"}, {"split": "nowhere"}, {"objectives": ["bce", "cross_entropy"]}],
    ids=["metric", "split", "objective"],
)
def test_a_mistake_trains_nothing_and_writes_nothing(source, quick, tmp_path, monkeypatch, options):
    trained = counting(monkeypatch)
    with pytest.raises(TagwrightError):
        compare_folder(str(source), quick, **{"objectives": ["bce", "zlpr"], "seeds": 1, **options}, out=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []
    assert trained == []


@pytest.mark.parametrize("flags", [{}, {"resume": True}, {"overwrite": True}], ids=["plain", "resume", "overwrite"])
def test_what_others_made_is_refused_and_unchanged(source, quick, tmp_path, flags):
    (tmp_path / "mine.txt").write_text("x")
    for out in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(ModelError, match="exists and is no comparison; choose another --out"):
            compare_folder(str(source), quick, objectives=["bce", "zlpr"], seeds=1, out=out, **flags)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_an_existing_comparison_is_gone_on_with_or_started_over_only_when_asked(source, quick, tmp_path, monkeypatch):
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
    done = compare_folder(str(single_source), given, objectives=objectives, seeds=1, out=tmp_path / "c")
    assert done.facts.differing["fit.batch"] == {"cross_entropy": 256, "squared_hinge": 32}
    assert "fit.epochs" not in done.facts.differing
    assert not any(name.startswith(("loss", "objective")) for name in done.facts.differing)
    assert strict(tmp_path / "c" / "results.json")["differing"]["fit.optimiser"]["squared_hinge"] == "sgd"


def test_a_small_dev_set_is_told(source, quick, tmp_path):
    said = []
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    done = compare_folder(str(source), quick, **options, say=said.append)
    assert len(done.facts.warnings) == 1
    assert "say little" in done.facts.warnings[0]
    assert done.facts.warnings[0] in said


def test_without_test_rows_dev_is_measured(source, quick, tmp_path):
    done = compare_folder(str(source), quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c")
    assert done.facts.split == "dev"


TAGGER = {"encoder": {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 2, "feed": 8}}
TAGGER["fit"] = {"epochs": 1, "batch": 16, "learning_rate": 0.03}


def test_taggers_are_compared_by_their_spans(tagged_sets, tmp_path):
    source, objectives = str(tagged_sets / "places"), ["cross_entropy", "pbp-ee"]
    done = compare_folder(source, TAGGER, objectives=objectives, seeds=2, out=tmp_path / "c")
    assert (done.facts.metric, done.facts.split) == ("entity_f1", "test")
    assert {"entity_f1", "macro_f1", "macro_f2"} <= done.facts.summary[0]["metrics"].keys()
    assert "entity_f1" in done.facts.verdict


def test_a_metric_that_such_data_do_not_have_is_refused(tagged_sets, source, quick, tmp_path, monkeypatch):
    trained = counting(monkeypatch)
    options = {"objectives": ["cross_entropy", "pbp-ee"], "seeds": 1, "out": tmp_path / "c"}
    with pytest.raises(SettingsError, match="lrap is not measured where tokens are tagged"):
        compare_folder(str(tagged_sets / "places"), TAGGER, **options, metric="lrap")
    with pytest.raises(SettingsError, match="entity_f1 is a metric of tagged tokens"):
        compare_folder(str(source), quick, **{**options, "objectives": ["bce", "zlpr"]}, metric="entity_f1")
    assert trained == list(tmp_path.iterdir()) == []


def rows_with(**scores):
    return [
        {"objective": name, "seed": seed, "metrics": {"macro_f1": value, "ranking_loss": 1 - value}, "seconds": 1.0}
        for name, values in scores.items()
        for seed, value in enumerate(values)
    ]


def verdict_of(primary="macro_f1", **scores):
    return summarise(rows_with(**scores), primary, split="test", title="t", settings={}).verdict


BASE = [0.50, 0.52, 0.51, 0.49, 0.50]


def test_a_clear_gain_is_called_better():
    sentence = verdict_of(bce=BASE, zlpr=[0.60, 0.63, 0.61, 0.58, 0.61])
    assert sentence.startswith("zlpr is better than bce in macro_f1 by 0.1020 ")
    assert "95% interval" in sentence


def test_a_clear_loss_is_called_worse():
    assert verdict_of(bce=BASE, zlpr=[0.40, 0.43, 0.41, 0.38, 0.41]).startswith("zlpr is worse than bce")


def test_where_lower_is_better_a_lower_score_is_called_better():
    sentence = verdict_of("ranking_loss", bce=BASE, zlpr=[0.60, 0.63, 0.61, 0.58, 0.61])
    assert sentence.startswith("zlpr is better than bce in ranking_loss by 0.1020")


def test_noise_is_called_no_difference():
    assert verdict_of(bce=BASE, zlpr=[0.51, 0.50, 0.52, 0.48, 0.51]).startswith("No difference in macro_f1 from bce")


def test_the_best_of_several_is_named():
    sentence = verdict_of(bce=BASE, zlpr=[0.60, 0.63, 0.61, 0.58, 0.61], cecl=[0.70, 0.73, 0.71, 0.68, 0.71])
    assert sentence.startswith("cecl is better than bce")


def test_several_objectives_are_corrected_for_their_number():
    """One comparison at p = 0.03 is a difference, the best of five such is none."""
    one = [{"objective": "a", "metric": "macro_f1", "mean": 0.1, "low": 0.0, "high": 0.2, "p_value": 0.03}]
    five = one + [{**one[0], "objective": name, "p_value": 0.6} for name in "bcde"]
    assert verdict(one, "bce", "macro_f1").startswith("a is better")
    assert verdict(five, "bce", "macro_f1").startswith("No difference")


def test_one_seed_is_never_called_better_and_the_sentence_asks_for_more():
    sentence = verdict_of(bce=[0.1], zlpr=[0.9])
    assert "better" not in sentence
    assert "seed" in sentence


def test_a_missing_source_writes_nothing(quick, tmp_path):
    with pytest.raises(DataError):
        compare_folder("nowhere.csv", quick, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_objectives_share_a_teacher_and_it_does_not_stay(split_source, quick, tmp_path):
    """Two presets of one loss and seed want the same teacher; two seeds want two."""
    phases = []

    def watching(stream, title, start, total):
        phases.append(title)
        return stream

    given = {**quick, "loss": {"name": "bce"}, "targets": {"name": "distil"}, "soft": {"role": "auxiliary"}}
    compare_folder(
        str(split_source), given, objectives=["bce", "ls-distil"], seeds=2, out=tmp_path / "c", progress=watching
    )
    assert phases == ["teacher", "fit", "fit"] * 2
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["report.html", "results.json", "runs"]


def test_a_comparison_that_ended_while_teaching_can_be_resumed(split_source, quick, tmp_path):
    def failing(stream, title, start, total):
        yield next(stream)
        raise KeyboardInterrupt

    given = {**quick, "targets": {"name": "distil"}, "fit": {**quick["fit"], "save_seconds": 0.0}}
    choice = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    with pytest.raises(KeyboardInterrupt):
        compare_folder(str(split_source), given, **choice, progress=failing)
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["teachers"]
    compare_folder(str(split_source), given, **choice, resume=True)
    assert not (tmp_path / "c" / "teachers").exists()

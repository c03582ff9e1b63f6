"""What a comparison's report tells agrees with its runs; `test_compare` has the whole road."""

import json

import numpy as np
import pytest
from sklearn.metrics import f1_score

from tagwright.data import read_data
from tagwright.experiments import runs as module
from tagwright.experiments.ledger import unpacked, unpacked_bits
from tagwright.pipelines.compare import compare_folder


@pytest.fixture(scope="module")
def compared(split_source, tiny, tmp_path_factory):
    out = tmp_path_factory.mktemp("told") / "c"
    given = tiny(fit={"epochs": 1}, decide={"name": "zero"})
    facts = compare_folder(
        str(split_source), given, objectives=["bce", "focal", "zlpr"], seeds=2, out=out
    ).facts
    rows = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    return facts, {(row["variant"], row["seed"]): row for row in rows}


def test_details_are_about_the_best_that_is_not_the_baseline(compared):
    facts, rows = compared
    means = {
        n: np.mean([rows[n, seed]["scored"][facts.metric] for seed in (0, 1)])
        for n in ("focal", "zlpr")
    }
    assert facts.shown == {"cnn": max(means, key=means.get)}
    assert {one["objective"] for one in (*facts.exchanges, *facts.flips)} <= set(
        facts.shown.values()
    )


def test_gains_are_of_all_objectives_and_average_to_macro_f1(compared):
    facts, rows = compared
    assert [one["objective"] for one in facts.gains] == ["bce", "focal", "zlpr"]
    for one in facts.gains:
        expected = np.mean([rows[one["objective"], seed]["scored"]["macro_f1"] for seed in (0, 1)])
        assert np.mean(one["f1"]) == pytest.approx(expected)
        assert len(one["f1"]) == len(facts.label_names) == len(facts.label_counts)


def test_choices_that_were_kept_are_right_where_the_row_says_so(compared):
    facts, rows = compared
    bits = {}
    for key, row in rows.items():
        chosen = unpacked_bits(row["chosen"], row["texts"], len(facts.label_names))
        bits[key] = (chosen, unpacked(row["right"], row["texts"]))
    (first, right), (second, also) = bits["bce", 0], bits["zlpr", 0]
    assert (first[right & also] == second[right & also]).all()  # both are the truth there


def test_every_run_has_a_curve_and_every_objective_its_reliability(compared):
    facts, _ = compared
    assert [(one["objective"], one["seed"]) for one in facts.curves] == [
        (name, seed) for name in ("bce", "focal", "zlpr") for seed in (0, 1)
    ]
    assert [one["objective"] for one in facts.reliability] == ["bce", "focal", "zlpr"]
    assert facts.watched == "lrap"


def test_bands_are_those_of_the_metrics(compared):
    facts, rows = compared
    for one in facts.bands:
        found = [
            rows[one["objective"], seed]["scored"][f"{one['band']}_macro_f1"] for seed in (0, 1)
        ]
        assert one["macro_f1"] == pytest.approx(np.mean(found))


def with_failures(failing, source, tiny, out, monkeypatch, **options):
    """A comparison in which the runs of some (objective, seed) fail: its facts, and the F1 of
    labels of every run.
    """
    real = module.fit

    def fit(prepared, settings, run):
        if (settings.objective, settings.fit.seed) in failing:
            raise RuntimeError("no")
        return real(prepared, settings, run)

    monkeypatch.setattr(module, "fit", fit)
    given = tiny(fit={"epochs": 2}, decide={"name": "topk", "k": 1})
    done = compare_folder(str(source), given, objectives=["bce", "zlpr"], out=out, **options)
    names, table = done.facts.label_names, read_data(source).tables["test"]
    truth = np.array([[name in labels for name in names] for labels in table["labels"].to_pylist()])
    rows = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    f1 = {
        (row["variant"], row["seed"]): f1_score(
            truth,
            unpacked_bits(row["chosen"], row["texts"], len(names)),
            average=None,
            zero_division=0,
        )
        for row in rows
        if "failed" not in row
    }
    return done.facts, f1


def test_labels_are_compared_over_the_seeds_that_both_have(
    split_source, tiny, tmp_path, monkeypatch
):
    """A run that failed shifted the seeds that came after it: seed 1 was compared with seed 0."""
    lost = {("zlpr", 0), ("bce", 3)}
    facts, f1 = with_failures(lost, split_source, tiny, tmp_path / "c", monkeypatch, seeds=4)
    (found,) = [one for one in facts.gains if one["objective"] == "zlpr"]
    apart = np.array([f1["zlpr", seed] - f1["bce", seed] for seed in (1, 2)])
    assert np.abs(f1["bce", 0] - f1["bce", 1]).max() > 0  # else any pairing would pass
    assert np.asarray(found["f1"]) - found["base"] == pytest.approx(apart.mean(0))
    assert found["spread"] == pytest.approx(apart.std(0, ddof=1))
    assert {one["seeds"] for one in facts.flips} <= {2}


def test_objectives_without_a_common_seed_have_no_details_of_labels(
    split_source, tiny, tmp_path, monkeypatch
):
    lost = {("zlpr", 0), ("bce", 1)}
    facts, _ = with_failures(lost, split_source, tiny, tmp_path / "c", monkeypatch, seeds=2)
    assert (facts.shown, facts.gains, facts.flips) == ({}, [], [])
    assert [row["finished"] for row in facts.summary] == [1, 1]

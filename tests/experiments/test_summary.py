"""A comparison in numbers."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tagwright.experiments.ledger import packed, packed_values
from tagwright.experiments.summary import (
    best_beside,
    differences,
    measured_by_all,
    summary,
    sweeps,
    verdict,
    wins,
)
from tagwright.experiments.sweeps import SweptSetting
from tagwright.metrics import statistics

BASE = [0.50, 0.52, 0.51, 0.49, 0.50]
UP = [0.60, 0.63, 0.61, 0.58, 0.61]
DOWN = [0.40, 0.43, 0.41, 0.38, 0.41]


def rows_of(values, **more):
    return {
        seed: {
            "scored": {"macro_f1": value, "ranking_loss": 1 - value},
            "seconds": 2.0 + seed,
            "memory": 100 * seed,
            **more,
        }
        for seed, value in enumerate(values)
    }


def found_with(encoder="cnn", **scores):
    return {(name, encoder): rows_of(values) for name, values in scores.items()}


def told(primary="macro_f1", **scores):
    found = found_with(**scores)
    apart = differences(found, "bce", measured_by_all(found), primary)
    return verdict([one for one in apart if one["metric"] == primary], "bce", primary)


def test_a_clear_gain_is_called_better():
    sentence = told(bce=BASE, zlpr=UP)
    assert sentence.startswith("In macro_f1, against bce: zlpr is better by 0.1020 (95% interval ")
    assert "over other seeds, corrected p" in sentence


def test_a_clear_loss_is_called_worse_and_none_better():
    assert "zlpr is worse by 0.0980" in told(bce=BASE, zlpr=DOWN)
    assert told(bce=BASE, zlpr=DOWN).endswith("none is better.")


def test_where_lower_is_better_a_lower_score_is_called_better():
    assert "zlpr is better by 0.1020" in told("ranking_loss", bce=BASE, zlpr=UP)


def test_noise_is_called_no_difference():
    assert told(bce=BASE, zlpr=[0.51, 0.50, 0.52, 0.48, 0.51]).startswith(
        "No difference in macro_f1 from bce"
    )


def test_the_best_of_several_is_named():
    assert "cecl is better" in told(bce=BASE, zlpr=UP, cecl=[value + 0.1 for value in UP])


def test_a_gain_is_named_before_a_larger_loss():
    sentence = told(bce=BASE, zlpr=UP, cecl=[value - 0.2 for value in DOWN])
    assert "zlpr is better" in sentence
    assert "cecl" not in sentence


def test_of_several_encoders_each_gain_is_named():
    found = {
        **found_with(bce=BASE, zlpr=UP),
        **found_with("lstm", bce=BASE, zlpr=[value + 0.1 for value in UP]),
    }
    apart = differences(found, "bce", ["macro_f1"], "macro_f1")
    sentence = verdict(apart, "bce", "macro_f1", encoders=2)
    assert "zlpr with lstm is better" in sentence
    assert "zlpr with cnn is better" in sentence


def test_one_seed_is_never_called_better_and_the_sentence_asks_for_more():
    sentence = told(bce=[0.1], zlpr=[0.9])
    assert "better" not in sentence
    assert "more seeds" in sentence


def test_without_a_baseline_that_finished_nothing_is_compared():
    assert told(bce=[], zlpr=UP).startswith("No objective can be compared with bce")


def test_several_objectives_are_corrected_for_their_number():
    """The same difference survives alone and not among many."""
    rng = np.random.default_rng(0)
    weak = [value + 0.01 + 0.009 * noise for value, noise in zip(BASE, (1, -1, 0.6, -0.8, 0.2))]
    (alone,) = differences(found_with(bce=BASE, a=weak), "bce", ["macro_f1"], "macro_f1")
    noise = {name: list(BASE + rng.normal(0, 0.01, 5)) for name in "bcdefghijklmnopqrst"}
    among = differences(found_with(bce=BASE, a=weak, **noise), "bce", ["macro_f1"], "macro_f1")
    assert alone["adjusted"] == alone["p_value"]
    assert alone["p_value"] < 0.05
    assert next(one for one in among if one["objective"] == "a")["adjusted"] > 0.05
    expected = statistics.holm(np.array([one["p_value"] for one in among]))
    assert [one["adjusted"] for one in among] == pytest.approx(list(expected))


def test_only_the_primary_metric_is_corrected():
    found = found_with(bce=BASE, zlpr=UP)
    by_name = {
        one["metric"]: one
        for one in differences(found, "bce", ["macro_f1", "ranking_loss"], "macro_f1")
    }
    assert np.isnan(by_name["ranking_loss"]["adjusted"])
    assert by_name["macro_f1"]["adjusted"] < 0.05


def test_over_seeds_it_is_the_paired_t_test_of_the_common_seeds():
    found = found_with(bce=BASE, zlpr=UP)
    del found["zlpr", "cnn"][0]
    (one,) = differences(found, "bce", ["macro_f1"], "macro_f1")
    expected = scipy_stats.ttest_rel(UP[1:], BASE[1:])
    assert one["p_value"] == pytest.approx(expected.pvalue)
    assert not one["over_texts"]


def test_where_texts_are_known_the_interval_speaks_of_them():
    rng = np.random.default_rng(1)
    right = {name: rng.random((3, 200)) < share for name, share in (("bce", 0.6), ("zlpr", 0.7))}
    values = {name: rng.random((3, 200)) for name in right}
    found = {
        (name, "cnn"): {
            seed: {
                "scored": {
                    "subset_accuracy": float(one.mean()),
                    "micro_f1": float(values[name][seed].mean()),
                },
                "texts": 200,
                "right": packed(one),
                "of_texts": {"micro_f1": packed_values(values[name][seed])},
            }
            for seed, one in enumerate(rows)
        }
        for name, rows in right.items()
    }
    whole, micro = differences(found, "bce", ["subset_accuracy", "micro_f1"], "subset_accuracy")
    for one, table in ((whole, right), (micro, values)):
        expected = statistics.crossed_interval(
            table["zlpr"].astype(float), table["bce"].astype(float)
        )
        assert (one["low"], one["high"]) == pytest.approx((expected.low, expected.high), abs=1e-6)
        assert one["over_texts"]


def test_wins_count_encoders_and_seeds_and_ties_for_each():
    found = {
        **found_with(bce=[0.5, 0.6], zlpr=[0.5, 0.7]),
        **found_with("lstm", bce=[0.9, 0.9], zlpr=[0.8, 0.8]),
    }
    counted, games = wins(found, ["bce", "zlpr"], ["macro_f1", "ranking_loss"])
    assert games == 4
    assert [one["metrics"] for one in counted] == [
        {"macro_f1": 3, "ranking_loss": 3},
        {"macro_f1": 2, "ranking_loss": 2},
    ]


def test_a_seed_that_one_lacks_is_no_game():
    found = found_with(bce=[0.5, 0.6], zlpr=[0.5])
    assert wins(found, ["bce", "zlpr"], ["macro_f1"])[1] == 1


def test_a_summary_has_means_spreads_and_cost():
    runs = rows_of([0.4, 0.6], untuned={"macro_f1": 0.3})
    found = summary(("bce", "cnn"), runs, ["macro_f1"], failed=1)
    assert found["metrics"]["macro_f1"] == pytest.approx((0.5, np.std([0.4, 0.6], ddof=1)))
    assert found["untuned"]["macro_f1"] == (pytest.approx(0.3), 0.0)
    assert (found["seconds"], found["memory"], found["finished"], found["failed"]) == (
        2.5,
        100.0,
        2,
        1,
    )


def test_a_summary_of_nothing_has_no_numbers():
    found = summary(("bce", "cnn"), {}, ["macro_f1"], failed=3)
    assert (found["metrics"], found["untuned"], found["memory"], found["finished"]) == (
        {},
        {},
        None,
        0,
    )


def test_metrics_that_some_run_lacks_are_left_out():
    found = found_with(bce=BASE, zlpr=UP)
    del found["zlpr", "cnn"][2]["scored"]["ranking_loss"]
    assert measured_by_all(found) == ["macro_f1"]
    assert measured_by_all({}) == []


def test_a_sweep_is_ordered_by_its_values_and_needs_two():
    found = found_with(bce=BASE, high=UP, low=DOWN)
    swept = {"focal": SweptSetting("loss.gamma", {"high": 4.0, "low": 1.0})}
    (curve,) = sweeps(found, swept, ["cnn"], "macro_f1")
    assert list(curve["values"]) == [1.0, 4.0]
    assert list(curve["means"]) == pytest.approx([np.mean(DOWN), np.mean(UP)])
    assert (
        sweeps(found, {"focal": SweptSetting("loss.gamma", {"high": 4.0})}, ["cnn"], "macro_f1")
        == []
    )


def test_details_are_of_the_best_but_for_the_baseline():
    found = found_with(bce=[0.9], zlpr=[0.5], focal=[0.6])
    assert best_beside(found, "bce", "cnn", "macro_f1") == "focal"
    assert best_beside(found, "bce", "cnn", "ranking_loss") == "focal"
    assert best_beside(found_with(bce=[0.9], zlpr=[]), "bce", "cnn", "macro_f1") is None

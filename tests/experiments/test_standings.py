"""From runs to a table: means, paired differences, and words that follow from them."""

import numpy as np
import pytest
from scipy import stats

from tagwright.experiments.ledger import packed, packed_values
from tagwright.experiments.standings import standings
from tagwright.metrics.influence import influence


def row(score, *, right=None, seconds=2.0):
    answers = (
        {"right": None, "texts": 0}
        if right is None
        else {"right": packed(right), "texts": len(right)}
    )
    return {"scored": {"accuracy": score, "ranking_loss": score}, "seconds": seconds, **answers}


def answers(share, *, seed, texts=401):
    return np.random.default_rng([seed, texts]).random(texts) < share


def runs_of(scores, **options):
    return {(seed, ""): row(score, **options) for seed, score in enumerate(scores)}


def lines_of(runs, metric="accuracy", parts=1):
    return {line.variant: line for line in standings(runs, metric, baseline="plain", parts=parts)}


BASE = [0.50, 0.52, 0.51, 0.49, 0.50]
MORE = [0.60, 0.63, 0.61, 0.58, 0.61]


def test_a_difference_is_paired_by_seed():
    found = lines_of({"plain": runs_of(BASE), "new": runs_of(MORE)})["new"]
    expected = stats.ttest_rel(MORE, BASE)
    assert found.over_seeds == pytest.approx(
        (np.mean(MORE) - np.mean(BASE), *expected.confidence_interval(0.95))
    )
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.scores == MORE
    assert found.verdict == "better"


def test_where_lower_is_better_more_is_worse():
    runs = {"plain": runs_of(BASE), "new": runs_of(MORE)}
    assert lines_of(runs, "ranking_loss")["new"].verdict == "worse"


def test_noise_is_no_difference():
    runs = {"plain": runs_of(BASE), "new": runs_of([0.51, 0.50, 0.52, 0.48, 0.51])}
    assert lines_of(runs)["new"].verdict == "no difference shown"


def test_several_variants_are_corrected_for_their_number():
    """A difference at p = 0.03 holds alone and not beside four others."""
    close = [0.513, 0.520, 0.516, 0.494, 0.512]
    assert 0.01 < stats.ttest_rel(close, BASE).pvalue < 0.05
    noise = {
        f"noise {n}": runs_of(np.add(BASE, [0.01, -0.01, 0.005 * n, 0, -0.01])) for n in range(4)
    }
    assert lines_of({"plain": runs_of(BASE), "new": runs_of(close)})["new"].verdict == "better"
    assert (
        lines_of({"plain": runs_of(BASE), "new": runs_of(close), **noise})["new"].verdict
        == "no difference shown"
    )


def test_known_answers_bring_the_interval_over_texts_too():
    base = {(seed, ""): row(0.5, right=answers(0.5, seed=seed)) for seed in range(3)}
    new = {(seed, ""): row(0.7, right=answers(0.7, seed=seed)) for seed in range(3)}
    found = lines_of({"plain": base, "new": new})["new"]
    assert found.over_texts != found.over_seeds
    assert found.over_texts[0] == pytest.approx(0.2, abs=0.06)


def test_a_gain_on_a_few_texts_alone_is_no_difference():
    """All seeds agree, so seeds alone would call it certain."""
    base = np.zeros(401, bool)
    new = base.copy()
    new[:2] = True
    runs = {
        "plain": {(seed, ""): row(base.mean(), right=base) for seed in range(3)},
        "new": {(seed, ""): row(new.mean(), right=new) for seed in range(3)},
    }
    assert lines_of(runs)["new"].verdict == "no difference shown"


def test_f1_is_compared_text_by_text_where_the_runs_tell_what_each_adds():
    random = np.random.default_rng(3)
    truth = random.random((500, 4)) < 0.3
    runs = {"plain": {}, "new": {}}
    for seed in range(3):
        for name, wrong in (("plain", 0.2), ("new", 0.1)):
            chosen = truth ^ (random.random(truth.shape) < wrong)
            values = influence("micro_f1", truth, chosen)
            of_texts = {"micro_f1": packed_values(values)}
            runs[name][seed, ""] = {
                **row(0.0),
                "scored": {"micro_f1": values.mean()},
                "of_texts": of_texts,
            }
    found = lines_of(runs, "micro_f1")["new"]
    assert found.over_texts != found.over_seeds
    assert found.over_texts[0] == pytest.approx(found.over_seeds[0])
    assert found.verdict == "better"


def test_metrics_beside_come_by_seed_and_change_no_word():
    runs = {"plain": runs_of(BASE), "new": runs_of(MORE)}
    plain = {line.variant: line for line in standings(runs, "accuracy", baseline="plain", parts=1)}
    shown = standings(runs, "accuracy", baseline="plain", parts=1, also=["ranking_loss"])
    for line in shown:
        assert line.beside == {"ranking_loss": line.scores}
        assert (line.verdict, line.p_value) == (
            plain[line.variant].verdict,
            plain[line.variant].p_value,
        )
        assert plain[line.variant].beside == {}


def test_a_metric_beside_that_a_run_does_not_have_is_no_number():
    (line,) = standings(
        {"plain": runs_of([0.5])}, "accuracy", baseline="plain", parts=1, also=["lrap"]
    )
    assert np.isnan(line.beside["lrap"]).all()


def test_tagged_tokens_are_compared_over_seeds_alone():
    """The accuracy of tokens is no share of texts, though it is called accuracy."""
    runs = {name: runs_of(scores) for name, scores in (("plain", BASE), ("new", MORE))}
    found = lines_of(runs)["new"]
    assert found.over_texts == found.over_seeds


def test_amounts_are_means_over_seeds():
    def tagged(*amounts):
        return {
            (seed, ""): {**row(0.5), "amounts": {"KEY": [amount, 40]}}
            for seed, amount in enumerate(amounts)
        }

    found = lines_of({"plain": tagged(10, 30), "new": {(0, ""): {"failed": "x"}}})
    assert found["plain"].amounts == {"KEY": (20.0, 40.0)}
    assert found["new"].amounts == {}


def test_one_seed_shows_nothing():
    found = lines_of({"plain": runs_of([0.1]), "new": runs_of([0.9])})["new"]
    assert found.verdict == "one seed shows nothing"
    assert found.p_value is None


def test_a_seed_counts_when_all_its_parts_are_there():
    parts = {
        (seed, part): row(seed + shift)
        for seed in range(3)
        for part, shift in (("a", 0.0), ("b", 0.5))
    }
    lacking = {place: found for place, found in parts.items() if place != (2, "b")}
    found = lines_of({"plain": parts, "new": lacking}, parts=2)
    assert found["plain"].scores == [0.25, 1.25, 2.25]
    assert found["new"].scores == [0.25, 1.25]


def test_answers_of_parts_are_averaged_text_by_text():
    first, second = np.array([True, True, False, False]), np.array([True, False, False, True])
    base = {(seed, part): row(0.5, right=np.zeros(4, bool)) for seed in range(2) for part in "ab"}
    new = {
        (seed, part): row(0.5, right=right)
        for seed in range(2)
        for part, right in (("a", first), ("b", second))
    }
    assert lines_of({"plain": base, "new": new}, parts=2)["new"].over_texts[0] == pytest.approx(0.5)


def test_only_seeds_that_both_have_are_compared():
    base, new = runs_of(BASE), runs_of(MORE)
    del base[0, ""]
    new[4, ""] = {"failed": "no memory"}
    found = lines_of({"plain": base, "new": new})["new"]
    assert found.over_seeds[0] == pytest.approx(np.mean(MORE[1:4]) - np.mean(BASE[1:4]))
    assert found.failed == ["no memory"]
    assert len(found.scores) == 4


def test_without_a_run_nothing_is_compared():
    found = lines_of({"plain": {}, "new": runs_of(MORE), "none": {(0, ""): {"failed": "x"}}})
    assert found["new"].verdict == found["none"].verdict == "no run to compare"
    assert found["plain"].scores == []
    assert np.isnan(found["none"].seconds)

import math

import pytest

from tagwright.reports.objectives import keys, metrics_of, present, primary, ranked
from tagwright.reports.plots import INK, PALETTE

from .compare_cases import make_compare, summary


def order(facts):
    return [(row["encoder"], row["objective"]) for row in ranked(facts)]


def test_objectives_are_ranked_within_their_encoder():
    facts = make_compare(("bow", "cnn"))
    assert order(facts) == [
        (encoder, name) for encoder in ("bow", "cnn") for name in ("zlpr", "bce", "focal")
    ]


def test_a_loss_is_better_when_lower_and_what_failed_comes_last():
    rows = [summary(name, "cnn", 0.5) for name in "abc"] + [
        summary("d", "cnn", 0.0, finished=0, failed=3)
    ]
    for row, mean in zip(rows, (0.3, 0.2, math.nan)):
        row["metrics"] = {"hamming_loss": (mean, 0.0)}
    assert order(make_compare(metric="hamming_loss", summary=rows)) == [
        ("cnn", name) for name in "bacd"
    ]


def test_the_primary_metric_comes_first():
    assert metrics_of(make_compare(metric="lrap")) == ["lrap", "macro_f1", "hamming_loss"]
    assert metrics_of(make_compare(summary=())) == ["macro_f1"]


def test_a_mean_that_is_not_there_is_undefined():
    facts = make_compare()
    assert primary(facts, facts.summary[1]) == pytest.approx(0.64)
    assert math.isnan(primary(facts, summary("a", "cnn", 0.5, finished=0)))


def test_the_baseline_has_the_color_of_ink_and_others_keep_theirs():
    found = keys(make_compare())
    assert [(key.name, key.color) for key in found] == [
        ("bce", INK),
        ("zlpr", PALETTE[0]),
        ("focal", PALETTE[1]),
    ]
    assert present(found, ["focal", "unknown"]) == found[2:]


@pytest.mark.parametrize("lower", [False, True])
def test_of_very_many_the_best_have_colors_in_the_order_given(lower):
    names = [f"o{i}" for i in range(15)]
    rows = [summary(name, e, i / 20) for i, name in enumerate(names) for e in ("a", "b")]
    low = ("macro_f1",) if lower else ()
    facts = make_compare(
        ("a", "b"), baseline="o0", objectives=names, summary=rows, lower_is_better=low
    )
    best = names[1:9] if lower else names[7:]
    assert [key.name for key in keys(facts)] == ["o0", *best]
    assert [key.color for key in keys(facts)] == [INK, *PALETTE]
    assert [key.dashed for key in keys(facts)] == [False] * 5 + [True] * 4


def test_what_failed_everywhere_has_no_color():
    rows = [summary("bce", "cnn", 0.0, finished=0, failed=3), summary("zlpr", "cnn", 0.5)]
    assert [key.name for key in keys(make_compare(summary=rows))] == ["zlpr"]

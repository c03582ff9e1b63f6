import math

import numpy as np
import pytest

from tagwright.reports.compare_tables import (
    difference_table,
    error_table,
    exchange_table,
    label_table,
    run_table,
    summary_table,
    untuned_metrics,
    wins_table,
)
from tagwright.reports.objectives import keys

from .compare_cases import difference, make_compare, run, summary

TWO = ("cnn", "bow")


def titles(table):
    return [title for title, _ in table.columns]


def column(table, title):
    return [row[titles(table).index(title)] for row in table.rows]


def said(table, title):
    return [cell.text for cell in column(table, title)]


def marked(table, title, mark="best"):
    return [cell.mark == mark for cell in column(table, title)]


def test_means_and_deviations_are_those_of_the_facts_best_first():
    facts = make_compare()
    table = summary_table(facts)
    assert said(table, "objective") == ["zlpr", "bce (baseline)", "focal"]
    assert said(table, "macro-F1") == ["0.640 ± 0.012", "0.520 ± 0.012", "0.500 ± 0.012"]
    means = {row["objective"]: row["metrics"]["macro_f1"][0] for row in facts.summary}
    assert [cell.value for cell in column(table, "macro-F1")] == [
        means[name] for name in ("zlpr", "bce", "focal")
    ]
    assert titles(table) == [
        *("objective", "macro-F1", "macro-F1, untuned", "time", "memory", "LRAP", "Hamming loss"),
    ]
    assert (table.sorted_by, table.ascending) == (1, False)


def test_figures_without_fitted_thresholds_stand_beside_the_others():
    facts = make_compare()
    assert said(summary_table(facts), "macro-F1, untuned") == [
        "0.590 ± 0.030",
        "0.470 ± 0.030",
        "0.450 ± 0.030",
    ]
    bare = make_compare(summary=[{**row, "untuned": {}} for row in facts.summary])
    assert untuned_metrics(bare) == []
    assert "macro-F1, untuned" not in titles(summary_table(bare))


def test_untuned_figures_are_of_the_primary_metric_and_f1_alone():
    known = dict.fromkeys(("lrap", "weighted_f1", "micro_f1", "macro_f1"), (0.5, 0.1))
    facts = make_compare(
        metric="lrap", summary=[{**row, "untuned": known} for row in make_compare().summary]
    )
    assert untuned_metrics(facts) == ["lrap", "micro_f1", "macro_f1"]


def test_every_encoder_has_its_best_and_the_lowest_loss_is_best():
    rows = [
        summary(name, encoder, mean)
        for encoder, means in zip(TWO, [(0.5, 0.6), (0.9, 0.8)])
        for name, mean in zip(("bce", "zlpr"), means)
    ]
    for row, loss in zip(rows, (0.3, 0.2, 0.1, 0.1)):
        row["metrics"]["hamming_loss"] = (loss, 0.0)
    table = summary_table(make_compare(TWO, summary=rows))
    assert said(table, "encoder") == ["cnn", "cnn", "bow", "bow"]
    assert said(table, "objective") == ["zlpr", "bce (baseline)", "bce (baseline)", "zlpr"]
    assert marked(table, "macro-F1") == [True, False, True, False]
    assert marked(table, "Hamming loss") == [True, False, True, True]
    assert table.sorted_by is None


def test_alone_is_not_best():
    assert marked(
        summary_table(make_compare(summary=[summary("bce", "cnn", 0.5)])), "macro-F1"
    ) == [False]


def test_one_run_has_no_deviation():
    rows = [summary("bce", "cnn", 0.5, finished=1), summary("zlpr", "cnn", 0.6)]
    assert said(summary_table(make_compare(summary=rows)), "macro-F1") == ["0.600 ± 0.012", "0.500"]


def test_what_failed_says_so():
    rows = [summary("bce", "cnn", 0.5), summary("zlpr", "cnn", 0.6, finished=2, failed=1)]
    rows.append(summary("focal", "cnn", 0.0, finished=0, failed=3))
    table = summary_table(make_compare(summary=rows))
    assert said(table, "runs") == ["2 of 3", "3", "0 of 3"]
    assert said(table, "macro-F1")[2] == "failed"
    assert marked(table, "macro-F1", "alert") == [False, False, True]
    assert math.isnan(column(table, "macro-F1")[2].value)
    assert said(table, "time") == ["1 min", "1 min", "–"]
    assert said(table, "memory") == ["2.5 GB", "2.5 GB", "–"]
    assert "runs" not in titles(summary_table(make_compare()))


def test_wins_are_counted_by_metric_and_in_all():
    won = {"bce": (1, 1, 0), "zlpr": (2, 4, 5), "focal": (3, 0, 0)}
    names = ("lrap", "macro_f1", "one_error")
    facts = make_compare(
        wins=[{"objective": n, "metrics": dict(zip(names, w))} for n, w in won.items()], games=5
    )
    table = wins_table(facts)
    assert titles(table) == ["objective", "total", "macro-F1", "LRAP", "one error"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        *(
            ["zlpr", "11", "4", "2", "5"],
            ["focal", "3", "0", "3", "0"],
            ["bce (baseline)", "2", "1", "1", "0"],
        ),
    ]
    assert marked(table, "LRAP") == [False, True, False]
    assert [cell.heat for cell in column(table, "one error")] == [1.0, 0.0, 0.0]


def test_nobody_wins_a_metric_without_wins():
    table = wins_table(make_compare(wins=[{"objective": "bce", "metrics": {"lrap": 0}}]))
    assert not any(cell.mark for cell in table.rows[0])


def test_every_label_has_the_difference_of_every_objective():
    random = np.random.default_rng(0)
    scores = {name: random.random(7) for name in ("bce", "zlpr", "focal")}
    scores["bce"][3] = np.nan
    own = {"encoder": "cnn", "base": scores["bce"], "spread": np.zeros(7)}
    gains = [{"objective": n, "f1": f1, **own} for n, f1 in scores.items()]
    facts = make_compare(
        gains=gains, label_names=[f"label {i}" for i in range(7)], label_counts=range(7)
    )
    table = label_table(facts, "cnn", "focal", keys(facts))
    assert titles(table) == ["label", "train", "bce", "Δ focal", "Δ zlpr"]
    places = [int(name.split()[1]) for name in said(table, "label")]
    sizes = [abs(scores["focal"][i] - scores["bce"][i]) for i in places]
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True)
    assert places[-1] == 3
    for i, row in zip(places[:-1], table.rows):
        expected = [f"{scores['bce'][i]:.3f}"]
        expected += [
            f"{scores[n][i] - scores['bce'][i]:+.3f}".replace("-", "−") for n in ("focal", "zlpr")
        ]
        assert [cell.text for cell in row] == [f"label {i}", str(i), *expected]
    assert [cell.text for cell in table.rows[-1][2:]] == ["–", "–", "–"]


def test_a_table_of_labels_is_cut_at_the_smallest_differences():
    f1 = np.linspace(0, 0.5, 407)
    gains = [
        {
            "objective": name,
            "encoder": "cnn",
            "f1": f1 * factor,
            "base": f1,
            "spread": np.zeros(407),
        }
        for name, factor in (("bce", 1), ("zlpr", 2))
    ]
    facts = make_compare(
        gains=gains, label_names=[str(i) for i in range(407)], label_counts=np.ones(407)
    )
    table = label_table(facts, "cnn", "zlpr", keys(facts))
    assert said(table, "label") == [str(i) for i in range(406, 106, -1)]
    assert table.left_out == 107


def test_calibration_errors_stand_under_their_encoder():
    facts = make_compare(TWO)
    table = error_table(facts)
    assert titles(table) == ["objective", "cnn", "bow"]
    assert said(table, "bow") == ["0.0500", "0.0250", "0.0250"]
    assert marked(table, "cnn") == [False, True, True]
    missing = [
        row for row in facts.reliability if (row["objective"], row["encoder"]) != ("zlpr", "bow")
    ]
    assert said(error_table(make_compare(TWO, reliability=missing)), "bow")[1] == "–"


def test_confused_pairs_come_by_the_size_of_their_change():
    facts = make_compare()
    table = exchange_table(
        [p for p in facts.exchanges if p["objective"] == "zlpr"], before="bce", after="zlpr"
    )
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["label 1", "label 2", "9", "1", "−8.0"],
        ["label 2", "label 3", "0", "4", "+4.0"],
        ["label 0", "label 1", "3", "2.5", "−0.5"],
    ]
    assert [row[4].mark for row in table.rows] == ["best", "alert", "best"]


def test_differences_have_interval_and_both_chances():
    facts = make_compare(
        differences=[
            difference("zlpr", "cnn", 0.12, 0.02, 0.01),
            difference("focal", "cnn", -0.02, 0.1, 1e-9),
        ]
    )
    table = difference_table(facts)
    assert [cell.text for cell in table.rows[0]] == [
        *(
            "zlpr",
            "macro-F1",
            "+0.1200",
            "+0.1000 to +0.1400",
            "seeds and texts",
            "0.0100",
            "0.0200",
        ),
    ]
    assert said(table, "p") == ["0.0100", "< 0.0001"]
    assert said(table, "difference")[1] == "−0.0200"
    assert marked(table, "difference") == [True, True]


@pytest.mark.parametrize("bound", [math.inf, math.nan])
def test_a_difference_of_one_seed_has_no_interval(bound):
    alone = {
        **difference("zlpr", "cnn", 0.12, 0.0, 1.0),
        "low": -bound,
        "high": bound,
        "adjusted": math.nan,
    }
    row = difference_table(make_compare(differences=[alone])).rows[0]
    assert [cell.text for cell in row[2:]] == ["+0.1200", "–", "–", "1.000", "–"]
    assert row[2].mark == ""


def test_what_rounds_to_nothing_has_no_sign():
    row = difference_table(
        make_compare(differences=[difference("zlpr", "cnn", -1e-9, 0.1, 0.9)])
    ).rows[0]
    assert row[2].text == "0.0000"


def test_every_run_is_a_row_with_its_page_or_its_error():
    rows = [run("bce", "cnn", 0, 0.5), run("zlpr", "bow", 1, 0.0, failed="out of memory")]
    table = run_table(make_compare(TWO, rows=rows))
    assert titles(table)[:7] == [
        "objective",
        "encoder",
        "seed",
        "report",
        "failed",
        "time",
        "memory",
    ]
    assert [cell.text for cell in table.rows[0]] == [
        *("bce", "cnn", "0", "open", "", "1 min", "2.5 GB", "0.500", "0.600", "0.0500"),
    ]
    assert [cell.page for cell in column(table, "report")] == ["runs/bce-0.html", ""]
    assert [cell.text for cell in table.rows[1]] == [
        "zlpr",
        "bow",
        "1",
        "",
        "out of memory",
        *"–––––",
    ]


def test_runs_without_page_error_or_memory_have_no_such_columns():
    rows = [{**run("bce", "cnn", 0, 0.5), "page": "", "memory": None}]
    assert titles(run_table(make_compare(rows=rows)))[:3] == ["objective", "seed", "time"]

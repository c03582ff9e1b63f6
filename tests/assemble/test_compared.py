"""What a comparison's report tells agrees with its runs; `test_compare` has the whole road."""

import json

import numpy as np
import pytest

from tagwright.assemble.compare import compare_folder
from tagwright.assemble.ledger import unpacked, unpacked_bits


@pytest.fixture(scope="module")
def compared(split_source, tiny, tmp_path_factory):
    out = tmp_path_factory.mktemp("told") / "c"
    given = tiny(fit={"epochs": 1}, decide={"name": "zero"})
    facts = compare_folder(str(split_source), given, objectives=["bce", "focal", "zlpr"], seeds=2, out=out).facts
    rows = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    return facts, {(row["variant"], row["seed"]): row for row in rows}


def test_details_are_about_the_best_that_is_not_the_baseline(compared):
    facts, rows = compared
    means = {n: np.mean([rows[n, seed]["test"][facts.metric] for seed in (0, 1)]) for n in ("focal", "zlpr")}
    assert facts.shown == {"cnn": max(means, key=means.get)}
    assert {one["objective"] for one in (*facts.exchanges, *facts.flips)} <= set(facts.shown.values())


def test_gains_are_of_all_objectives_and_average_to_macro_f1(compared):
    facts, rows = compared
    assert [one["objective"] for one in facts.gains] == ["bce", "focal", "zlpr"]
    for one in facts.gains:
        expected = np.mean([rows[one["objective"], seed]["test"]["macro_f1"] for seed in (0, 1)])
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
        found = [rows[one["objective"], seed]["test"][f"{one['band']}_macro_f1"] for seed in (0, 1)]
        assert one["macro_f1"] == pytest.approx(np.mean(found))

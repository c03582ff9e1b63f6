"""What sets objectives apart, against counts by hand."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score

from tagwright.experiments import contrast
from tagwright.experiments.contrast import Place
from tagwright.experiments.ledger import packed_bits
from tagwright.labels.space import LabelSpace

PLACE = Place(objective="zlpr", encoder="cnn")
NAMES = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def drawn():
    """Truth (n, L), and choices of three seeds of an objective and of the baseline."""
    rng = np.random.default_rng(3)
    truth = rng.random((60, 4)) < [0.5, 0.3, 0.2, 0.05]
    chosen, base = ((truth ^ (rng.random((3, 60, 4)) < share)) for share in (0.1, 0.25))
    return truth, chosen, base


def test_gains_are_the_f1_of_every_label(drawn):
    truth, chosen, base = drawn
    found = contrast.gains(PLACE, truth, chosen, base)
    own = np.array([f1_score(truth, one, average=None, zero_division=0) for one in chosen])
    other = np.array([f1_score(truth, one, average=None, zero_division=0) for one in base])
    assert np.allclose(found["f1"], own.mean(0))
    assert np.allclose(found["spread"], (own - other).std(0, ddof=1))
    assert (found["objective"], found["encoder"]) == ("zlpr", "cnn")


def test_one_seed_has_no_spread(drawn):
    truth, chosen, base = drawn
    assert contrast.gains(PLACE, truth, chosen[:1], base[:1])["spread"].tolist() == [0, 0, 0, 0]


def by_hand(truth, chosen):
    """(missed, wrong) -> texts, mean over seeds."""
    counts = np.zeros((4, 4))
    for one in chosen:
        for row, own in zip(truth, one):
            for i in range(4):
                for j in range(4):
                    counts[i, j] += row[i] and not own[i] and own[j] and not row[j]
    return counts / len(chosen)


def test_exchanges_are_counts_of_pairs_before_and_after(drawn):
    truth, chosen, base = drawn
    before, after = by_hand(truth, base), by_hand(truth, chosen)
    found = contrast.exchanges(PLACE, truth, chosen, base, NAMES)
    for one in found:
        i, j = NAMES.index(one["true"]), NAMES.index(one["chosen"])
        assert (one["before"], one["after"]) == pytest.approx((before[i, j], after[i, j]))
    changes = [abs(one["after"] - one["before"]) for one in found]
    assert changes == sorted(changes, reverse=True)
    assert sorted(changes) == pytest.approx(sorted(np.abs(after - before)[before != after]))


def test_nothing_is_exchanged_where_nothing_differs(drawn):
    truth, chosen, _ = drawn
    assert contrast.exchanges(PLACE, truth, chosen, chosen, NAMES) == []
    assert contrast.flips(PLACE, truth, chosen, chosen, NAMES, pa.chunked_array([["x"] * 60])) == []


def test_a_text_flips_where_most_seeds_change_their_mind():
    truth = np.eye(4, dtype=bool)
    base = np.stack([truth, truth, truth])
    chosen = base.copy()
    # the first text: wrong in two of three before
    base[0, 0], base[1, 0] = (
        [0, 1, 0, 0],
        [0, 1, 0, 0],
    )
    chosen[:, 3] = [1, 0, 0, 0]  # the last: wrong in all after
    chosen[0, 1] = [0, 0, 1, 1]  # the second: wrong in one of three, which is no flip
    texts = pa.chunked_array([["t0", "t1"], ["t2", "t3"]])
    right, wrong = contrast.flips(PLACE, truth, chosen, base, NAMES, texts)
    assert (right["text"], right["before"], right["after"], right["seeds"]) == ("t0", 1, 3, 3)
    assert (right["true"], right["labels_before"], right["labels_after"]) == (["a"], ["b"], ["a"])
    assert (wrong["text"], wrong["before"], wrong["after"], wrong["labels_after"]) == (
        "t3",
        3,
        0,
        ["a"],
    )


def test_flips_are_few_and_the_clearest_come_first(monkeypatch):
    monkeypatch.setattr(contrast, "MOST_FLIPS", 5)
    truth = np.ones((40, 1), bool)
    base, chosen = np.zeros((5, 40, 1), bool), np.zeros((5, 40, 1), bool)
    chosen[:3], chosen[:, 30:] = True, True
    found = contrast.flips(
        PLACE, truth, chosen, base, NAMES[:1], pa.chunked_array([[f"t{i}" for i in range(40)]])
    )
    assert [one["text"] for one in found] == [f"t{i}" for i in range(30, 35)]


def test_bands_are_means_over_seeds_of_what_was_measured():
    rows = [
        {"scored": {"head_macro_f1": value, "tail_macro_f1": value / 2}} for value in (0.4, 0.6)
    ]
    found = contrast.band_scores(PLACE, rows, [900, 100, 5, 4])
    assert [(one["band"], one["labels"], one["from_count"], one["to_count"]) for one in found] == [
        ("head", 1, 900, 900),
        ("tail", 2, 4, 5),
    ]
    assert found[0]["macro_f1"] == pytest.approx(0.5)
    assert found[0]["spread"] == pytest.approx(np.std([0.4, 0.6], ddof=1))


def test_reliability_is_that_of_all_decisions_together():
    first = {"count": [10, 0, 30], "confidence": [0.1, None, 0.9], "frequency": [0.2, None, 0.8]}
    second = {
        "count": [30, 0, 10],
        "confidence": [0.2, float("nan"), 0.8],
        "frequency": [0.1, float("nan"), 0.9],
    }
    rows = [
        {"reliability": one, "scored": {"calibration_error": e}}
        for one, e in ((first, 0.1), (second, 0.3))
    ]
    (found,) = contrast.reliability(PLACE, rows)
    assert list(found["curve"]["counts"]) == [40, 40]
    assert list(found["curve"]["centers"]) == pytest.approx([(1 + 6) / 40, (27 + 8) / 40])
    assert list(found["curve"]["observed"]) == pytest.approx([(2 + 3) / 40, (24 + 9) / 40])
    assert found["error"] == pytest.approx(0.2)
    assert contrast.reliability(PLACE, [{"scored": {}}]) == []


def test_curves_are_those_of_runs_that_were_looked_at():
    rows = [
        {"seed": 0, "course": {"step": [5, 10], "score": [0.1, 0.2], "loss": [1.0, None]}},
        {"seed": 1, "course": {"step": [], "score": [], "loss": []}},
    ]
    (found,) = contrast.curves(PLACE, rows)
    assert (found["seed"], list(found["steps"]), list(found["scores"])) == (0, [5, 10], [0.1, 0.2])
    assert np.isnan(found["losses"][1])


def test_choices_come_back_as_they_were(drawn):
    chosen = drawn[1]
    space = LabelSpace(names=NAMES, counts=(1, 1, 1, 1), exclusive=False)
    rows = [{"chosen": packed_bits(one), "texts": 60} for one in chosen]
    assert (contrast.choices(rows, space) == chosen).all()

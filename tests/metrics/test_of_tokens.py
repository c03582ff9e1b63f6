"""Metrics of tagged tokens: entities as seqeval and plain sets have them, tokens without O as
scikit-learn.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from tagwright.errors import SettingsError, ShapeError
from tagwright.metrics import OF_TAGS, descriptions, measure, metric
from tagwright.metrics.of_tokens import measure_tokens, require_measured, tag_ids

VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"
IOB2 = ["B-LOC", "O", "I-LOC", "B-PER", "I-PER", "B-MISC"]
IOBES = ["O", "B-LOC", "I-LOC", "E-LOC", "S-LOC", "S-PER"]
SETS = {"iob2": IOB2, "iobes": IOBES}
PLAIN = ["NN", "O", "VB"]


class Made:
    """Random tags of texts with 0 to 11 tokens: the chosen ones are right for about three of four
    tokens.
    """

    def __init__(
        self, names: list[str], *, texts: int = 61, seed: int = 0, unused: int | None = None
    ):
        rng = np.random.default_rng(seed)
        self.names, self.lengths = names, rng.integers(0, 12, texts)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        allowed = np.array([tag for tag in range(len(names)) if tag != unused])
        true, other = rng.choice(allowed, (2, self.offsets[-1]))
        picked = np.where(rng.random(len(true)) < 0.75, true, other)
        self.truth, self.chosen = (np.eye(len(names), dtype=bool)[ids] for ids in (true, picked))
        powers = np.exp(rng.normal(size=self.truth.shape) + 2 * self.chosen)
        self.probabilities = powers / powers.sum(axis=1, keepdims=True)

    def measured(self, first: int = 0, last: int | None = None, **options):
        """The measures of texts `first` to `last`."""
        offsets = self.offsets[first : None if last is None else last + 1]
        tokens = slice(offsets[0], offsets[-1])
        parts = (part[tokens] for part in (self.probabilities, self.truth, self.chosen))
        return measure_tokens(*parts, offsets=offsets - offsets[0], tags=self.names, **options)

    def tags(self) -> list[list[list[str]]]:
        """True and chosen tags of every text, as words."""
        both = [
            [self.names[i] for i in cells.argmax(axis=1)] for cells in (self.truth, self.chosen)
        ]
        return [[tags[a:b] for a, b in itertools.pairwise(self.offsets)] for tags in both]


def spans(texts: list[list[str]], *, plain: bool = False) -> set[tuple[int, int, int, str]]:
    """(text, first, last, type) by conlleval's rules, token by token."""
    found = set()
    for row, tags in enumerate(texts):
        first, open_type, letter_before = 0, None, "O"
        for place, tag in enumerate([*tags, "O"]):
            letter, kind = (
                (("O", None) if tag == "O" else ("I", tag)) if plain else (tag[0], tag[2:] or None)
            )
            goes_on = letter in "IE" and letter_before in "BI" and kind == open_type
            if open_type is not None and not goes_on:
                found.add((row, first, place - 1, open_type))
            if not goes_on:
                first, open_type = place, kind
            letter_before = letter
    return found


def scores(hits: int, chosen: int, true: int) -> dict[str, float]:
    p, r = hits / chosen if chosen else 0.0, hits / true if true else 0.0
    f1, f2 = (((1 + b) * p * r / (b * p + r) if p + r else 0.0) for b in (1, 4))
    return {"precision": p, "recall": r, "f1": f1, "f2": f2}


def reference(made: Made, *, plain: bool = False) -> dict[str, float]:
    true, chosen = (spans(texts, plain=plain) for texts in made.tags())
    expected = {
        f"entity_{k}": v for k, v in scores(len(true & chosen), len(chosen), len(true)).items()
    }
    kinds = sorted({span[3] for span in true | chosen})
    each = [
        scores(*(sum(s[3] == kind for s in part) for part in (true & chosen, chosen, true)))
        for kind in kinds
    ]
    return expected | {
        f"entity_macro_{k}": float(np.mean([one[k] for one in each])) for k in each[0]
    }


@pytest.mark.parametrize("names", [IOB2, IOBES, PLAIN], ids=["iob2", "iobes", "plain"])
@pytest.mark.parametrize("unused", [None, 0])
def test_entities_equal_sets_of_spans(names: list[str], unused: int | None):
    made = Made(names, unused=unused)
    expected = reference(made, plain=names is PLAIN)
    found = made.measured().results()
    assert 0.1 < expected["entity_f1"] < 0.9
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_entities_equal_seqeval(which: str, seed: int):
    seqeval = pytest.importorskip("seqeval.metrics")
    made = Made(SETS[which], seed=seed, unused=5 if seed == 2 else None)
    found, (true, chosen) = made.measured().results(), made.tags()
    for average, name in (("micro", "entity"), ("macro", "entity_macro")):
        for kind in ("precision", "recall", "f1"):
            expected = getattr(seqeval, f"{kind}_score")(
                true, chosen, average=average, zero_division=0
            )
            assert found[f"{name}_{kind}"] == pytest.approx(expected, rel=1e-12), (average, kind)


def test_scores_of_each_type_equal_sets_of_spans():
    made = Made(IOB2)
    state = made.measured().states["entities"]
    true, chosen = map(spans, made.tags())
    for place, kind in enumerate(state.types):
        counts = [sum(span[3] == kind for span in part) for part in (true & chosen, chosen, true)]
        expected = {**scores(*counts), "predicted": counts[1], "support": counts[2]}
        assert {name: values[place] for name, values in state.per_type().items()} == pytest.approx(
            expected
        )


@pytest.mark.parametrize("names", [IOB2, PLAIN, ["NN", "VB"]], ids=["iob2", "plain", "no_o"])
@pytest.mark.parametrize("unused", [None, 0])
def test_tokens_without_o_equal_scikit_learn(names: list[str], unused: int | None):
    made = Made(names, unused=unused)
    found = made.measured().results()
    inside = [place for place, name in enumerate(names) if name != "O"]
    for average, beta in itertools.product(("micro", "macro"), (1, 2)):
        p, r, f, _ = precision_recall_fscore_support(
            made.truth, made.chosen, labels=inside, average=average, beta=beta, zero_division=0
        )
        expected = {"precision": p, "recall": r, f"f{beta}": f}
        assert {k: found[f"{average}_{k}_without_o"] for k in expected} == pytest.approx(
            expected, rel=1e-12
        )


def fbeta_cases() -> list[tuple[float, float]]:
    """Pairs of precision and recall of one tag: those of the paper's table where it lies beside the
    project.
    """
    cases = (
        json.loads(VECTORS.read_text(encoding="utf-8"))["fbeta_identity_bat"]["cases"]
        if VECTORS.exists()
        else []
    )
    return [
        (0.9, 0.8),
        (0.5, 0.5),
        (0.1, 1.0),
        *((case["precision"], case["recall"]) for case in cases),
    ]


@pytest.mark.parametrize("name", ["entity_{}", "micro_{}_without_o", "micro_{}"])
@pytest.mark.parametrize("seed", range(5))
def test_f1_less_f2_follows_from_precision_and_recall(name: str, seed: int):
    found = Made(IOB2, seed=seed).measured().results()
    p, r, f1, f2 = (found[name.format(kind)] for kind in ("precision", "recall", "f1", "f2"))
    assert f1 - f2 == pytest.approx(3 * p * r * (p - r) / ((p + r) * (4 * p + r)), abs=1e-12)


@pytest.mark.parametrize(("precision", "recall"), fbeta_cases())
def test_f1_less_f2_of_given_precision_and_recall(precision: float, recall: float):
    hits = 360
    wrong, missed = round(hits / precision) - hits, round(hits / recall) - hits
    true = np.repeat([[False, True], [True, False], [False, True]], [hits, wrong, missed], axis=0)
    chosen = np.repeat([[False, True], [False, True], [True, False]], [hits, wrong, missed], axis=0)
    found = measure_tokens(
        true * 1.0, true, chosen, offsets=np.array([0, len(true)]), tags=["O", "X"]
    ).results()
    p, r = precision, recall
    assert found["micro_precision_without_o"] == pytest.approx(p)
    difference = found["micro_f1_without_o"] - found["micro_f2_without_o"]
    assert difference == pytest.approx(3 * p * r * (p - r) / ((p + r) * (4 * p + r)), abs=1e-12)


@pytest.mark.parametrize("names", [IOB2, IOBES, PLAIN], ids=["iob2", "iobes", "plain"])
@pytest.mark.parametrize("convention", ["sklearn", "paper"])
def test_sums_of_batches_of_texts_equal_the_whole(names: list[str], convention: str):
    made = Made(names)
    parts = made.measured(0, 0) + made.measured(0, 20) + made.measured(20, 21) + made.measured(21)
    counts = 2 ** np.arange(len(names))
    whole = made.measured().results(convention=convention, label_counts=counts)
    assert parts.results(convention=convention, label_counts=counts) == pytest.approx(
        whole, rel=1e-12
    )
    for state in OF_TAGS:
        joined, alone = (found.states[state].amounts() for found in (parts, made.measured()))
        assert {k: v.tolist() for k, v in joined.items()} == {
            k: v.tolist() for k, v in alone.items()
        }


def test_families_of_rows_are_those_of_tokens():
    made = Made(IOB2)
    rows = np.repeat(np.arange(len(made.lengths)), made.lengths)
    found, expected = (
        made.measured(rows=rows),
        measure(made.probabilities, made.truth, made.chosen, rows=rows),
    )
    assert found.states["confusion"].top(5) == expected.states["confusion"].top(5)
    results, wanted = found.results(), expected.results()
    assert {
        "accuracy",
        "macro_f2",
        "calibration_error",
        "confused_share",
        "micro_average_precision",
    } <= results.keys()
    assert not results.keys() & {"lrap", "precision_at_3"}
    assert {k: v for k, v in results.items() if k in wanted} == {
        k: wanted[k] for k in results.keys() & wanted.keys()
    }


def test_amounts_are_plain_counts_by_tag_and_by_type():
    made = Made(IOB2)
    states = made.measured().states
    tokens = [[tag for tags in texts for tag in tags] for texts in made.tags()]
    found = [[span[3] for span in spans(texts)] for texts in made.tags()]
    for state, listed in (("without_o", tokens), ("entities", found)):
        amounts = states[state].amounts()
        assert sorted(amounts["name"]) == (
            sorted(IOB2) if state == "without_o" else ["LOC", "MISC", "PER"]
        )
        assert amounts["true"].tolist() == [listed[0].count(name) for name in amounts["name"]]
        assert amounts["predicted"].tolist() == [listed[1].count(name) for name in amounts["name"]]


def test_only_what_is_wanted_is_measured():
    made = Made(IOB2)
    assert set(made.measured(names=["entity_f1"]).states) == {"entities"}
    assert set(made.measured(names=["macro_f2_without_o", "accuracy"]).states) == {
        "examples",
        "without_o",
    }
    assert set(made.measured(names=["lrap"]).states) == {"ranking"}
    with pytest.raises(SettingsError, match="did you mean 'entity_recall'"):
        made.measured(names=["entity_recal"])


def test_every_result_is_described_and_better_when_higher():
    found = Made(IOB2).measured()
    for state in OF_TAGS:
        results = found.states[state].results()
        assert results.keys() == OF_TAGS[state].METRICS.keys() <= descriptions().keys()
        assert all(type(value) is float and metric(name)[1] for name, value in results.items())


def test_metrics_of_tags_are_refused_where_texts_have_labels():
    made = Made(IOB2)
    with pytest.raises(SettingsError, match="entity_f1 is a metric of tagged tokens"):
        measure(made.probabilities, made.truth, made.chosen, names=["entity_f1"])


@pytest.mark.parametrize(("convention", "value"), [("sklearn", 0.0), ("paper", 1.0)])
def test_no_spans_anywhere_score_by_the_convention(convention: str, value: float):
    outside = np.tile(np.array(IOB2) == "O", (5, 1))
    found = measure_tokens(outside * 1.0, outside, outside, offsets=np.array([0, 2, 5]), tags=IOB2)
    results = found.results(convention=convention)
    assert [results[name] for name in ("entity_f1", "entity_macro_f1", "micro_f1_without_o")] == [
        value
    ] * 3


def test_no_tokens_and_no_tag_but_o_raise_nothing():
    with np.errstate(all="raise"):
        results = measure_tokens(
            np.zeros((0, 1)), *np.zeros((2, 0, 1), bool), offsets=np.array([0, 0]), tags=["O"]
        ).results()
    assert np.isnan(results["macro_f1_without_o"])
    assert results["entity_f1"] == 0


def test_a_true_tag_that_nobody_knows_is_outside():
    truth, chosen = (np.eye(6, dtype=bool)[ids] for ids in ([0, 2, 3], [0, 1, 3]))
    truth[1] = False  # B-LOC, unknown, B-PER against B-LOC, O, B-PER
    found = measure_tokens(chosen * 1.0, truth, chosen, offsets=np.array([0, 3]), tags=IOB2)
    assert found.results()["entity_f1"] == 1


def test_what_cannot_be_measured_is_refused():
    made = Made(IOB2)
    parts = made.probabilities, made.truth, made.chosen
    with pytest.raises(ShapeError, match="offsets must rise from 0"):
        measure_tokens(*parts, offsets=made.offsets[1:], tags=IOB2)
    with pytest.raises(ShapeError, match="for each of the 6 columns, got 5"):
        measure_tokens(*parts, offsets=made.offsets, tags=IOB2[:5])
    with pytest.raises(ShapeError, match="token 1 has 2"):
        tag_ids(np.array([[True, False], [True, True]]))
    with pytest.raises(ShapeError, match="in this order"):
        measure_tokens(made.truth, made.probabilities, made.chosen, offsets=made.offsets, tags=IOB2)


def test_a_metric_is_required_of_data_that_have_it():
    """What is asked for by name is what is measured by itself."""
    there = Made(IOB2).measured().results(label_counts=[1, 10, 2, 1, 1, 1])
    for name in set(there) & set(descriptions()):
        assert require_measured(name, tagged=True) == name
    assert require_measured("lrap", tagged=False) == "lrap"
    with pytest.raises(SettingsError, match="lrap is not measured where tokens are tagged"):
        require_measured("lrap", tagged=True)
    with pytest.raises(SettingsError, match="entity_f1 is a metric of tagged tokens"):
        require_measured("entity_f1", tagged=False)
    with pytest.raises(SettingsError, match="did you mean 'entity_f1'"):
        require_measured("entity_f11", tagged=True)


@pytest.mark.parametrize("state", OF_TAGS)
def test_states_of_other_names_do_not_add(state: str):
    one, two = (
        Made(names).measured().states[state] for names in (["O", "B-X", "I-X"], ["O", "B-Y", "I-Y"])
    )
    with pytest.raises(ShapeError, match="of the same"):
        one + two
    with pytest.raises(ShapeError, match="one family"):
        one + Made(IOB2).measured().states["counts"]

"""The page of attention between labels."""

from dataclasses import replace

import numpy as np
import pytest

from tagwright.explain.correlation import Likeness
from tagwright.reports import AttentionFacts, attention_report
from tagwright.reports.attention import both_ways, layer_table, pair_table, strongest_pairs, verdict

HOSTILE = "</figure><script>alert(1)</script>{{ 7 * 7 }}"
NAMES = ["joy", "love", "anger", "fear", "grief"]


@pytest.fixture
def facts():
    random = np.random.default_rng(0)
    truth = random.random((41, 5)) < 0.4
    return AttentionFacts(
        title="model",
        label_names=NAMES,
        layers={layer: random.random((5, 5)) / 5 for layer in (1, 3, 6)},
        depth=6,
        shown=[2, 0, 1, 4, 3],
        split="dev",
        texts=30,
        rows=41,
        correlation=np.corrcoef(truth.T),
        together=truth.T.astype(int) @ truth.astype(int),
        labelled=41,
        likeness={
            layer: Likeness(layer / 10, 0.01, 0.3 if layer < 6 else 0.001, 20)
            for layer in (1, 3, 6)
        },
        nearness={1: 0.55, 3: -0.11, 6: 0.0},
        warnings=["something to know"],
    )


def without_labels(facts):
    return replace(facts, correlation=None, together=None, labelled=0, likeness={})


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_the_page_has_a_map_for_the_data_and_one_for_each_layer(facts, read_page):
    page = read_page(attention_report(facts))
    assert page.faults == []
    assert page.text("h3").split("\n") == [
        "Which labels come together",
        *(f"Attention in layer {layer} of 6" for layer in (1, 3, 6)),
    ]
    assert len(page.named("svg")) == 4
    assert [name for name in page.ids() if name] == ["warnings", "maps", "layers", "pairs"]
    assert "30 texts of dev, evenly spread over 41" in page.text("p")
    assert "something to know" in page.text("li")
    assert len(page.ids()) == len(set(page.ids()))


def test_all_maps_have_the_same_order(facts, read_page):
    words = read_page(attention_report(facts)).text("text").split("\n")
    assert [word for word in words if word in NAMES] == [
        "anger",
        "joy",
        "love",
        "grief",
        "fear",
    ] * 8


def test_the_page_loads_nothing_and_runs_its_own_script_alone(facts, read_page):
    page = read_page(attention_report(facts))
    assert len(page.named("script")) == 1
    assert not [
        name
        for _, attributes in page.tags
        for name in attributes
        if name in ("src", "href", "onclick")
    ]


def test_hostile_names_stay_text(facts, read_page):
    page = read_page(
        attention_report(replace(facts, title=HOSTILE, label_names=[HOSTILE, "<i>", *NAMES[2:]]))
    )
    assert page.faults == []
    assert len(page.named("script")) == 1
    assert page.text("h1") == HOSTILE
    assert len(page.named("i")) == 4  # the scales


def test_without_labels_there_is_no_correlation(facts, read_page):
    page = read_page(attention_report(without_labels(facts)))
    assert page.faults == []
    assert len(page.named("svg")) == 3
    assert "orrelation of the labels" not in page.text()
    assert "likeness" not in page.text("button")
    assert verdict(without_labels(facts)) == ""


def test_cells_that_nobody_sees_are_said_to_be_gray(facts, read_page):
    assert "cannot see" not in read_page(attention_report(facts)).text("p")
    apart = {layer: matrix.copy() for layer, matrix in facts.layers.items()}
    for matrix in apart.values():
        matrix[:3, 3:] = matrix[3:, :3] = np.nan
    page = read_page(attention_report(replace(facts, layers=apart)))
    assert "cannot see" in page.text("p")
    assert "nan" not in page.text("td")
    assert page.faults == []


def test_the_verdict_names_the_layer_that_is_most_alike(facts):
    assert "most clearly in layer 6: Spearman's correlation is +0.60 (p ≤ 0.001)" in verdict(facts)
    weak = {
        layer: found._replace(spearman=found.spearman / 3)
        for layer, found in facts.likeness.items()
    }
    assert "look at each other a little more, most clearly in layer 6" in verdict(
        replace(facts, likeness=weak)
    )
    chance = {layer: found._replace(p_shuffled=0.2) for layer, found in facts.likeness.items()}
    assert verdict(replace(facts, likeness=chance)).startswith("In none of these layers")
    against = {6: Likeness(-0.5, 0.001, 0.001, 20)}
    assert verdict(replace(facts, likeness=against)).startswith("In none of these layers")
    assert verdict(replace(facts, likeness={6: Likeness(np.nan, np.nan, np.nan, 0)})) == ""


def test_shares_of_a_layer_add_up_to_1(facts):
    for row, (layer, matrix) in zip(layer_table(facts).rows, facts.layers.items()):
        others, own, text = (cell.value for cell in row[1:4])
        assert row[0].text == str(layer)
        assert own == pytest.approx(np.trace(matrix) / 5)
        assert others == pytest.approx((matrix.sum() - np.trace(matrix)) / 5)
        assert others + own + text == pytest.approx(1.0)
    assert texts(layer_table(facts))[0][4:] == ["+0.55", "+0.10", "0.300", "20"]


def test_two_labels_have_nothing_to_be_ranked(facts, read_page):
    nothing = Likeness(np.nan, np.nan, np.nan, 2)
    few = {"layers": {1: np.full((2, 2), 0.1)}, "likeness": {1: nothing}, "nearness": {1: np.nan}}
    data = {"correlation": np.array([[1.0, -0.2], [-0.2, 1.0]]), "together": np.ones((2, 2), int)}
    page = read_page(
        attention_report(replace(facts, label_names=NAMES[:2], shown=[0, 1], **few, **data))
    )
    assert page.faults == []
    assert "nan" not in page.text("td") + page.text("strong") + page.text("p")
    assert "nan" not in {attributes.get("data-value") for attributes in page.named("td")}


def test_slots_that_share_a_place_have_no_nearness(facts):
    assert [title for title, _ in layer_table(replace(facts, nearness={})).columns][4:] == [
        "likeness",
        "p",
        "cells",
    ]


def test_the_highest_pairs_of_every_column_are_there(facts):
    found = strongest_pairs(facts, most=1)
    assert all(i in facts.shown and j in facts.shown for i, j in found)
    pairs = [(i, j) for place, i in enumerate(facts.shown) for j in facts.shown[place + 1 :]]
    for matrix in [*map(both_ways, facts.layers.values()), facts.correlation, -facts.correlation]:
        assert max(pairs, key=lambda pair: matrix[pair]) in found
    assert len(found) <= 5
    assert len(strongest_pairs(facts)) == 10


def test_pairs_are_sorted_by_the_last_layer_and_show_the_data(facts):
    table = pair_table(facts)
    last = [row[-1].value for row in table.rows]
    assert last == sorted(last, reverse=True)
    assert table.rows[0][-1].share == 1.0
    i, j = strongest_pairs(facts)[0]
    expected = [
        f"{NAMES[i]} + {NAMES[j]}",
        f"{facts.correlation[i, j]:+.2f}".replace("-", "−"),
        f"{facts.together[i, j]}",
    ]
    assert texts(table)[0][:3] == expected
    assert texts(table)[0][3] == f"{(facts.layers[1][i, j] + facts.layers[1][j, i]) / 2:.2%}"


def test_a_pair_that_no_layer_sees_comes_last(facts):
    layers = {layer: matrix.copy() for layer, matrix in facts.layers.items()}
    for matrix in layers.values():
        matrix[0, 1] = matrix[1, 0] = np.nan
    row = pair_table(replace(facts, layers=layers)).rows[-1]
    assert row[0].text == "joy + love"
    assert [cell.text for cell in row[3:]] == ["–"] * 3
    assert row[-1].share == 0.0


def test_one_way_is_enough():
    found = both_ways(np.array([[0.1, np.nan], [0.3, 0.1]]))
    assert found[0, 1] == found[1, 0] == pytest.approx(0.3)
    assert np.isnan(both_ways(np.full((2, 2), np.nan))).all()

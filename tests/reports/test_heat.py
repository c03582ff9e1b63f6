"""Heat maps: every cell drawn once, as strong as its value, names in the given order."""

import re

import numpy as np
import pytest

from tagwright.reports.heat import FAINTEST, NARROW, NONE, WIDE, heat_map
from tagwright.reports.plots import WIDTH

MATRIX = np.array([[9.0, 0.5, 0.2], [0.1, 9.0, np.nan], [0.3, 0.4, 9.0]])


def cells(read_page, drawn):
    """Color and strength of every cell, row by row as they stand on the page."""
    marks = [
        a for a in read_page(drawn.svg).named("path") if str(a.get("fill", "")).startswith("var(")
    ]
    places = [tuple(map(float, re.match(r"M([\d.]+),([\d.]+)", a["d"]).groups())) for a in marks]
    order = sorted(range(len(marks)), key=lambda i: places[i][::-1])
    return [(marks[i]["fill"], float(marks[i]["opacity"])) for i in order]


def test_cells_run_from_the_lowest_to_the_highest_and_none_is_gray(read_page, monkeypatch):
    monkeypatch.setattr("tagwright.reports.heat.TOP", 100)
    drawn = heat_map(["a", "b", "c"], MATRIX, signed=False)
    assert (drawn.low, drawn.high) == (0.1, 0.5)
    found = cells(read_page, drawn)
    assert [color for color, _ in found] == [
        *("var(--muted)", "var(--accent)", "var(--accent)"),
        *("var(--accent)", "var(--muted)", "var(--muted)"),
        *("var(--accent)", "var(--accent)", "var(--muted)"),
    ]
    shares = [
        (strength - FAINTEST) / (1 - FAINTEST)
        for color, strength in found
        if color == "var(--accent)"
    ]
    assert shares == pytest.approx([1, 0.25, 0, 0.5, 0.75], abs=1e-3)
    assert {strength for color, strength in found if color == "var(--muted)"} == {NONE}


def test_both_sides_of_0_have_a_color(read_page):
    drawn = heat_map(["a", "b"], np.array([[1.0, -0.4], [0.4, 1.0]]), signed=True)
    assert (drawn.low, drawn.high) == (0.0, pytest.approx(0.4))
    found = cells(read_page, drawn)
    assert [color for color, _ in found] == [
        "var(--muted)",
        "var(--second)",
        "var(--accent)",
        "var(--muted)",
    ]
    assert [strength for _, strength in found] == [NONE, 1.0, 1.0, NONE]


def test_a_few_high_cells_do_not_leave_the_others_pale(read_page):
    matrix = np.random.default_rng(0).random((20, 20))
    matrix[3, 4] = 100.0
    drawn = heat_map([str(i) for i in range(20)], matrix, signed=False)
    assert drawn.high < 1.0
    assert max(strength for _, strength in cells(read_page, drawn)) == 1.0
    assert np.median([strength for _, strength in cells(read_page, drawn)]) > 0.4


def test_names_stand_in_the_given_order_on_both_axes(read_page):
    names = ["plum", "<b>", "apple"]
    drawn = heat_map(names, MATRIX, signed=False, rows="this one", columns="that one")
    words = read_page(drawn.svg).text("text").split("\n")
    assert [word for word in words if word in names] == names * 2
    assert {"this one", "that one"} <= set(words)


def test_more_labels_have_the_whole_page(read_page):
    for count, width in ((NARROW, WIDTH), (NARROW + 1, WIDE)):
        drawn = heat_map(
            [f"n{i}" for i in range(count)],
            np.random.default_rng(0).random((count, count)),
            signed=False,
        )
        page = read_page(drawn.svg)
        assert page.named("svg")[0]["width"] == str(width)
        assert len(cells(read_page, drawn)) == count**2
        assert page.faults == []


def test_names_that_are_cut_stay_apart(read_page):
    names = [f"home / garden / furniture / {word}" for word in ("chairs", "stairs", "repairs")]
    drawn = heat_map(names, MATRIX, signed=False)
    assert len(cells(read_page, drawn)) == 9
    assert (
        len(
            {
                word
                for word in read_page(drawn.svg).text("text").split("\n")
                if re.search("airs", word)
            }
        )
        == 3
    )


@pytest.mark.parametrize(
    "matrix", [np.full((3, 3), np.nan), np.full((3, 3), 0.2), np.zeros((3, 3))]
)
def test_a_map_without_differences_is_drawn(read_page, matrix):
    for signed in (False, True):
        drawn = heat_map(["a", "b", "c"], matrix, signed=signed)
        assert len(cells(read_page, drawn)) == 9
        assert np.isfinite([drawn.low, drawn.high]).all()

import numpy as np
import pytest

from tagwright.reports import plots
from tagwright.reports.plots import WIDTH, thin


def test_few_labels_are_named_and_many_are_ranked(read_page):
    named = (
        read_page(plots.long_tail([f"n{i}" for i in range(20)], np.arange(20)))
        .text("text")
        .split("\n")
    )
    assert [t for t in named if t.startswith("n")] == [f"n{i}" for i in reversed(range(20))]
    ranked = read_page(plots.long_tail([f"n{i}" for i in range(21)], np.arange(21))).text("text")
    assert "n20" not in ranked
    assert "labels, most frequent first" in ranked


def test_names_are_escaped(read_page):
    svg = plots.bars(["<script>alert(1)</script>", 'a"&b'], [3, 4], title="<b>")
    page = read_page(svg)
    assert "<script" not in svg
    assert page.named("b") == []
    assert 'a"&b' in page.text("text").split("\n")


def test_undefined_points_are_skipped(read_page):
    counts, scores = [1, 0, 5, 100, 7], [0.5, 0.1, np.nan, 1.0, 0.2]
    page = read_page(plots.scatter(counts, scores, x_title="x", y_title="y"))
    assert len([a for a in page.named("path") if a.get("fill") == "var(--accent)"]) == 4


def test_every_plot_has_the_same_width(read_page):
    line = {"a": ([1, 2, 3], [0.1, 0.2, np.nan])}
    drawn = [
        plots.bars(
            ["a", "a much longer name than the plot has room for, and longer still"],
            [1, 2],
            title="t",
        ),
        plots.long_tail([str(i) for i in range(50)], np.arange(50) + 1),
        plots.lines(line, x_title="x", y_title="y", rule=2.0, marked=(2, 0.2, "words")),
        plots.reliability({"centers": [0.1, 0.9], "observed": [0.2, np.nan], "counts": [3, 0]}),
    ]
    assert {read_page(svg).named("svg")[0]["width"] for svg in drawn} == {str(WIDTH)}


@pytest.mark.parametrize("values", [[1], [1, 1], [9, 11], [1, 10**6]])
def test_counts_of_any_spread_are_drawn(read_page, values):
    page = read_page(plots.scatter(values, [0.5] * len(values), x_title="x", y_title="y"))
    assert page.faults == []
    assert "NaN" not in str(page.tags)


def test_nothing_to_draw_is_an_empty_plot(read_page):
    assert read_page(plots.scatter([5, 6], [np.nan, np.nan], x_title="x", y_title="y")).faults == []


def test_a_letter_beyond_the_basic_plane_is_never_cut_in_two(read_page):
    names = ["000000000000@MM\x08𐀀0𐀀", "😀" * 40]
    drawn = read_page(plots.bars(names, [3, 4], title="texts")).text("text")
    assert "😀" in drawn


def test_each_of_several_lines_has_a_ring_of_its_color(read_page):
    series = {name: ([1, 2], [0.1, value]) for name, value in (("a", 0.2), ("b", 0.3), ("c", 0.4))}
    page = read_page(
        plots.lines(series, x_title="x", y_title="y", best={"a": (2, 0.2), "c": (2, 0.4)})
    )
    rings = [a["stroke"] for a in page.named("path") if a.get("stroke-width") == "2.5"]
    assert rings == ["var(--accent)", "var(--third)"]


@pytest.mark.parametrize(("count", "limit"), [(1, 5), (5, 5), (7, 3), (1271, 41)])
def test_thinning_keeps_both_ends_and_the_limit(count, limit):
    kept = thin(count, limit).tolist()
    assert kept[0] == 0
    assert kept[-1] == count - 1
    assert len(kept) == min(count, limit)
    assert kept == sorted(set(kept))


def test_thinning_nothing_gives_nothing():
    assert thin(0, 5).tolist() == []


@pytest.mark.parametrize("character", ["\0", "\x1f", "\ufffe", "\ud800", "\x7f", "\u202e", "\n"])
def test_no_character_of_a_name_ends_the_process(read_page, character):
    page = read_page(plots.bars([f"a{character}b", "c"], [1, 2], title=character))
    assert page.faults == []
    assert "c" in page.text("text").split("\n")


def test_endless_names_and_titles_are_cut_before_they_are_drawn():
    drawn = plots.bars(["a" * 50_000, "b" * 50_000], [1, 2], title="x" * 50_000)
    assert len(drawn) < 20_000

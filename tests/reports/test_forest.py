import math

import pytest

from tagwright.reports import forest

from .compare_cases import difference, run

LINES = {"cnn": ["zlpr", "bce"], "bow": ["bce", "zlpr"]}


def dots(page):
    """How the dots of means are filled, from top to bottom."""
    return [
        a["fill"]
        for a in page.named("path")
        if a.get("stroke") == "var(--accent)" and "A" in a["d"]
    ]


def strokes(page):
    return [a for a in page.named("line") if a.get("stroke") == "var(--accent)"]


def test_lines_stand_under_their_encoder_in_the_given_order(read_page):
    page = read_page(forest.forest(LINES, [difference("zlpr", "cnn", 0.1, 0.02, 0.5)], title="t"))
    names = [
        text for text in page.text("text").split("\n") if text in ("cnn", "bow", "bce", "zlpr")
    ]
    assert names == ["cnn", "zlpr", "bce", "bow", "bce", "zlpr"]
    bold = [a for a in page.named("text") if a.get("font-weight") == "600"]
    assert len(bold) == 2


def test_one_encoder_needs_no_heading(read_page):
    page = read_page(
        forest.forest({"cnn": ["a"]}, [difference("a", "cnn", 0.1, 0.02, 0.5)], title="t")
    )
    assert "cnn" not in page.text("text")


def test_dots_are_filled_where_the_corrected_p_is_small(read_page):
    found = [difference("zlpr", "cnn", 0.1, 0.2, 0.02), difference("zlpr", "bow", 0.1, 0.01, 0.03)]
    page = read_page(forest.forest(LINES, found, title="t"))
    assert dots(page) == ["var(--accent)", "var(--surface)"]
    assert len(strokes(page)) == 2


@pytest.mark.parametrize("bound", [math.inf, math.nan])
def test_without_bounds_there_is_a_dot_alone(read_page, bound):
    found = [
        {
            **difference("zlpr", "cnn", 0.1, 0.0, 1.0),
            "low": -bound,
            "high": bound,
            "adjusted": math.nan,
        }
    ]
    page = read_page(forest.forest(LINES, found, title="t"))
    assert dots(page) == ["var(--surface)"]
    assert all(float(a.get("x2", 0)) == 0 for a in strokes(page))


def test_an_undefined_difference_leaves_its_line_empty(read_page):
    page = read_page(
        forest.forest(LINES, [difference("zlpr", "cnn", math.nan, 0.1, 0.5)], title="t")
    )
    assert dots(page) == []
    assert page.faults == []


def test_every_run_has_a_dot_and_every_line_a_mean(read_page):
    runs = [
        run(name, encoder, seed, 0.5 + seed / 10)
        for encoder, n in LINES.items()
        for name in n
        for seed in range(3)
    ]
    runs += [run("zlpr", "cnn", 3, 0.0, failed="no"), run("other", "cnn", 0, 0.9)]
    page = read_page(forest.seeds(LINES, runs, "macro_f1", title="t"))
    assert len([a for a in page.named("path") if a.get("fill") == "var(--accent)"]) == 12
    assert len([a for a in page.named("path") if a.get("fill") == "var(--second)"]) == 4


def test_both_plots_have_their_lines_at_the_same_height(read_page):
    runs = [run(name, encoder, 0, 0.5) for encoder, names in LINES.items() for name in names]
    pages = [forest.forest(LINES, [], title="t"), forest.seeds(LINES, runs, "macro_f1", title="t")]
    assert len({read_page(svg).named("svg")[0]["height"] for svg in pages}) == 1


def test_names_with_marks_of_their_own_are_read_whole(read_page):
    names = ["#a\nb", "<b>", "a" * 50]
    page = read_page(
        forest.seeds({"cnn": names}, [run(n, "cnn", 0, 0.5) for n in names], "macro_f1", title="t")
    )
    assert page.faults == []
    assert {"<b>", "a" * 12 + "…" + "a" * 12} <= set(page.text("text").split("\n"))

import math

import numpy as np
import pytest

from tagwright.reports import contrast_plots
from tagwright.reports.contrast_plots import mean_line
from tagwright.reports.objectives import Key

KEYS = [Key("a", "var(--ink)"), Key("b", "var(--accent)"), Key("c", "var(--fifth)", dashed=True)]


def drawn(page, color, kind="stroke"):
    return [a for a in page.named("path") if a.get(kind) == color]


def band(objective, name, score, spread=0.02):
    return {
        "objective": objective,
        "encoder": "cnn",
        "band": name,
        "labels": 3,
        "from_count": 1,
        "to_count": 9,
    } | {
        "macro_f1": score,
        "spread": spread,
    }


def test_bands_have_a_dot_an_objective_and_skip_what_is_undefined(read_page):
    rows = [
        band("a", "head", 0.8),
        band("b", "head", 0.7),
        band("a", "tail", math.nan),
        band("b", "tail", 0.2, math.nan),
    ]
    page = read_page(contrast_plots.bands([*rows, band("unknown", "head", 0.5)], KEYS))
    assert len(drawn(page, "var(--ink)", "fill")) == 1
    assert len(drawn(page, "var(--accent)", "fill")) == 2
    assert {"head", "tail", "3 labels", "1–9 texts"} <= set(page.text().split("\n"))


def test_gains_are_right_of_zero_and_losses_left(read_page):
    page = read_page(
        contrast_plots.gains(
            ["up", "down", "<b>"], [0.2, -0.1, 0.0], [0.1, math.nan, 0.0], title="t"
        )
    )
    assert len(drawn(page, "var(--accent)", "fill")) == 2
    assert len(drawn(page, "var(--second)", "fill")) == 1
    names = [text for text in page.text("text").split("\n") if text in ("up", "down", "<b>")]
    assert names == ["up", "down", "<b>"]


@pytest.mark.parametrize("values", [[0.1], [0.0] * 30, [-0.5, 0.5], np.linspace(-1, 1, 5000)])
def test_all_gains_are_one_curve_of_few_points(read_page, values):
    svg = contrast_plots.all_gains(values, title="t")
    assert read_page(svg).faults == []
    assert "NaN" not in svg
    assert len(svg) < 100_000


def swept(objective, values, means, spreads=(0.1, 0.1, 0.1)):
    return {"objective": objective, "encoder": "cnn", "setting": "tau", "values": values} | {
        "means": means,
        "spreads": spreads,
    }


def test_a_sweep_has_a_line_a_band_and_dots_in_the_color_of_its_objective(read_page):
    rows = [swept("a", [1, 2, 3], [0.1, 0.2, math.nan]), swept("b", [1, 2, 3], [0.3, 0.2, 0.1])]
    page = read_page(contrast_plots.sweep(rows, KEYS, title="t", rule=0.25))
    for color, dots in (("var(--ink)", 2), ("var(--accent)", 3)):
        assert len([a for a in drawn(page, color) if a.get("fill") in (None, "none")]) == 1
        assert len(drawn(page, color, "fill")) == 1 + dots
    assert len([a for a in page.named("line") if a.get("stroke-dasharray") == "4,4"]) == 1


def test_ticks_of_a_sweep_are_its_values_and_far_values_are_evenly_spread(read_page):
    page = read_page(
        contrast_plots.sweep([swept("a", [0.001, 0.01, 0.1], [1, 2, 3])], KEYS, title="t")
    )
    assert {"0.001", "0.01", "0.1"} <= set(page.text().split("\n"))
    dots = [a["transform"] for a in drawn(page, "var(--ink)", "fill") if "transform" in a]
    places = [float(transform.split("(")[1].split(",")[0]) for transform in dots]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1])


def test_mean_lines_are_means_at_the_steps_that_all_lines_have():
    random = np.random.default_rng(3)
    found = [(np.sort(random.choice(40, 30, replace=False)), random.random(30)) for _ in range(3)]
    steps, means = mean_line(found)
    values = [dict(zip(x.tolist(), y.tolist())) for x, y in found]
    shared = [step for step in range(40) if all(step in own for own in values)]
    assert shared
    assert steps.tolist() == shared
    assert means.tolist() == pytest.approx(
        [sum(own[step] for own in values) / 3 for step in shared], rel=1e-12
    )


def test_no_line_and_no_shared_step_have_no_mean():
    assert mean_line([])[0].size == 0
    assert (
        mean_line([(np.array([1]), np.array([0.5])), (np.array([2]), np.array([0.5]))])[1].size == 0
    )


def test_seeds_are_thin_and_their_mean_is_thick(read_page):
    series = {
        "a": [([1, 2, 3], [0.1, 0.2, 0.3]), ([1, 2, 3], [0.2, 0.3, math.nan])],
        "c": [([1, 2], [0.3, 0.4])],
    }
    page = read_page(contrast_plots.trainings(series, KEYS, title="t"))
    assert [a["stroke-width"] for a in drawn(page, "var(--ink)")] == ["1", "1", "2.2"]
    assert [(a["stroke-width"], a["stroke-dasharray"]) for a in drawn(page, "var(--fifth)")] == [
        ("2.2", "5,3")
    ]


def test_one_evaluation_is_a_dot(read_page):
    page = read_page(contrast_plots.trainings({"a": [([7], [0.5])]}, KEYS, title="t"))
    assert len(drawn(page, "var(--ink)", "fill")) == 1


@pytest.mark.parametrize(("log", "lowest"), [(True, "0.01"), (False, "0")])
def test_losses_far_apart_have_a_logarithmic_axis_and_scores_never(read_page, log, lowest):
    series = {"a": [([1, 2], [5.0, 4.0])], "b": [([1, 2], [0.02, 0.01])]}
    page = read_page(contrast_plots.trainings(series, KEYS, title="t", log=log))
    assert lowest in page.text("text").split("\n")


def test_long_trainings_are_thinned():
    steps = np.arange(20_000)
    assert len(contrast_plots.trainings({"a": [(steps, steps / 9)] * 5}, KEYS, title="t")) < 60_000


def test_reliability_is_a_line_an_objective_beside_the_diagonal(read_page):
    bins = {
        "centers": [0.1, 0.5, 0.9, 0.95],
        "observed": [0.2, 0.4, 0.8, math.nan],
        "counts": [3, 2, 0, 4],
    }
    page = read_page(contrast_plots.reliabilities({"a": bins, "c": bins}, [KEYS[0], KEYS[2]]))
    for color in ("var(--ink)", "var(--fifth)"):
        assert len([a for a in drawn(page, color) if "L" in a["d"]]) == 1
        assert len([a for a in drawn(page, color, "fill") if "A" in a["d"]]) == 2
    assert len([a for a in drawn(page, "var(--muted)") if a.get("stroke-dasharray") == "4,4"]) == 1

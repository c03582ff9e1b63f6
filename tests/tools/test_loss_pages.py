"""The pages of the losses are what the docstrings say."""

from pathlib import Path

import numpy as np
import pytest
from loss_pages import CASES, FOLDER, curve, page, plot, taken_apart, with_table

from tagwright import registry
from tagwright.errors import TagwrightError

DOCS = Path(__file__).parents[2] / FOLDER
NAMES = registry.names("losses")


@pytest.mark.parametrize("name", NAMES)
def test_page_on_disk_is_current(name):
    assert (DOCS / f"{name}.md").read_text(encoding="utf-8") == page(name), "make pages"


def test_table_on_disk_is_current():
    readme = (DOCS / "README.md").read_text(encoding="utf-8")
    assert readme == with_table(readme), "make pages"


def test_every_loss_has_a_page_and_a_plot_and_nothing_else_has():
    assert {path.stem for path in DOCS.glob("*.md")} == {"README", *NAMES}
    assert {path.stem for path in DOCS.glob("*.svg")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_plot_is_small_and_shown_on_its_page(name):
    drawn = (DOCS / f"{name}.svg").read_text(encoding="utf-8")
    assert f"]({name}.svg)" in (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert len(drawn.encode()) < 40_000
    assert f"<title>{name}:" in drawn
    assert "var(" not in drawn


def test_plot_has_a_line_for_each_case_in_both_panels():
    assert plot("bce").count('stroke-width="2.5"') == 2 * len(CASES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gold", [True, False])
def test_gradient_is_the_slope_of_the_loss(name, gold):
    points, step = np.array([-3.3, 0.21, 2.7]), 1e-5
    below, above = (curve(name, points + side, gold=gold)[0] for side in (-step, step))
    slopes = (np.array(above) - np.array(below)) / (2 * step)
    np.testing.assert_allclose(curve(name, points, gold=gold)[1], slopes, rtol=1e-5, atol=1e-8)


def test_docstring_without_formula_is_an_error():
    with pytest.raises(TagwrightError, match="mean wants a line Formula:"):
        taken_apart("mean", "The mean.\n\nCost: O(L) a row.\n\n>>> 1\n1")


def test_readme_without_a_place_for_the_table_is_an_error():
    with pytest.raises(TagwrightError, match="wants the lines"):
        with_table("# Losses\n")

import pytest

from tagwright.reports import plots
from tagwright.reports.draw import short_names, thin


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


def test_numbers_too_small_for_an_axis_are_drawn_as_nothing(read_page):
    spans = [{"tenth": -1e-320, "median": 5e-324, "ninetieth": 1e-320}]
    assert read_page(plots.ranges(["a"], spans, title="x")).faults == []


def test_endless_names_and_titles_are_cut_before_they_are_drawn():
    drawn = plots.bars(["a" * 50_000, "b" * 50_000], [1, 2], title="x" * 50_000)
    assert len(drawn) < 20_000


def test_long_names_are_cut_in_the_middle_and_stay_different():
    paths = [
        f"home and garden / outdoor furniture / {kind} chairs"
        for kind in ("folding", "garden", "garden")
    ]
    assert short_names(["plain", *paths]) == [
        "plain",
        "home and gar…lding chairs",
        "home and gar…arden chairs",
        "home and gar…arden chairs (2)",
    ]


def test_names_that_differ_in_the_middle_are_cut_around_it():
    names = [
        f"maskloss with mask.tau={tau} and weights of inverse frequency" for tau in (0.1, 0.25)
    ]
    assert short_names(["bce", *names]) == [
        "bce",
        "masklo…mask.tau=0.1 and w…",
        "masklo…mask.tau=0.25 and …",
    ]


@pytest.mark.parametrize("limit", [9, 26])
def test_short_names_are_short_and_different(limit):
    names = ["a" * 60, "a" * 61, "a" * 30 + "b" * 30, "手" * 40, "手" * 40 + "a", "", "c", "c"]
    short = short_names(names, limit=limit)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= limit + len(" (2)")

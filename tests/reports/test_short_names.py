import pytest

from tagwright.reports.short_names import short_names


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


def test_wide_letters_get_half_the_room():
    assert short_names(["手" * 30, "a" * 26])[0] == "手" * 6 + "…" + "手" * 6

"""The page of a comparison: which sections it has, in what order, and that nothing in the facts can
break it.
"""

import base64
import hashlib
import math
import re

import numpy as np
import pytest

from tagwright.reports import CompareFacts, compare_report
from tagwright.reports.compare import differing

from .compare_cases import difference, make_compare, run, summary

NAME = "<b>'s"
SECTIONS = {
    "differences": {"differences": ()},
    "summary": {"summary": ()},
    "wins": {"wins": ()},
    "frequency": {"bands": ()},
    "labels": {"gains": ()},
    "sweeps": {"sweeps": ()},
    "training": {"curves": ()},
    "calibration": {"reliability": ()},
    "confused": {"exchanges": ()},
    "flips": {"flips": ()},
}
NO_PLOTS = dict.fromkeys(("differences", "bands", "gains", "sweeps", "curves", "reliability"), ())


@pytest.fixture(scope="module")
def whole(read_page):
    """The page of every fact."""
    return read_page(compare_report(make_compare()))


@pytest.fixture(scope="module")
def two_encoders(read_page):
    return read_page(compare_report(make_compare(("cnn", "bow"))))


def sections(page):
    return [name for name in page.ids() if name in (*SECTIONS, "record", "failed", "warnings")]


def cut(words, page):
    """The part of the page's text after the first of these words."""
    return page.text().split(words, 1)[1]


def test_every_section_is_there_in_order(whole):
    assert whole.faults == []
    assert sections(whole) == ["warnings", *SECTIONS, "record"]
    assert [a["href"] for a in whole.named("a") if a["href"].startswith("#")] == [
        f"#{n}" for n in (*SECTIONS, "record")
    ]
    assert whole.text("p").split("\n")[:3] == [
        "Comparison",
        (
            "3 objectives on the encoder cnn, 3 seeds each; compared by macro-F1 on 1,234 texts of"
            " test against bce."
        ),
        "zlpr beats bce.",
    ]


@pytest.mark.parametrize(
    "section", [name for name in SECTIONS if name not in ("summary", "differences")]
)
def test_a_section_without_its_fact_is_left_out(read_page, section):
    page = read_page(compare_report(make_compare(**{**NO_PLOTS, **SECTIONS[section]})))
    assert page.faults == []
    assert section not in page.ids()
    fact = next(iter(SECTIONS[section]))
    if fact in NO_PLOTS:
        back = {name: value for name, value in NO_PLOTS.items() if name != fact}
        assert section in read_page(compare_report(make_compare(**back))).ids()


def test_without_summaries_there_is_nothing_to_rank(read_page):
    page = read_page(compare_report(make_compare(summary=(), **NO_PLOTS)))
    assert sections(page) == ["warnings", "wins", "confused", "flips", "record"]


def test_only_the_required_facts_are_required(read_page):
    facts = CompareFacts(
        title="t",
        baseline="a",
        metric="accuracy",
        objectives=["a"],
        encoders=[],
        rows=[],
        summary=[],
    )
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert sections(page) == ["record"]


def test_details_of_further_encoders_are_folded(whole, two_encoders):
    assert two_encoders.faults == []
    assert sections(two_encoders) == sections(whole)
    assert "2 encoders" in two_encoders.text("p")
    assert len([a for a in two_encoders.named("details") if a.get("class") == "encoder"]) == 3
    assert [a["class"] for a in two_encoders.named("h3") if "class" in a] == ["encoder"] * 3
    assert two_encoders.text("summary").count("bow: zlpr and bce") == 3
    # one forest, one plot of runs
    assert len(two_encoders.named("svg")) == len(whole.named("svg")) * 2 - 2


def test_failed_runs_are_said_first_with_their_error_once(read_page):
    error = "CUDA out of <memory>"
    rows = [run("bce", "cnn", seed, 0.5) for seed in range(3)] + [run("zlpr", "cnn", 0, 0.5)]
    rows += [run("zlpr", "cnn", seed, 0.0, failed=error) for seed in (1, 2)]
    means = [summary("bce", "cnn", 0.5), summary("zlpr", "cnn", 0.6, finished=1, failed=2)]
    page = read_page(compare_report(make_compare(rows=rows, summary=means, **NO_PLOTS)))
    assert sections(page)[:2] == ["failed", "warnings"]
    assert "2 of 6 runs failed" in page.text("h2")
    assert page.text("li").count(error) == 1
    assert "(zlpr, seeds 1, 2)" in page.text("span")
    assert page.text("td").split("\n").count(error) == 2
    assert "1 of 3" in page.text("td").split("\n")


def test_an_error_names_at_most_eight_objectives(read_page):
    rows = [run(f"objective {i}", "cnn", 0, 0.0, failed="no") for i in range(11)]
    page = read_page(compare_report(make_compare(rows=rows, summary=(), **NO_PLOTS)))
    assert "objective 7, seed 0; and 3 more)" in page.text("span")


def test_links_lead_to_files_beside_the_page(read_page):
    places = ["runs/a b/report.html", "javascript:alert(1)", "//elsewhere.org/x", "../up.html"]
    rows = [{**run("bce", "cnn", seed, 0.5), "page": place} for seed, place in enumerate(places)]
    page = read_page(compare_report(make_compare(rows=rows, **NO_PLOTS)))
    found = [a["href"] for a in page.named("a") if not a["href"].startswith("#")]
    assert found == [
        "./runs/a%20b/report.html",
        "./javascript%3Aalert%281%29",
        ".///elsewhere.org/x",
        "./../up.html",
    ]


def test_one_seed_has_no_interval_and_no_spread(read_page):
    rows = [run(name, "cnn", 0, 0.5) for name in ("bce", "zlpr")]
    open_ended = {"low": -math.inf, "high": math.inf, "p_value": math.nan, "adjusted": math.nan}
    facts = make_compare(
        objectives=["bce", "zlpr"],
        rows=rows,
        summary=[{**summary(row["objective"], "cnn", 0.5, finished=1)} for row in rows],
        differences=[{**difference("zlpr", "cnn", 0.1, 0.0, 1.0), **open_ended}],
        bands=[{**band, "spread": math.nan} for band in make_compare().bands],
        gains=[{**found, "spread": [math.nan] * 5} for found in make_compare().gains],
        curves=[curve for curve in make_compare().curves if curve["seed"] == 0],
    )
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert "too few seeds for intervals" in page.text("figcaption")
    assert "±" not in page.text("td")
    assert "NaN" not in "".join(str(a) for _, a in page.tags)


def test_settings_that_differ_between_objectives_are_listed(read_page):
    facts = make_compare(differing={"fit.epochs": {"bce": 8.0, NAME: 20.0}}, **NO_PLOTS)
    assert differing(facts) == [f"fit.epochs: 8.0 (bce), 20.0 ({NAME})"]
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert f"fit.epochs: 8.0 (bce), 20.0 ({NAME})" in page.text("li")
    assert "What else differs" not in read_page(compare_report(make_compare(**NO_PLOTS))).text("h3")


def test_the_record_has_settings_versions_device_and_time(whole):
    assert 'objective = "bce"\n\n[fit]\nepochs = 3.0' in whole.text("pre")
    record = cut("For the record", whole)
    assert "1 h 2 min" in record
    assert "a laptop" in record
    assert "tagwright 0.1.0" in record
    assert "This page quotes texts of the data" in record


def test_every_table_can_be_copied(whole):
    buttons = [a for a in whole.named("button") if a.get("class") == "copy-table"]
    assert len(buttons) == len(whole.named("table")) == 7


def test_texts_that_flipped_stand_under_right_and_wrong(whole):
    said = cut("Texts that flipped", whole)
    right, wrong = said.index("Now right: 2 texts"), said.index("Now wrong: 1 text")
    places = [
        said.index(text)
        for text in ("text that gained", "text that nearly gained", "text that lost")
    ]
    assert right < places[0] < places[1] < wrong < places[2]
    assert "right with 0 of 3 seeds" in said[places[0] : places[1]]
    assert [a["class"] for a in whole.named("span") if a.get("class", "").startswith("label")][
        :3
    ] == [*("label", "label", "label wrong")]
    assert "none" in whole.text("span").split("\n")  # what the baseline gave


def test_long_texts_are_cut_and_long_lists_folded(read_page):
    flip = make_compare().flips[3]
    flips = [{**flip, "text": f"{i} {'word ' * 1000}"} for i in range(40)]
    page = read_page(compare_report(make_compare(flips=flips, **NO_PLOTS)))
    shown = [text for tag, text in page.texts if tag == "p" and "word word" in text]
    assert len(shown) == 30
    assert max(map(len, shown)) <= 280
    assert "26 more" in page.text("summary")
    assert "Now right: 40 texts" in page.text("h3")


def test_more_objectives_than_colors_are_said_and_ranked(read_page):
    names = [f"objective {i}" for i in range(23)]
    facts = make_compare(
        baseline=names[0],
        objectives=names,
        rows=[run(name, "cnn", 0, 0.5) for name in names],
        summary=[summary(name, "cnn", 0.5 + i / 100) for i, name in enumerate(names)],
        bands=[{**band, "objective": name} for name in names for band in make_compare().bands[:2]],
        **{name: () for name in NO_PLOTS if name != "bands"},
    )
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert set(names) <= set(page.text("text").split("\n"))
    assert "Drawn: the baseline and the 8 best of 22 others." in page.text("p")
    assert page.text("th").split("\n")[:2] == ["objective 22", "objective 21"]


def test_ids_are_unique_and_names_of_regions_too(two_encoders):
    ids = two_encoders.ids()
    assert len(ids) == len(set(ids))
    regions = [a["aria-label"] for a in two_encoders.named("div") if a.get("role") == "region"]
    assert len(regions) == len(set(regions))


def test_policy_allows_the_script_and_plots_take_the_colors_of_the_page():
    html = compare_report(make_compare())
    script = re.search(r"<script>(.*)</script>", html, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    drawn = "".join(re.findall(r"<svg.*?</svg>", html, re.S))
    found = set(re.findall(r"(?:fill|stroke)=\"([^\"]+)\"", drawn))
    style = re.search(r"<style>(.*)</style>", html, re.S)[1]
    assert found <= {
        "none",
        "transparent",
        *(f"var({name})" for name in re.findall(r"(--[a-z]+):", style)),
    }
    assert not re.search(r"url\(|@import|data:image|<image", html)


def test_a_large_page_is_less_than_two_megabytes():
    curves = [
        {"objective": name, "encoder": encoder, "seed": seed, "steps": np.arange(500)}
        | {"scores": np.linspace(0, 1, 500), "losses": np.linspace(9, 1, 500)}
        for name in ("bce", "zlpr", "focal")
        for encoder in ("cnn", "bow")
        for seed in range(5)
    ]
    facts = make_compare(("cnn", "bow"), curves=curves)
    assert len(compare_report(facts)) < 2_000_000

import pytest

from tagwright.report import compare_report

HOSTILE = '</td><script>alert(1)</script>"'


def test_page_is_balanced_and_whole(make_compare, read_page):
    page = read_page(compare_report(make_compare()))
    assert page.faults == []
    assert [name for name in page.ids() if name in ("differences", "summary", "record")] == [
        *("differences", "summary", "record")
    ]
    assert "zlpr beats bce." in page.text("p")


def test_best_objective_comes_first_with_mean_and_deviation(make_compare, read_page):
    page = read_page(compare_report(make_compare(differences=())))
    assert page.text("th").split("\n")[:3] == ["zlpr", "bce (baseline)", "focal"]
    assert page.text("td").split("\n")[:2] == ["0.640 ± 0.012", "38 s"]


def test_a_loss_is_better_when_lower(make_compare, read_page):
    summary = [{"objective": n, "metrics": {"hamming_loss": (m, 0.0)}} for n, m in (("a", 0.3), ("b", 0.2), ("c", 0.4))]
    page = read_page(compare_report(make_compare(metric="hamming_loss", summary=summary, rows=[], differences=())))
    assert page.text("th").split("\n")[:3] == ["b", "a", "c"]
    assert [a["data-value"] for a in page.named("td") if a.get("class") == "best"] == ["0.2"]
    assert {"scope": "col", "aria-sort": "ascending"} in page.named("th")


def test_only_differences_that_exclude_zero_are_filled(make_compare, read_page):
    page = read_page(compare_report(make_compare()))
    dots = [a for a in page.named("path") if a.get("stroke") == "var(--accent)" and "fill" in a and "A" in a["d"]]
    assert sorted(a["fill"] for a in dots) == ["var(--accent)", "var(--surface)", "var(--surface)"]


def test_every_run_is_a_row(make_compare, read_page):
    page = read_page(compare_report(make_compare()))
    rows = [a for a in page.named("th") if a.get("scope") == "row"]
    assert len(rows) == 3 + 2 + 9


def test_hostile_names_stay_text(make_compare, read_page):
    facts = make_compare(
        title=HOSTILE,
        verdict=HOSTILE,
        baseline=HOSTILE,
        rows=[{"objective": HOSTILE, "seed": 1, "metrics": {"macro_f1": 0.5}, "seconds": 1.0}],
        summary=[{"objective": HOSTILE, "metrics": {"macro_f1": (0.5, float("nan"))}}],
        differences=[{"objective": "x", "metric": HOSTILE, "mean": 0.1, "low": 0, "high": 1, "p_value": float("nan")}],
    )
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert len(page.named("script")) == 1


@pytest.mark.parametrize("objectives", [1, 2, 23])
def test_any_number_of_objectives_is_drawn(make_compare, read_page, objectives):
    names = [f"objective {i}" for i in range(objectives)]
    facts = make_compare(
        rows=[{"objective": n, "seed": 0, "metrics": {"macro_f1": 0.5}, "seconds": 0.0} for n in names],
        summary=[{"objective": n, "metrics": {"macro_f1": (0.5, float("nan"))}} for n in names],
        differences=(),
    )
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert set(names) <= set(page.text("text").split("\n"))


def test_settings_that_differ_between_objectives_are_listed(make_compare, read_page):
    page = read_page(compare_report(make_compare(differing={"fit.epochs": {"bce": 8.0, HOSTILE: 20.0}})))
    assert page.faults == []
    assert f"fit.epochs: 8.0 (bce), 20.0 ({HOSTILE})" in page.text("li")
    assert "What else differs" not in read_page(compare_report(make_compare())).text("h3")

from collections.abc import Callable

import pyarrow as pa
import pytest

from tagwright.analysis.audit import audit
from tagwright.data.dataset import Data
from tagwright.reports import check_report
from tagwright.reports.check import ranges

HOSTILE = '</li><script>alert(1)</script>"'
SECTIONS = ["texts", "copies", "look-alikes", "together", "unseen", "labels"]


def table(rows: list[tuple[str, list[str]]]) -> pa.Table:
    texts, labels = zip(*rows)
    return pa.table({"text": pa.array(texts), "labels": pa.array(labels, pa.list_(pa.string()))})


@pytest.fixture(scope="module")
def make_facts() -> Callable[[str], dict[str, object]]:
    """An audit in which everything is found: copies, a leak, a contradiction, look-alikes, an
    unseen label.
    """

    def make(word: str) -> dict[str, object]:
        pairs = [
            (f"warm wool coat number {i} {word}", [f"coats {word}", "winter"]) for i in range(9)
        ]
        pairs += [(f"warm wool jacket number {i} {word}", [f"jackets {word}"]) for i in range(7)]
        pairs += [(f"a tin cup {i}", ["cups"]) for i in range(5)]
        train = [*pairs, pairs[0], (pairs[1][0], ["cups"])]
        dev = [pairs[2], ("something else", [f"only dev {word}"]), ("nothing here", [])]
        return audit(
            Data(
                tables={"train": table(train), "dev": table(dev)}, task="many", source="shop/a.csv"
            )
        ).as_dict()

    return make


@pytest.fixture(scope="module")
def page(make_facts, read_page):
    return read_page(check_report(make_facts("x")))


def test_an_audit_becomes_a_balanced_page_with_every_section(page):
    assert page.faults == []
    assert [name for name in page.ids() if name in SECTIONS] == SECTIONS
    assert page.text("h1") == "a.csv"


def test_counts_of_every_label_are_in_the_table(page):
    lines = [line.strip() for line in page.text().split("\n")]
    start = lines.index("coats x", lines.index("Every label"))
    assert lines[start : start + 3] == ["coats x", "10", "1"]


def test_leaked_texts_are_quoted(page):
    assert "In both train and dev" in page.text("b")
    assert "warm wool coat number 2 x" in page.text("span")


def test_hostile_texts_and_labels_stay_text(make_facts, read_page):
    page = read_page(check_report(make_facts(HOSTILE), title=HOSTILE))
    assert page.faults == []
    assert len(page.named("script")) == 1
    assert page.text("h1") == HOSTILE
    assert not [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href")
    ]


def test_only_what_was_found_is_shown(make_facts, read_page):
    facts = make_facts("x")
    page = read_page(check_report({"parts": facts["parts"], "together": facts["together"]}))
    assert page.faults == []
    assert [name for name in page.ids() if name in SECTIONS] == ["texts", "together"]


def test_an_empty_audit_is_a_page(read_page):
    assert read_page(check_report({})).faults == []


def test_numbers_too_small_for_an_axis_are_drawn_as_nothing(read_page):
    spans = [{"tenth": -1e-320, "median": 5e-324, "ninetieth": 1e-320}]
    assert read_page(ranges(["a"], spans, title="x")).faults == []

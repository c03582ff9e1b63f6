import subprocess
import sys

import numpy as np
import pytest

from tagwright.reports.page import (
    address,
    duration,
    excerpt,
    metric_name,
    number,
    part_name,
    plain,
    plural,
    score_notes,
    score_table,
    size,
    sortable,
    three,
)

COLUMNS = {
    "f1": ("F1", "mean"),
    "recall": ("recall", ""),
    "support": ("true", ""),
    "predicted": ("predicted", ""),
}
SCORES = {"f1": [0.25, np.nan, 0.75], "support": [3, 0, 9], "predicted": [0, 2, 8]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (0.51239, "0.512"),
            (1234567, "1,234,567"),
            (12.345, "12.3"),
            (0.00423, "0.0042"),
            (-0.25, "−0.250"),
        ),
        *((0, "0"), (0.0, "0.000"), (1.0, "1.000"), (3.0, "3"), (float("nan"), "–"), (None, "–")),
        *((float("inf"), "∞"), (2.5e-5, "0.000025")),
    ],
)
def test_number_reads_well(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.42, "0.4 s"),
        (59.6, "1 min"),
        (75, "1 min 15 s"),
        (11045, "3 h 4 min"),
        (3600, "1 h"),
        (9.97, "10 s"),
        (None, "–"),
    ],
)
def test_duration_has_two_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        *((0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_951, "1.0 MB")),
        *((2.5e9, "2.5 GB"), (1.2e13, "12000.0 GB"), (None, "–"), (float("nan"), "–")),
    ],
)
def test_sizes_have_one_decimal(amount, text):
    assert size(amount) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (3, "3"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), ""),
    ],
)
def test_numbers_to_sort_by_are_those_of_the_script(value, text):
    assert sortable(value) == text


def test_addresses_stay_beside_the_page():
    assert address("a b/ü.html") == "./a%20b/%C3%BC.html"
    assert address("https://elsewhere.org/?a=1#b") == "./https%3A//elsewhere.org/%3Fa%3D1%23b"
    assert address("\ud800") == "./%3F"


def test_excerpt_is_one_line_within_the_limit():
    assert excerpt("a\n b\t c") == "a b c"
    assert excerpt("x" * 50, 20) == "x" * 19 + "…"


def test_names_are_for_people():
    assert [metric_name(n) for n in ("micro_f1", "lrap", "macro_average_precision")] == [
        *("micro-F1", "LRAP", "macro average precision")
    ]
    assert plural(1, "label") == "1 label"
    assert plural(2001, "label") == "2,001 labels"


def test_part_name_reads_both_forms():
    assert part_name({"encoder": {"name": "cnn", "width": 3}}, "encoder") == "cnn"
    assert part_name({"objective": "zlpr"}, "objective") == "zlpr"
    assert part_name(None, "encoder") == ""


def test_importing_the_package_loads_neither_altair_nor_jinja():
    code = (
        "import sys, tagwright.reports; print([m for m in ('altair', 'vl_convert', 'jinja2') if m"
        " in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["altair", "vl_convert", "jinja2"])
def test_a_missing_library_is_named(make_fit, monkeypatch, module):
    from tagwright.errors import TagwrightError
    from tagwright.reports import fit_report

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TagwrightError, match=f"needs {module}; pip install"):
        fit_report(make_fit(2))


def test_an_undefined_score_is_a_dash():
    assert (three(np.nan), three(0.12345)) == ("–", "0.123")


def test_no_name_means_anything_in_markdown_or_html():
    assert plain("a|b\n<b>`c`") == r"a\|b &lt;b>\`c\`"


def made(counts):
    return score_table(
        ["a", "b", "c"], SCORES, COLUMNS, what="type", counts=counts, counted="spans of train"
    )


def test_columns_are_those_that_have_scores():
    assert made([5, 7, 1]).columns == [
        ("type", ""),
        ("train", "spans of train"),
        *(COLUMNS[n] for n in SCORES),
    ]


@pytest.mark.parametrize(
    ("counts", "order", "by"), [([5, 7, 1], "bac", "train"), (None, "cab", "true")]
)
def test_the_most_frequent_come_first_and_the_heading_says_by_what(counts, order, by):
    table = made(counts)
    assert "".join(row[0].text for row in table.rows) == order
    assert table.columns[table.sorted_by][0] == by
    values = [row[table.sorted_by].value for row in table.rows]
    assert values == sorted(values, reverse=True)


def test_undefined_is_a_dash_that_sorts_last():
    (cell,) = (row[2] for row in made([5, 7, 1]).rows if row[0].text == "b")
    assert (cell.text, cell.value) == ("–", -1.0)


def test_notes_count_what_is_silent_and_what_is_absent():
    assert score_notes(SCORES, what="type", split="dev") == [
        "Never predicted though dev has them: 1 type.",
        "Not in dev, so of unknown quality: 1 type.",
    ]
    assert score_notes({"f1": [0.5]}, what="type", split="dev") == []

import subprocess
import sys

import pytest

from tagwright.reports.page import (
    address,
    duration,
    excerpt,
    metric_name,
    number,
    part_name,
    plural,
    size,
    sortable,
)


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

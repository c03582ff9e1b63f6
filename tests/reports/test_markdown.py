import numpy as np

from tagwright.reports.markdown import plain, table, three


def test_the_first_column_is_left_and_the_others_right():
    assert table(["a", "b"], [["x", "1"]]).split("\n") == [
        "| a | b |",
        "| --- | ---: |",
        "| x | 1 |",
    ]


def test_undefined_is_a_dash():
    assert (three(np.nan), three(0.12345)) == ("–", "0.123")


def test_no_name_means_anything_in_markdown_or_html():
    assert plain("a|b\n<b>`c`") == r"a\|b &lt;b>\`c\`"

"""Files of groups: what is written is read back, what is wrong is named."""

from pathlib import Path

import pytest

from tagwright.errors import DataError
from tagwright.labels.group_files import read_groups, write_groups

ODD = {
    "a.b": ["x y", "x/y", "z"],
    'quote " and \\ slash': ["line\nbreak", "tab\t", "del\x7f"],
    "größe": ["ä", "日本"],
    "": ["#no comment", "= 3"],
}


def test_odd_names_come_back_as_they_were(tmp_path: Path) -> None:
    write_groups(tmp_path / "g.toml", ODD, about=["a head"], beside={"a.b": ["evidence", "more"]})
    assert read_groups(tmp_path / "g.toml") == ODD


def test_comments_stand_above_their_group(tmp_path: Path) -> None:
    write_groups(tmp_path / "g.toml", {"a": ["x", "y"]}, about=["head"], beside={"a": ["evidence"]})
    lines = (tmp_path / "g.toml").read_text().splitlines()
    assert lines == ["# head", "", "[groups]", "# evidence", '"a" = [', '  "x",', '  "y",', "]"]


def test_table_may_name_a_label_twice_and_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(
        "\ufeffgroup,label,note\nfelines, cat ,\npets,cat,\npets,dog,\n", encoding="utf-8"
    )
    assert read_groups(path) == {"felines": ["cat"], "pets": ["cat", "dog"]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.csv", "name,group\ncat,pets\n", "line 1: the header must name label and group"),
        ("g.csv", "", "line 1: the header must name label and group"),
        ("g.csv", "label,group\ncat,\n", "line 2: label or group is empty"),
        ("g.csv", "label,group\ncat\n", "line 2: label or group is empty"),
        ("g.toml", "[groups\n", r"g\.toml: .*line 1"),
        ("g.toml", "", r"expected a table \[groups\]"),
        ("g.toml", "groups = 3", r"expected a table \[groups\]"),
        ("g.toml", "[group]\na = []", "unknown table 'group'; did you mean 'groups'"),
        ("g.toml", "[groups]\na = 'x'", "group 'a' must be a list of labels in quotes, got 'x'"),
        ("g.toml", "[groups]\na.b = ['x', 'y']", "a name with dots needs quotes"),
        ("g.toml", "[groups]\na = ['x', 3]", "must be a list of labels in quotes"),
        ("g.toml", "[groups]\na = ['x']\na = ['y']", "Cannot overwrite a value"),
    ],
)
def test_faulty_file_is_an_error_that_names_the_place(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_groups(tmp_path / name)


def test_other_encoding_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_bytes("label,group\nKäse,a\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        read_groups(tmp_path / "g.csv")

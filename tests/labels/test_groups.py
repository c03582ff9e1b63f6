"""Groups of labels from names and tables."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tagwright.errors import DataError, SettingsError
from tagwright.labels.groups import groups_from_names, groups_from_table


def names_of(folder: Path) -> list[str]:
    return sorted({name for row in pq.read_table(folder / "train.parquet")["labels"].to_pylist() for name in row})


@pytest.mark.parametrize(
    ("folder", "separator", "groups"),
    [
        ("trec_fine", ":", {"ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"}),
        ("arxiv54", ".", {"cond-mat", "cs", "eess", "math", "physics", "q-bio", "stat"}),
        ("sst5", None, set()),
        ("goemotions", None, set()),
        ("reuters90", None, set()),
    ],
)
def test_real_labels_give_the_separator_a_person_would_name(
    real_data: Path, folder: str, separator: str | None, groups: set[str]
) -> None:
    found = groups_from_names(names_of(real_data / folder))
    assert found.separator == separator
    assert set(found.names) == groups


def test_debtags_are_grouped_by_the_double_colon_not_the_single_one(real_data: Path) -> None:
    names = names_of(real_data / "debtags")
    found = groups_from_names(names)
    assert found.separator == "::"
    for name, group in zip(names, found.group_ids.tolist()):
        companions = [other for other in names if other.split("::")[0] == name.split("::")[0]]
        assert (group == -1) == (len(companions) == 1)
        assert group == -1 or found.names[group] == name.split("::")[0]


@pytest.mark.parametrize("separator", ["::", ":", "/", ".", "__", " > ", "-", "_"])
def test_every_separator_is_found(separator: str) -> None:
    found = groups_from_names(
        [f"{group}{separator}{leaf}" for group in ("home", "work") for leaf in ("one", "two", "six")]
    )
    assert found.separator == separator
    assert found.group_ids.tolist() == [0, 0, 0, 1, 1, 1]


def test_label_without_separator_or_companion_is_alone() -> None:
    found = groups_from_names(["cs.AI", "cs.LG", "hep-th", "stat.ML", "math.NA", "math.OC"])
    assert found.names == ("cs", "math")
    assert found.group_ids.dtype == np.int64
    assert found.group_ids.tolist() == [0, 0, -1, -1, 1, 1]


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["one"],
        ["label_1", "label_2", "label_3"],  # one group of all says nothing
        ["sci-fi", "hip-hop", "non-fiction"],  # no two share a prefix
        ["castor-oil", "castor-meal", "wheat", "corn", "rye"],  # most labels have none
        [".net", "c.", "java", ".hidden"],  # nothing before or after
    ],
)
def test_no_sensible_separator_leaves_all_alone(names: list[str]) -> None:
    found = groups_from_names(names)
    assert found.separator is None
    assert found.names == ()
    assert found.group_ids.tolist() == [-1] * len(names)


def test_given_separator_is_taken_even_for_few_labels() -> None:
    found = groups_from_names(["castor-oil", "castor-meal", "wheat", "corn", "rye"], "-")
    assert found.separator == "-"
    assert found.group_ids.tolist() == [0, 0, -1, -1, -1]


def test_given_separator_that_no_label_has_is_an_error() -> None:
    with pytest.raises(SettingsError, match="no label has the separator '/'"):
        groups_from_names(["a", "b"], "/")


def test_members_lists_the_labels_of_each_group() -> None:
    names = ["b/x", "a/x", "b/y", "a/y", "c/z"]
    assert groups_from_names(names).members(names) == {"a": ["a/x", "a/y"], "b": ["b/x", "b/y"]}


def test_table_is_joined_by_name(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("\ufeffgroup,label,note\nfelines,cat,\npets,dog,\nfelines,lion,\nfish,trout,\n", encoding="utf-8")
    found = groups_from_table(path, ["lion", "dog", "emu", "cat"])
    assert found.names == ("felines",)
    assert found.group_ids.tolist() == [0, -1, -1, 0]
    assert found.strangers == ("trout",)
    assert found.separator is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,group\ncat,pets\n", "line 1: the header must name label and group"),
        ("", "line 1: the header must name label and group"),
        ("label,group\ncat,pets\ncat,wild\n", "line 3: 'cat' is in 'pets' and in 'wild'"),
        ("label,group\ncat,\n", "line 2: label or group is empty"),
        ("label,group\ncat\n", "line 2: label or group is empty"),
        ("label,group\ntrout,fish\n", "none of its labels is in the data"),
    ],
)
def test_faulty_table_is_an_error_that_names_the_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        groups_from_table(path, ["cat", "dog"])

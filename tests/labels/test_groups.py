"""Groups of labels from names, lists and files."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tagwright.errors import DataError, SettingsError
from tagwright.labels.groups import Groups, groups_from_file, groups_from_names, groups_of, said


def table(groups: Groups) -> list[list[int]]:
    """Membership (L, G) as numbers."""
    return groups.membership.toarray().astype(int).tolist()


def names_of(folder: Path) -> list[str]:
    return sorted(
        {
            name
            for row in pq.read_table(folder / "train.parquet")["labels"].to_pylist()
            for name in row
        }
    )


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
    expected: dict[str, list[str]] = {}
    for name in names:
        expected.setdefault(name.split("::")[0], []).append(name)
    assert found.members(names) == {
        group: labels for group, labels in sorted(expected.items()) if len(labels) > 1
    }


@pytest.mark.parametrize("separator", ["::", ":", "/", ".", "__", " > ", "-", "_"])
def test_every_separator_is_found(separator: str) -> None:
    found = groups_from_names(
        [
            f"{group}{separator}{leaf}"
            for group in ("home", "work")
            for leaf in ("one", "two", "six")
        ]
    )
    assert found.separator == separator
    assert table(found) == [[1, 0]] * 3 + [[0, 1]] * 3


def test_label_without_separator_or_companion_is_alone() -> None:
    found = groups_from_names(["cs.AI", "cs.LG", "hep-th", "stat.ML", "math.NA", "math.OC"])
    assert found.names == ("cs", "math")
    assert found.membership.dtype == bool
    assert table(found) == [[1, 0], [1, 0], [0, 0], [0, 0], [0, 1], [0, 1]]


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
    assert found.membership.shape == (len(names), 0)


def test_given_separator_is_taken_even_for_few_labels() -> None:
    found = groups_from_names(["castor-oil", "castor-meal", "wheat", "corn", "rye"], "-")
    assert found.separator == "-"
    assert table(found) == [[1], [1], [0], [0], [0]]


@pytest.mark.parametrize("separator", ["/", ""])
def test_given_separator_that_no_label_has_is_an_error(separator: str) -> None:
    with pytest.raises(SettingsError, match=f"no label has the separator '{separator}'"):
        groups_from_names(["a", "b"], separator)


def test_members_lists_the_labels_of_each_group() -> None:
    names = ["b/x", "a/x", "b/y", "a/y", "c/z"]
    assert groups_from_names(names).members(names) == {"a": ["a/x", "a/y"], "b": ["b/x", "b/y"]}


LABELS = ["lion", "dog", "emu", "cat"]


def test_label_may_stand_in_several_groups() -> None:
    found = Groups.of(
        {"pets": ["dog", "cat"], "felines": ["cat", "lion", "cat"], "birds": ["emu"]}, LABELS
    )
    assert found.names == ("felines", "pets")
    assert table(found) == [[1, 0], [0, 1], [0, 0], [1, 1]]
    assert found.members(LABELS) == {"felines": ["lion", "cat"], "pets": ["dog", "cat"]}
    assert found.shared(LABELS) == ["cat"]
    assert said(found, LABELS) == ("labels in several groups, excused in each of them: cat",)


def test_very_many_labels_take_no_table() -> None:
    names = [f"{number // 2}/{number % 2}" for number in range(100_000)]
    found = groups_from_names(names)
    assert found.membership.shape == (100_000, 50_000)
    assert found.membership.nnz == 100_000


def test_file_is_joined_by_name(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("group,label\nfelines,cat\npets,dog\nfelines,lion\nfish,trout\n")
    found = groups_of(str(path), LABELS)
    assert found.members(LABELS) == {"felines": ["lion", "cat"]}
    assert found.strangers == ("trout",)
    assert found.separator is None
    assert said(found, LABELS) == ("labels of the groups that are not in train, left out: trout",)


def test_file_whose_labels_are_all_unknown_is_met_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "groups.toml"
    path.write_text('[groups]\npets = ["doog", "budgerigar"]\n')
    with pytest.raises(
        DataError, match=r"none of its labels is in the data: .*'doog' \(did you mean 'dog'\?\)"
    ):
        groups_from_file(path, LABELS)


@pytest.mark.parametrize("labels", ['["dog", "trout"]', '["dog", "dog"]', '["dog"]'])
def test_file_without_a_group_of_two_known_labels_is_an_error(tmp_path: Path, labels: str) -> None:
    path = tmp_path / "groups.toml"
    path.write_text(f'[groups]\npets = {labels}\nbirds = ["emu"]\n')
    with pytest.raises(SettingsError, match="no group has two labels of the data"):
        groups_from_file(path, LABELS)


def test_prefix_is_a_choice_with_or_without_a_separator() -> None:
    names = ["a/x-y", "a/z-y", "b/x-y", "b/x-z"]
    assert groups_of("prefix", names).separator == "/"
    assert groups_of("prefix", names, separator="-").members(names) == {"b/x": ["b/x-y", "b/x-z"]}
    with pytest.raises(SettingsError, match="names of the labels show no groups"):
        groups_of("prefix", LABELS)


def test_choice_that_is_neither_prefix_nor_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"got 'prefixes'; did you mean 'prefix'\?"):
        groups_of("prefixes", LABELS)
    with pytest.raises(
        DataError, match=r"nowhere\.csv: the file of groups cannot be read \(No such file"
    ):
        groups_of(str(tmp_path / "nowhere.csv"), LABELS)
    with pytest.raises(SettingsError, match="a separator is for groups by prefix"):
        groups_of("groups.csv", LABELS, separator="/")

"""Groups of labels from names, confusions and co-occurrence, written and used by a mask."""

import csv

import pytest

from tagwright.data import read_data
from tagwright.data.split import split
from tagwright.errors import DataError, SettingsError
from tagwright.inference import model_folder
from tagwright.labels.group_files import read_groups
from tagwright.pipelines import groups as module
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.groups import find_groups

COMMON = {"city": "place", "sport": "hobby", "tool": "hobby", "fruit": "thing", "metal": "thing"}


def renamed(rows):
    """Labels with a prefix."""
    return [
        (i, t, ";".join(f"{COMMON[one]}/{one}" for one in labels.split(";")))
        for i, t, labels in rows
    ]


@pytest.fixture(scope="module")
def prefixed(tmp_path_factory, write_csv, rows_of):
    return write_csv(tmp_path_factory.mktemp("data") / "prefixed.csv", renamed(rows_of(120)))


@pytest.fixture
def twins(tmp_path, write_csv, rows_of):
    """One label a text; in half of the texts of `city` it is `metal`, so a model must confuse the
    two.
    """
    rows = rows_of(60, seed=9, many=False)
    swapped = [
        (i, t, {"city": "metal", "metal": "city"}.get(label, label) if n % 2 else label)
        for n, (i, t, label) in enumerate(rows)
    ]
    return write_csv(tmp_path / "twins.csv", swapped)


def test_names_are_grouped_by_prefix_and_written(prefixed, tmp_path):
    found = find_groups(str(prefixed), by="prefix", out=tmp_path / "new" / "g.toml", options={})
    assert found.groups == {
        "hobby": ["hobby/sport", "hobby/tool"],
        "thing": ["thing/fruit", "thing/metal"],
    }
    assert (found.separator, found.label_count) == ("/", 5)
    assert read_groups(tmp_path / "new" / "g.toml") == found.groups


def test_given_separator_is_taken(prefixed):
    with pytest.raises(SettingsError, match="no label has the separator ':'"):
        find_groups(str(prefixed), by="prefix", options={"prefix_separator": ":"})


def test_confused_labels_of_a_model_are_a_group_with_evidence(single_trained, twins, tmp_path):
    options = {"model": single_trained, "split": "all"}
    found = find_groups(str(twins), by="confusions", out=tmp_path / "g.toml", options=options)
    model, table = model_folder.load(single_trained), read_data(twins).tables["all"]
    chosen = [
        names[0] for names in model.heads["main"].space.decode(model.scores(table["text"]).chosen)
    ]
    gold = [labels[0] for labels in table["labels"].to_pylist()]
    count = sum({g, c} == {"city", "metal"} for g, c in zip(gold, chosen))
    rate = count / sum(g in ("city", "metal") for g in gold)
    (group,) = [members for members in found.groups.values() if "city" in members]
    assert "metal" in group
    pairs = [
        pair
        for pairs in found.evidence.values()
        for pair in pairs
        if {pair.left, pair.right} == {"city", "metal"}
    ]
    assert [(pair.texts, pytest.approx(pair.rate)) for pair in pairs] == [(count, rate)]
    assert (
        f'"city" and "metal": {count} texts, rate {rate:.3f}' in (tmp_path / "g.toml").read_text()
    )
    assert (found.split, found.rows) == ("all", 60)


def test_chunks_of_texts_change_nothing(single_trained, twins, monkeypatch):
    options = {"model": single_trained, "split": "all"}
    whole = find_groups(str(twins), by="confusions", options=options)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert find_groups(str(twins), by="confusions", options=options) == whole


def test_without_a_dev_split_that_of_the_training_is_taken_and_said(single_trained, single_source):
    with pytest.raises(SettingsError, match=r"on dev of .*\(12 texts\)"):
        find_groups(
            str(single_source), by="confusions", options={"model": single_trained, "least": 12}
        )
    assert split(read_data(single_source)).tables["dev"].num_rows == 12


def test_dev_of_the_data_is_taken_where_there_is_one(trained, split_source):
    options = {"model": trained, "share": 0.0001, "least": 1}
    found = find_groups(str(split_source), by="confusions", options=options)
    assert (found.split, found.rows, found.warnings) == ("dev", 40, ())


def test_refitted_model_is_said_to_know_dev(single_source, tmp_path, tiny):
    fit_folder(str(single_source), tiny(fit={"epochs": 0.1, "refit": True}), out=tmp_path / "m")
    options = {"model": tmp_path / "m", "share": 0.0001, "least": 1}
    first, second = find_groups(str(single_source), by="confusions", options=options).warnings
    assert "has no dev: held out as in the model's training" in first
    assert "learnt from dev too" in second


def test_labels_of_the_same_texts_are_a_group(tmp_path):
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "labels"])
        rows.writerows(
            [f"text {n}", "tea;milk" if n % 3 else "tea;rain" if n % 2 else "rain"]
            for n in range(30)
        )
    found = find_groups(str(path), by="cooccurrence", options={})
    assert found.groups == {"tea": ["milk", "tea"]}
    assert [(pair.texts, pair.rate) for pair in found.evidence["tea"]] == [(20, 20 / 25)]


def test_nothing_alike_is_an_error_with_the_nearest(source):
    with pytest.raises(
        SettingsError,
        match=r"no two labels have a rate of 0\.9 in 3 texts; the nearest are \".* Lower",
    ):
        find_groups(str(source), by="cooccurrence", options={"share": 0.9})


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        ("element", {}, "unknown way to find groups 'element'; did you mean 'elements'"),
        ("elements", {"model": "m"}, "elements are words, not groups of labels"),
        ("elements", {}, "--by elements asks a trained model; give its folder with --model"),
        ("prefix", {"threshold": 0.5}, "--threshold goes with --by elements, not with prefix"),
        ("confusions", {}, "give its folder with --model"),
        (
            "prefix",
            {"model": "m"},
            "--model goes with --by confusions or elements, not with prefix",
        ),
        ("cooccurrence", {"prefix_separator": "/"}, "--prefix-separator goes with --by prefix"),
        ("prefix", {"share": 0.1}, "--share goes with --by confusions or cooccurrence"),
        ("cooccurrence", {"share": 0.0}, "--share must be above 0 and at most 1, got 0.0"),
        ("cooccurrence", {"share": float("nan")}, "--share must be above 0"),
        ("cooccurrence", {"least": 0}, "--least must be at least 1, got 0"),
    ],
)
def test_options_that_do_not_go_together_are_an_error(source, by, options, message):
    with pytest.raises(SettingsError, match=message):
        find_groups(str(source), by=by, options=options)


def test_one_label_a_text_has_no_cooccurrence(single_source):
    with pytest.raises(SettingsError, match="one label a text"):
        find_groups(str(single_source), by="cooccurrence", options={})


def test_split_that_is_not_there_is_an_error(source):
    with pytest.raises(DataError, match="has no split 'test'"):
        find_groups(str(source), by="cooccurrence", options={"split": "test"})


def test_file_that_stands_is_left_alone(prefixed, tmp_path):
    (tmp_path / "g.toml").write_text("mine")
    with pytest.raises(SettingsError, match="exists; choose another name or use --overwrite"):
        find_groups(str(prefixed), by="prefix", out=tmp_path / "g.toml", options={})
    assert (tmp_path / "g.toml").read_text() == "mine"
    find_groups(str(prefixed), by="prefix", out=tmp_path / "g.toml", overwrite=True, options={})
    with pytest.raises(SettingsError, match=r"must end in \.toml"):
        find_groups(str(prefixed), by="prefix", out=tmp_path / "g.csv", options={})


def test_file_of_groups_trains_and_what_is_odd_about_it_is_said(source, tmp_path, tiny):
    (tmp_path / "g.csv").write_text("label,group\ncity,a\nfruit,a\nfruit,b\ntool,b\ntoool,b\n")
    said = []
    given = tiny(fit={"epochs": 1}, mask={"name": "groups", "groups": str(tmp_path / "g.csv")})
    fit_folder(str(source), given, out=tmp_path / "m", say=said.append)
    assert "labels in several groups, excused in each of them: fruit" in said
    assert "labels of the groups that are not in train, left out: toool" in said


def test_faulty_file_of_groups_writes_nothing(source, tmp_path, tiny):
    (tmp_path / "g.csv").write_text("label,group\ncitty,a\nfruitt,a\n")
    given = tiny(mask={"name": "groups", "groups": str(tmp_path / "g.csv")})
    with pytest.raises(DataError, match="did you mean 'city'"):
        fit_folder(str(source), given, out=tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["g.csv"]

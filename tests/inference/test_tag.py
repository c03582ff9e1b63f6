"""Tagging a stream: every row and column back in order, and the same bytes after a kill."""

import csv
import json
import subprocess
import sys
import textwrap
from functools import partial

import pyarrow as pa
import pytest
from pyarrow import parquet

from tagwright.errors import DataError, SettingsError, TagwrightError
from tagwright.inference import tag as module
from tagwright.inference.tag import Tagged, tag
from tagwright.pipelines.tag import tag_file

HEADER = ("number", "text", "note")


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_all_columns_and_rows_come_back_in_order(model, pages, rows, tmp_path):
    tag(model, pages, tmp_path / "out.csv")
    header, *found = read_csv(tmp_path / "out.csv")
    assert header == [*HEADER, "tags", "tags_scores"]
    assert [tuple(row[:3]) for row in found] == rows


def test_tags_are_what_the_model_says_likeliest_first(model, pages, rows, tmp_path):
    tag(model, pages, tmp_path / "out.csv")
    names = model.heads["main"].space.names
    scores = model.scores([row[1] for row in rows])
    for row, chosen, values in zip(
        read_csv(tmp_path / "out.csv")[1:], scores.chosen, scores.probabilities
    ):
        if not row[1]:
            continue
        expected = sorted((i for i in range(5) if chosen[i]), key=lambda i: -values[i])
        assert [t for t in row[3].split(";") if t] == [names[i] for i in expected]
        assert [float(t) for t in row[4].split(";") if t] == pytest.approx(
            [values[i] for i in expected], abs=6e-5
        )


def test_empty_texts_stay_in_place_without_tags(model, pages, tmp_path):
    done = tag(model, pages, tmp_path / "out.csv")
    found = read_csv(tmp_path / "out.csv")[1:]
    assert done.rows == 103
    assert done.empty == 10
    assert all(row[3] == row[4] == "" for row in found if not row[1])
    assert done.without == sum(not row[3] for row in found)


def test_a_cell_that_looks_like_a_number_or_nothing_is_not_rewritten(model, tmp_path, write_csv):
    odd = [
        ("007", "red paris", "1.50"),
        ("NULL", "oslo", "nan"),
        ("1e3", "rome", "true"),
        ("2020-01-01", "x", " y "),
    ]
    tag(model, write_csv(tmp_path / "odd.csv", odd, header=HEADER), tmp_path / "out.csv")
    assert [tuple(row[:3]) for row in read_csv(tmp_path / "out.csv")[1:]] == odd


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format_says_the_same(model, pages, rows, tmp_path, suffix, small_shards):
    out = tmp_path / f"out{suffix}"
    tag(model, pages, out)
    if suffix == ".parquet":
        found = parquet.read_table(out).to_pylist()
    elif suffix == ".jsonl":
        found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    else:
        with out.open(newline="", encoding="utf-8") as file:
            found = list(csv.DictReader(file, delimiter="," if suffix == ".csv" else "\t"))
        for row in found:
            row["tags"] = [t for t in row["tags"].split(";") if t]
    scores = model.scores([row[1] for row in rows])
    assert [row["number"] for row in found] == [row[0] for row in rows]
    for row, chosen in zip(found, scores.chosen):
        assert len(row["tags"]) == (chosen.sum() if row["text"] else 0)


def test_shards_leave_no_trace_in_the_bytes(model, pages, tmp_path, monkeypatch):
    tag(model, pages, tmp_path / "whole.csv")
    monkeypatch.setattr(module, "BATCH", 5)
    monkeypatch.setattr(module, "SHARD", 3)
    tag(model, pages, tmp_path / "cut.csv")
    assert (tmp_path / "cut.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.csv", "pages.csv", "whole.csv"]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_batches_of_few_bytes_leave_no_trace_either(model, pages, tmp_path, monkeypatch, suffix):
    source = tmp_path / f"in{suffix}"
    tag(model, pages, source)
    tag(model, source, tmp_path / "whole.jsonl", column="again")
    monkeypatch.setattr(module, "stream", partial(module.stream, batch_bytes=300))
    tag(model, source, tmp_path / "cut.jsonl", column="again")
    assert (tmp_path / "cut.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_an_existing_file_is_refused_and_unchanged(model, pages, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    with pytest.raises(SettingsError, match="--overwrite"):
        tag(model, pages, out)
    assert out.read_text() == "precious"
    tag(model, pages, out, overwrite=True)
    assert len(read_csv(out)) == 104


@pytest.mark.parametrize("column", ["note", "number"])
def test_a_column_of_that_name_is_an_error_that_writes_nothing(model, pages, tmp_path, column):
    with pytest.raises(SettingsError, match=column):
        tag(model, pages, tmp_path / "deep" / "out.csv", column=column)
    assert [p.name for p in tmp_path.iterdir()] == ["pages.csv"]


@pytest.mark.parametrize(("options", "name"), [({"text": "nowhere"}, "out.csv"), ({}, "out.xlsx")])
def test_a_mistake_writes_nothing(model, pages, tmp_path, options, name):
    with pytest.raises(TagwrightError):
        tag(model, pages, tmp_path / name, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["pages.csv"]


def test_broken_input_in_the_middle_is_an_error_that_leaves_no_output(
    model, tmp_path, rows, write_csv, small_shards
):
    path = write_csv(tmp_path / "pages.csv", rows, header=HEADER)
    with path.open("a") as file:
        file.write("one,two,three,four\n")
    with pytest.raises(DataError):
        tag(model, path, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_missing_file_is_said(trained, tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        tag_file(trained, tmp_path / "nowhere.csv", tmp_path / "out.csv")


def test_a_header_without_rows_gives_a_header_without_rows(model, tmp_path, write_csv):
    done = tag(model, write_csv(tmp_path / "empty.csv", [], header=HEADER), tmp_path / "out.csv")
    assert done == Tagged(0, 0, 0)
    assert read_csv(tmp_path / "out.csv") == [[*HEADER, "tags", "tags_scores"]]


def test_inert_cells_on_request_and_by_default_as_they_are(model, tmp_path, write_csv):
    path = write_csv(
        tmp_path / "p.csv", [("=1+1", "paris", "+x"), ("a", "@rome", "b")], header=HEADER
    )
    tag(model, path, tmp_path / "plain.csv")
    tag(model, path, tmp_path / "inert.csv", inert=True)
    assert [row[:3] for row in read_csv(tmp_path / "plain.csv")[1:]] == [
        ["=1+1", "paris", "+x"],
        ["a", "@rome", "b"],
    ]
    assert [row[:3] for row in read_csv(tmp_path / "inert.csv")[1:]] == [
        ["'=1+1", "paris", "'+x"],
        ["a", "'@rome", "b"],
    ]


def test_making_cells_inert_does_not_change_the_tags(model, tmp_path, write_csv):
    path = write_csv(tmp_path / "p.csv", [("1", "-paris rome", "x")], header=HEADER)
    for name, inert in (("a.csv", False), ("b.csv", True)):
        tag(model, path, tmp_path / name, inert=inert)
    assert read_csv(tmp_path / "a.csv")[1][3:] == read_csv(tmp_path / "b.csv")[1][3:]


def test_the_column_and_the_separator_can_be_named(model, pages, tmp_path):
    tag(model, pages, tmp_path / "out.csv", column="topics", separator=" | ")
    header, *found = read_csv(tmp_path / "out.csv")
    assert header[3:] == ["topics", "topics_scores"]
    assert any(" | " in row[3] for row in found) or not any(";" in row[3] for row in found)


def test_a_file_that_carries_labels_too_is_tagged_by_its_text(model, source, tmp_path):
    tag(model, source, tmp_path / "out.csv")
    assert read_csv(tmp_path / "out.csv")[0] == ["id", "text", "labels", "tags", "tags_scores"]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(trained, tmp_path):
    def peak(count):
        path = tmp_path / f"{count}.csv"
        with path.open("w") as file:
            file.write("id,text\n")
            file.writelines(
                f"{n},the paris hammer number {n} of some very long list of words\n"
                for n in range(count)
            )
        code = f"""
            import resource
            from pathlib import Path
            from tagwright.pipelines.tag import tag_file
            tag_file(*map(Path, {[str(trained), str(path), str(tmp_path / f"{count}.out.csv")]}))
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout) / 1024

    small, large = peak(140_000), peak(600_000)
    assert large < small + 60, f"{small:.0f} MB for 140,000 rows, {large:.0f} MB for 600,000"


def nested(path):
    """A JSON lines file with a list, a struct and a list of numbers beside the text."""
    row = {
        "text": "paris rome",
        "keywords": ["a", "b"],
        "place": {"x": 1, "y": None},
        "sizes": [1.5, 2.0],
    }
    rows = [row, {**row, "keywords": [], "place": None}]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def test_lists_of_strings_are_joined_in_a_flat_file_and_other_nested_columns_are_json(
    model, tmp_path
):
    tag(model, nested(tmp_path / "in.jsonl"), tmp_path / "out.csv", separator="|", text="text")
    with (tmp_path / "out.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["keywords"], second["keywords"]) == ("a|b", "")
    assert (json.loads(first["place"]), second["place"]) == ({"x": 1, "y": None}, "")
    assert json.loads(first["sizes"]) == [1.5, 2.0]


def test_nested_columns_stay_nested_where_the_format_has_them(model, tmp_path):
    tag(model, nested(tmp_path / "in.jsonl"), tmp_path / "out.parquet", text="text")
    assert parquet.read_table(tmp_path / "out.parquet")["keywords"].to_pylist() == [["a", "b"], []]


def test_bytes_that_are_no_text_are_an_error_that_names_other_formats(model, tmp_path):
    parquet.write_table(
        pa.table({"text": ["paris"], "image": [b"\xff\xfe"]}), tmp_path / "in.parquet"
    )
    with pytest.raises(DataError, match=r"write \.jsonl or \.parquet"):
        tag(model, tmp_path / "in.parquet", tmp_path / "out.csv")


def test_a_label_that_contains_the_separator_is_refused(model, pages, tmp_path):
    with pytest.raises(
        SettingsError, match="label 'city' contains the separator 't'; choose another --separator"
    ):
        tag(model, pages, tmp_path / "out.csv", separator="t")
    tag(model, pages, tmp_path / "out.jsonl", separator="t")  # lists need none


@pytest.mark.parametrize("option", ["separator", "column"])
def test_an_empty_option_is_refused(model, pages, tmp_path, option):
    with pytest.raises(SettingsError, match=f"--{option} is empty"):
        tag(model, pages, tmp_path / "out.csv", **{option: ""})


@pytest.mark.parametrize("name", ["out.csv", "out"])
def test_a_folder_as_output_is_refused_before_the_work(model, pages, tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(SettingsError, match="is a folder"):
        tag(model, pages, tmp_path / name, overwrite=True)


def test_columns_that_the_model_reads_and_the_file_lacks_are_said(trained, tmp_path, write_csv):
    path = write_csv(tmp_path / "n3.csv", [("1", "paris")], header=("id", "msg"))
    with pytest.raises(
        DataError, match=r"the model reads columns text; n3\.csv has id, msg; name them with --text"
    ):
        tag_file(trained, path, tmp_path / "out.csv")
    with pytest.raises(DataError, match="unknown text column 'mag'; did you mean 'msg'"):
        tag_file(trained, path, tmp_path / "out.csv", text="mag")
    assert list(tmp_path.iterdir()) == [path]

"""Tagging files with a tagger of tokens: keywords stand where they are said to, in every format."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.inference.tag import tag
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.tag import tag_file

from ..tagged_pages import quick, tagged_rows, write_conll, write_jsonl

TEXTS = [
    "the 😀 paris of\u3000apple pear",
    "the Rome of rome and ROME with hammer;saw",
    "",
    "  \u3000 ",
    "of cafe\u0301 paris\u00a0rome 手机 oslo\tthe",
    "of the very",
    " \u3000paris\n\nrome the of apple",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tagger")
    write_conll(made / "pages" / "train.conll", tagged_rows(80))
    write_conll(made / "pages" / "dev.conll", tagged_rows(20, seed=1))
    fit_folder(str(made / "pages"), quick(fit={"epochs": 8}), out=made / "model")
    return made / "model"


@pytest.fixture(scope="module")
def tagger(folder):
    return model_folder.load(folder)


def write_texts(path, texts=TEXTS):
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("id", "text"), *enumerate(texts)])
    elif path.suffix == ".jsonl":
        write_jsonl(path, [{"id": number, "text": text} for number, text in enumerate(texts)])
    else:
        pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    return path


def read_rows(path):
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    return (
        [json.loads(line) for line in path.open()]
        if path.suffix == ".jsonl"
        else pq.read_table(path).to_pylist()
    )


@pytest.mark.parametrize("out", [".jsonl", ".parquet"])
@pytest.mark.parametrize("source", [".csv", ".jsonl", ".parquet"])
def test_keywords_stand_in_the_text_as_given(tagger, tmp_path, source, out):
    done = tag(tagger, write_texts(tmp_path / f"in{source}"), tmp_path / f"out{out}")
    rows = read_rows(tmp_path / f"out{out}")
    assert [row["text"] for row in rows] == TEXTS
    assert [not row["keywords"] for row in rows][2:4] == [True, True]
    assert (done.rows, done.empty, done.without) == (7, 2, sum(not row["keywords"] for row in rows))
    assert any(len(one["spans"]) > 1 for row in rows for one in row["keywords"])
    for row in rows:
        scores = [one["score"] for one in row["keywords"]]
        assert scores == sorted(scores, reverse=True)
        assert len({(one["text"].casefold(), one["type"]) for one in row["keywords"]}) == len(
            scores
        )
        for one in row["keywords"]:
            assert 0 < one["score"] <= 1
            assert row["text"][one["spans"][0]["start"] : one["spans"][0]["end"]] == one["text"]
            for span in one["spans"]:
                assert row["text"][span["start"] : span["end"]].casefold() == one["text"].casefold()


@pytest.mark.parametrize("separator", [";", "|", ","])
def test_a_csv_has_as_many_types_scores_and_spans_as_keywords(tagger, tmp_path, separator):
    source = write_texts(tmp_path / "in.csv")
    tag(tagger, source, tmp_path / "out.csv", separator=separator)
    tag(tagger, source, tmp_path / "out.jsonl")
    for cells, row in zip(read_rows(tmp_path / "out.csv"), read_rows(tmp_path / "out.jsonl")):
        names = ("keywords", "keywords_types", "keywords_scores", "keywords_spans")
        parts = [cells[name].split(separator) if cells[name] else [] for name in names]
        assert {len(part) for part in parts} == {len(row["keywords"])}
        assert parts[0] == [one["text"].replace(separator, " ") for one in row["keywords"]]
        assert [float(score) for score in parts[2]] == [one["score"] for one in row["keywords"]]
        spans = [
            [[*map(int, s.split("-"))] for s in cell.replace(" ", ",").split(",")]
            for cell in parts[3]
        ]
        assert spans == [[[s["start"], s["end"]] for s in one["spans"]] for one in row["keywords"]]


@pytest.mark.parametrize("separator", [".", "-", "7", "--"])
def test_a_separator_that_stands_in_numbers_is_refused(tagger, tmp_path, separator):
    with pytest.raises(SettingsError, match="stands in numbers"):
        tag(tagger, write_texts(tmp_path / "in.csv"), tmp_path / "out.csv", separator=separator)
    tag(tagger, tmp_path / "in.csv", tmp_path / "out.jsonl", separator=separator)  # lists need none


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string())])
def test_given_tokens_are_not_cut_again(tagger, tmp_path, kind):
    rows = [
        *(tokens for tokens, _ in tagged_rows(6, seed=3)),
        None,
        [],
        ["of paris", "the"],
        ["a", None, "rome"],
    ]
    pq.write_table(pa.table({"tokens": pa.array(rows, kind)}), tmp_path / "in.parquet")
    done = tag(tagger, tmp_path / "in.parquet", tmp_path / "out.jsonl")
    found = read_rows(tmp_path / "out.jsonl")
    assert (done.rows, done.empty) == (10, 2)
    for tokens, row in zip(rows, found):
        text = " ".join(token or "" for token in tokens or [])
        edges = {0, len(text)} | {place for place, letter in enumerate(text) if letter == " "}
        for one in row["keywords"]:
            for span in one["spans"]:
                assert text[span["start"] : span["end"]].casefold() == one["text"].casefold()
                assert span["end"] in edges


def test_a_column_of_tokens_may_have_any_name(folder, tmp_path):
    rows = [{"wort": tokens, "art": tags} for tokens, tags in tagged_rows(30)]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    given = quick(data={"text": "wort", "labels": "art"}, fit={"epochs": 1})
    fit_folder(str(source), given, out=tmp_path / "model")
    assert tag_file(tmp_path / "model", source, tmp_path / "out.jsonl", device="cpu").rows == 30
    assert tag_file(folder, source, tmp_path / "other.jsonl", device="cpu", text="wort").rows == 30


def test_the_column_may_be_named_and_never_covers_another(tagger, tmp_path):
    source = write_texts(tmp_path / "in.jsonl")
    tag(tagger, source, tmp_path / "out.jsonl", column="found")
    assert "found" in read_rows(tmp_path / "out.jsonl")[0]
    with pytest.raises(SettingsError, match="has a column 'text' already"):
        tag(tagger, source, tmp_path / "other.jsonl", column="text")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_stopped_anywhere_it_goes_on_to_the_same_rows(
    tagger, tmp_path, small_shards, batches, suffix
):
    source = write_texts(
        tmp_path / "in.jsonl", [" ".join(tokens) for tokens, _ in tagged_rows(80, seed=2)]
    )
    left = iter(range(batches))

    def progress(rows):
        if rows and next(left, None) is None:
            raise KeyboardInterrupt

    tag(tagger, source, tmp_path / f"whole{suffix}")
    with pytest.raises(KeyboardInterrupt):
        tag(tagger, source, tmp_path / f"out{suffix}", progress=progress)
    assert tag(tagger, source, tmp_path / f"out{suffix}", resume=True).rows == 80
    assert read_rows(tmp_path / f"out{suffix}") == read_rows(tmp_path / f"whole{suffix}")


@pytest.mark.parametrize(
    ("way", "package"), [("auto", None), ("jieba", "jieba"), ("fugashi", "fugashi")]
)
def test_pages_without_blanks_are_cut_as_they_were_or_as_asked(way, package, tmp_path):
    if package:
        pytest.importorskip(package)
    texts = [
        "红色手机壳",
        "新款手机包邮",
        "黑色电脑包",
        "买手机送壳",
        "电脑桌红色",
        "手机电脑都有",
    ] * 5
    marks = [
        ["B-P" if text[i : i + 2] in ("手机", "电脑") else "O" for i in range(len(text))]
        for text in texts
    ]
    tags = [
        ["I-P" if i and row[i - 1] == "B-P" else one for i, one in enumerate(row)] for row in marks
    ]
    source = write_conll(
        tmp_path / "pages.conll", [(list(text), row) for text, row in zip(texts, tags)]
    )
    outcome = fit_folder(
        str(source), quick(data={"cut": way}, fit={"epochs": 12}), out=tmp_path / "model"
    )
    model = model_folder.load(tmp_path / "model")
    assert model.inference.data.cut == ("characters" if way == "auto" else way)
    write_texts(tmp_path / "in.jsonl", ["我要手机。", "東京\u3000手机"])
    tag(model, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    for row in read_rows(tmp_path / "out.jsonl"):
        for one in row["keywords"]:
            assert row["text"][one["spans"][0]["start"] : one["spans"][0]["end"]] == one["text"]
    if way == "auto":
        assert outcome.metrics["entity_f1"] > 0.8
        assert "手机" in {one["text"] for one in read_rows(tmp_path / "out.jsonl")[0]["keywords"]}

"""Named heads that tag tokens, alone, beside each other and beside labels of texts."""

import json
from pathlib import Path
from typing import Any

import pytest

from tagwright.data import Data, read_data
from tagwright.data.dataset import HeadColumns, of_head
from tagwright.data.find_columns import MissingColumn
from tagwright.errors import DataError

SENTENCES = [
    {"tokens": ["Ann", "left"], "ner": ["I-PER", "O"], "pos": ["N", "V"], "topics": ["people"]},
    {
        "tokens": ["Bo", "saw", "Rome"],
        "ner": ["B-PER", "O", "B-LOC"],
        "pos": ["N", "V", "N"],
        "topics": ["travel"],
    },
    {"tokens": ["rain"], "ner": None, "pos": ["N"], "topics": ["weather", "travel"]},
]


def save(path: Path, rows: str | list[dict[str, Any]]) -> Path:
    content = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(content, encoding="utf-8")
    return path


def rows_of(data: Data, column: str) -> list[Any]:
    rows: list[Any] = data.first[column].to_pylist()
    return rows


def test_two_columns_of_tags_and_one_of_labels_are_three_heads_over_one_text(
    tmp_path: Path,
) -> None:
    heads: dict[str, Any] = {"ner": {}, "topics": {}, "pos": {"task": "tokens"}}
    data = read_data(save(tmp_path / "a.jsonl", SENTENCES), heads=heads)
    assert data.task == "both"
    assert [head.task for head in data.heads.values()] == ["tokens", "many", "tokens"]
    assert rows_of(data, "text") == ["Ann left", "Bo saw Rome", "rain"]
    assert rows_of(data, "starts") == [[0, 4], [0, 3, 7], [0]]
    assert rows_of(data, "tags/ner") == [["B-PER", "O"], ["B-PER", "O", "B-LOC"], None]
    assert rows_of(data, "tags/pos") == [["N", "V"], ["N", "V", "N"], ["N"]]
    assert rows_of(data, "labels") == [
        ["topics=people"],
        ["topics=travel"],
        ["topics=weather", "topics=travel"],
    ]
    assert "ner: tags: column 'ner', 3 tags" in data.found
    assert "ner: mended: 1 tags that cannot stand where they are; --strict names them" in data.found


def test_heads_over_tokens_alone_leave_labels_as_the_token_task_does(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "topics"} for row in SENTENCES]
    data = read_data(save(tmp_path / "a.jsonl", rows), heads={"ner": {}, "pos": {}})
    assert data.task == "tokens"
    assert rows_of(data, "labels") == [None, None, None]
    assert of_head(data.first, "pos").column_names == ["tokens", "text", "starts", "tags"]
    beside = [{**row, "label": label} for row, label in zip(rows, "xyx")]
    data = read_data(save(tmp_path / "b.jsonl", beside), heads={"ner": {}, "pos": {}})
    assert (data.task, rows_of(data, "labels")) == ("tokens", [["x"], ["y"], ["x"]])


def test_strict_refuses_tags_that_cannot_stand_and_names_head_row_and_token(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", SENTENCES)
    with pytest.raises(
        DataError,
        match=r"^head 'ner': tags that cannot stand where they are: a.jsonl, row 1, token 1",
    ):
        read_data(path, heads={"topics": {}, "ner": {}}, strict=True)


def test_a_list_is_tags_only_where_it_has_an_item_for_each_token_of_every_row(
    tmp_path: Path,
) -> None:
    rows = [
        *SENTENCES,
        {"tokens": ["so", "it", "is"], "ner": ["O", "O", "O"], "pos": ["A", "B"], "topics": []},
    ]
    data = read_data(save(tmp_path / "a.jsonl", rows), heads={"ner": {}, "pos": {}})
    assert [head.task for head in data.heads.values()] == ["tokens", "many"]
    with pytest.raises(DataError, match=r"^head 'pos': a.jsonl, row 4: 3 tokens but 2 tags"):
        read_data(tmp_path / "a.jsonl", heads={"pos": {"task": "tokens"}})
    assert (
        read_data(
            tmp_path / "a.jsonl", heads={"ner": {"task": "many"}, "topics": {}}, text="tokens"
        ).task
        == "many"
    )


def test_tokens_and_tags_may_be_strings_where_the_task_says_so(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "sentence,ner,topic\nAnn left,B O,x\nBo,B,y\n")
    data = read_data(path, text="sentence", heads={"ner": {"task": "tokens"}, "topic": {}})
    assert rows_of(data, "tokens") == [["Ann", "left"], ["Bo"]]
    assert rows_of(data, "labels/topic") == [["x"], ["y"]]
    assert read_data(path, text="sentence", heads={"ner": {}, "topic": {}}).task == "many"


def test_a_column_called_words_is_a_text_where_no_head_tags_tokens(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "words,kind\nsome words,x\nmore  words,y\n")
    data = read_data(path, text="words", heads={"kind": {}})
    assert (rows_of(data, "text"), data.text_columns) == (["some words", "more  words"], ("words",))


def test_a_text_named_beside_tokens_is_kept_where_starts_says_where_they_are(
    tmp_path: Path,
) -> None:
    rows = [{**row, "body": " ".join(row["tokens"]).replace(" ", "  ")} for row in SENTENCES]
    path = save(tmp_path / "a.jsonl", rows)
    with pytest.raises(
        DataError, match="column 'body' beside the tokens of 'tokens' needs a column 'starts'"
    ):
        read_data(path, text="body", heads={"ner": {}})
    starts = [[0, 5], [0, 4, 9], [0]]
    path = save(
        tmp_path / "b.jsonl", [{**row, "starts": start} for row, start in zip(rows, starts)]
    )
    data = read_data(path, text="body", heads={"ner": {}})
    assert (rows_of(data, "text")[0], rows_of(data, "starts")) == ("Ann  left", starts)
    assert data.text_columns == ("body",)


def test_the_text_is_that_of_the_tokens_even_where_their_tags_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": str(at), "tokens": row["tokens"], "topics": row["topics"]}
        for at, row in enumerate(SENTENCES)
    ]
    heads: dict[str, Any] = {"ner": {"task": "tokens"}, "topics": {}}
    data = read_data(save(tmp_path / "a.jsonl", rows), heads=heads, optional=True)
    assert (data.task, rows_of(data, "text")[0]) == ("many", "Ann left")


def test_a_column_is_not_tags_for_one_head_and_labels_for_another(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", SENTENCES)
    with pytest.raises(
        DataError, match="column 'pos' cannot hold tags of tokens for head 'a' and labels of texts"
    ):
        read_data(path, heads={"a": {"labels": "pos"}, "b": {"labels": "pos", "task": "many"}})


def test_the_shop_has_labels_and_tags_for_heads() -> None:
    plain, data = (
        read_data("shop"),
        read_data("shop", heads={"goods": {"labels": "labels"}, "tags": {}}),
    )
    assert data.task == "both"
    assert {name: head.task for name, head in data.heads.items()} == {
        "goods": "many",
        "tags": "tokens",
    }
    for name, table in plain.tables.items():
        assert data.tables[name]["labels/goods"].equals(table["labels"])
        assert data.tables[name]["tags/tags"].equals(table["tags"])
        assert (
            data.tables[name]
            .select(["id", "text", "starts"])
            .equals(table.select(["id", "text", "starts"]))
        )
    with pytest.raises(
        MissingColumn,
        match=r"^head 'label': shop: unknown label column 'label'; did you mean 'labels'",
    ):
        read_data("shop", heads={"label": {}})
    with pytest.raises(DataError, match="has its own columns; leave text and labels out"):
        read_data("shop", text="text", heads={"labels": {}})


def test_task_both_without_heads_is_the_heads_main_and_tags(tmp_path: Path) -> None:
    rows = [{**row, "labels": "p;q" if at else "p"} for at, row in enumerate(SENTENCES)]
    data = read_data(save(tmp_path / "a.jsonl", rows), task="both", labels="ner", separator=";")
    assert data.heads == {
        "main": HeadColumns(task="many", columns=("labels",), separator=";"),
        "tags": HeadColumns(task="tokens", columns=("ner",)),
    }
    assert data.first.column_names == ["tokens", "tags", "text", "starts", "labels"]
    shop = read_data("shop", task="both")
    assert [(name, head.task, head.columns) for name, head in shop.heads.items()] == [
        ("main", "many", ("labels",)),
        ("tags", "tokens", ("tags",)),
    ]

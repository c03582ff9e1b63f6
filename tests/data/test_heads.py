"""Several named heads read one source: each its own columns, its own form and task, beside one
text.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tagwright.data import Data, read_data
from tagwright.data.dataset import HeadColumns, of_head
from tagwright.data.find_columns import MissingColumn
from tagwright.errors import DataError

MAILS = (
    "mail,topic,urgency\nthe boat sank,sea,high\nthe tree fell,land,\nthe ship came,sea,low\nno"
    " news,,\n"
)
BOTH: dict[str, Any] = {"topic": {}, "urgency": {}}


def save(path: Path, content: str | list[dict[str, Any]]) -> Path:
    if not isinstance(content, str):
        content = "".join(json.dumps(row) + "\n" for row in content)
    path.write_text(content, encoding="utf-8")
    return path


def rows_of(data: Data, column: str) -> list[Any]:
    rows: list[Any] = data.first[column].to_pylist()
    return rows


# one file, several label columns


def test_each_head_reads_the_column_of_its_name_and_an_empty_cell_is_unlabelled_for_it_alone(
    tmp_path: Path,
) -> None:
    data = read_data(save(tmp_path / "a.csv", MAILS), heads=BOTH)
    assert rows_of(data, "labels/topic") == [["sea"], ["land"], ["sea"], None]
    assert rows_of(data, "labels/urgency") == [["high"], None, ["low"], None]
    assert data.first.column_names == ["text", "labels", "labels/topic", "labels/urgency"]


def test_labels_are_those_of_all_heads_and_null_only_where_every_head_is(tmp_path: Path) -> None:
    data = read_data(save(tmp_path / "a.csv", MAILS), heads=BOTH)
    together = [["topic=sea", "urgency=high"], ["topic=land"], ["topic=sea", "urgency=low"], None]
    assert rows_of(data, "labels") == together
    assert data.size == (4, 4)
    lists = [
        {"text": "a", "p": ["x"], "q": None},
        {"text": "b", "p": [], "q": None},
        {"text": "c", "p": ["y", "x"], "q": ["z", "w"]},
    ]
    data = read_data(save(tmp_path / "a.jsonl", lists), heads={"p": {}, "q": {}})
    assert rows_of(data, "labels") == [["p=x"], [], ["p=y", "p=x", "q=z", "q=w"]]


def test_heads_are_told_in_their_order_with_task_columns_and_separator(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,kinds,level\na,x;y,low\nb,x,high\nc,y;x,low\n")
    data = read_data(path, heads={"grade": {"labels": "level"}, "kinds": {}})
    assert list(data.heads.items()) == [
        ("grade", HeadColumns(task="one", columns=("level",), separator="none")),
        ("kinds", HeadColumns(task="many", columns=("kinds",), separator=";")),
    ]
    assert (data.task, data.text_columns, data.label_columns) == (
        "many",
        ("text",),
        ("level", "kinds"),
    )
    assert data.found == (
        "text: column 'text'",
        "grade: labels: column 'level', 2 labels",
        "grade: task: one label a text",
        "kinds: labels: column 'kinds', split at ';', 2 labels",
        "kinds: task: several labels a text",
    )


def test_a_column_of_a_head_is_never_taken_for_the_text(tmp_path: Path) -> None:
    path = save(
        tmp_path / "a.csv",
        "subject,body,note\ncats,x,Please do call back\ndogs,y,Do not call\ncats,x,Hm\n",
    )
    assert read_data(path, heads={"subject": {}}).text_columns == ("body",)
    data = read_data(path, heads={"subject": {}, "body": {}})
    assert data.text_columns == ("note",)
    with pytest.raises(DataError, match="column 'body' cannot be text and label at once"):
        read_data(path, text="body", heads={"subject": {}, "body": {}})


def test_a_head_keeps_its_own_separator_and_takes_the_common_one_else(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,p,q,r\na,x/y,u+v,s/t\nb,x,u,s/t\nc,y,v,o\n")
    data = read_data(
        path, separator="/", heads={"p": {}, "q": {"separator": "+"}, "r": {"separator": "none"}}
    )
    assert [rows_of(data, f"labels/{name}")[0] for name in "pqr"] == [
        ["x", "y"],
        ["u", "v"],
        ["s/t"],
    ]
    assert data.separator == "/"


def test_columns_of_0_and_1_stand_beside_a_single_column(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,rude,loud,kind\na,1,1,x\nb,0,0,y\nc,1,,x\nd,,,y\n")
    data = read_data(path, heads={"tone": {"labels": "rude, loud"}, "kind": {}})
    assert rows_of(data, "labels/tone") == [["rude", "loud"], [], ["rude"], None]
    assert rows_of(data, "unknown/tone") == [[], [], ["loud"], ["rude", "loud"]]
    assert "unknown/kind" not in data.first.column_names
    assert data.heads["tone"].columns == ("rude", "loud")
    assert rows_of(data, "labels")[1] == ["kind=y"]


def test_soft_labels_of_one_head_leave_the_other_hard(tmp_path: Path) -> None:
    path = save(
        tmp_path / "a.csv",
        "text,mood,kind\na,glad:0.7;sad:.25,x\nb,glad:1,y\nc,,x\nd,sad:0.5;calm:0,y\n",
    )
    data = read_data(path, heads={"mood": {}, "kind": {"task": "one"}})
    assert rows_of(data, "labels/mood") == [["glad", "sad"], ["glad"], [], ["sad", "calm"]]
    assert rows_of(data, "values/mood") == [
        pytest.approx(values) for values in ([0.7, 0.25], [1.0], [], [0.5, 0.0])
    ]
    assert "values/kind" not in data.first.column_names


def test_task_one_makes_no_label_unlabelled_for_that_head(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "p": ["x"], "q": ["u"]},
        {"text": "b", "p": [], "q": []},
        {"text": "c", "p": ["y"], "q": ["v"]},
    ]
    data = read_data(save(tmp_path / "a.jsonl", rows), heads={"p": {"task": "one"}, "q": {}})
    assert rows_of(data, "labels/p")[1] is None
    assert rows_of(data, "labels/q")[1] == []
    assert [head.task for head in data.heads.values()] == ["one", "many"]


def test_each_head_reads_as_a_single_column_does(tmp_path: Path) -> None:
    path = save(
        tmp_path / "a.csv", "text,p,q\na,x;y,\"['u', 'v']\"\nb,x,\nc,y;x,['u']\nd,y,['v']\n"
    )
    data = read_data(path, heads={"p": {}, "q": {}})
    for name in "pq":
        alone = read_data(path, labels=name)
        assert of_head(data.first, name).equals(alone.first)
        assert data.heads[name] == HeadColumns(
            task=alone.task, columns=(name,), separator=alone.separator
        )


def test_two_heads_may_read_one_column(tmp_path: Path) -> None:
    data = read_data(
        save(tmp_path / "a.csv", MAILS), heads={"a": {"labels": "topic"}, "b": {"labels": "topic"}}
    )
    assert rows_of(data, "labels")[0] == ["a=sea", "b=sea"]
    assert data.label_columns == ("topic",)


def test_id_group_and_weight_stay_unless_a_head_reads_them(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "id,text,group,weight,kind\n1,a,g,2,x\n2,b,h,3,y\n")
    assert rows_of(read_data(path, heads={"kind": {}}), "weight") == [2.0, 3.0]
    data = read_data(path, heads={"group": {}, "kind": {}})
    assert data.first.column_names == [
        "text",
        "labels",
        "labels/group",
        "labels/kind",
        "id",
        "weight",
    ]


# sources


def test_a_folder_gives_its_splits_and_settles_each_task_over_all_of_them(tmp_path: Path) -> None:
    parts = {"train": [["x"], ["y"]], "dev": [["x"]], "test": [["y", "x"]]}
    for name, kinds in parts.items():
        columns = {
            "text": [f"{name} {at}" for at in range(len(kinds))],
            "kind": kinds,
            "level": ["low", "high"][: len(kinds)],
        }
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    data = read_data(tmp_path, heads={"kind": {}, "level": {}})
    assert {name: table["labels/kind"].to_pylist() for name, table in data.tables.items()} == parts
    assert data.tables["test"]["labels"].to_pylist() == [["kind=y", "kind=x", "level=low"]]
    assert [head.task for head in data.heads.values()] == ["many", "one"]


def test_a_column_split_gives_the_splits_of_every_head(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,p,q,split\na,x,u,train\nb,y,v,dev\nc,x,v,train\n")
    data = read_data(path, heads={"p": {}, "q": {}})
    assert data.tables["train"]["labels/q"].to_pylist() == [["u"], ["v"]]
    assert data.tables["dev"]["labels/p"].to_pylist() == [["y"]]


def test_without_heads_there_are_none(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", MAILS)
    for data in (
        read_data(path, labels="topic"),
        read_data(path, labels="topic", heads={}),
        read_data("shop"),
    ):
        assert data.heads == {}
        assert not any("/" in name for name in data.first.column_names)


# heads whose columns are not there


def test_a_missing_column_names_the_head_the_nearest_and_all_columns(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", MAILS)
    message = (
        r"^head 'urgent': a.csv: unknown label column 'urgent'; did you mean 'urgency'\? Choices:"
        r" mail, topic, urg"
    )
    with pytest.raises(MissingColumn, match=message):
        read_data(path, heads={"topic": {}, "urgent": {}})


def test_an_optional_head_without_its_column_is_left_out_and_told(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", MAILS)
    data = read_data(path, heads={"mood": {"task": "many"}, **BOTH}, optional=True)
    assert list(data.heads) == ["topic", "urgency"]
    assert data.found[-1] == "mood: left out, nothing in column 'mood'"


def test_one_optional_head_must_be_there(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", MAILS)
    message = (
        r"no column of the heads 'topics', 'mood': unknown label column 'topics'; did you mean"
        r" 'topic'\?"
    )
    with pytest.raises(MissingColumn, match=message) as raised:
        read_data(path, heads={"topics": {}, "mood": {}}, optional=True)
    assert (raised.value.what, list(raised.value.columns)) == (
        "label",
        ["mail", "topic", "urgency"],
    )


def test_an_optional_head_with_some_of_its_columns_is_an_error(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,rude,kind\na,1,x\nb,0,y\n")
    with pytest.raises(MissingColumn, match="unknown label column 'loud'"):
        read_data(path, heads={"tone": {"labels": "rude,loud"}, "kind": {}}, optional=True)


# what is refused


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ({"2nd": {}}, "^head '2nd': a head's name is a letter of a-z"),
        ({"a=b": {"labels": "topic"}}, "^head 'a=b': a head's name"),
        ({"topic": {"task": "both"}}, "^head 'topic': a head has one task"),
        ({"topic": {"task": "multi"}}, "^head 'topic': unknown task 'multi'"),
        (
            {"topic": {"label": "topic"}},
            "^head 'topic': unknown key 'label'; did you mean 'labels'",
        ),
        ({"topic": {"separator": ""}}, "^head 'topic': the separator is empty"),
        ({"topic": {"labels": []}}, "^head 'topic'.*it names no column"),
        (
            {"topic": {"task": "tokens"}},
            "^head 'topic': a.csv: no column of tokens among 'mail', 'topic', 'urgency'",
        ),
        (
            {"t": {"labels": "topic,urgency", "task": "tokens"}},
            "^head 't': a.csv: tags of tokens are one column, got 'topic', 'urgency'",
        ),
        (
            {"t": {"labels": "topic, mail"}},
            "^head 't' of columns 'topic', 'mail': a.csv, row 1, column 'topic': 'sea'",
        ),
    ],
)
def test_a_wrong_head_is_one_clear_error_that_names_it(
    tmp_path: Path, heads: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_data(save(tmp_path / "a.csv", MAILS), heads=heads)


@pytest.mark.parametrize(("level", "message"), [("x", "found only 'x'"), ("", "found none")])
def test_a_head_with_fewer_than_two_labels_is_an_error(
    tmp_path: Path, level: str, message: str
) -> None:
    path = save(tmp_path / "a.csv", f"text,kind,level\na,x,{level}\nb,y,{level}\n")
    with pytest.raises(DataError, match=rf"^head 'grade': a.csv, column 'level': .* {message}"):
        read_data(path, heads={"kind": {}, "grade": {"labels": "level"}})


def test_two_labels_under_task_one_name_head_and_row(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", "text,kind,level\na,x,l\nb,y,l;m\n")
    with pytest.raises(DataError, match=r"^head 'level': a.csv, row 2: 2 labels \('l', 'm'\)"):
        read_data(path, heads={"kind": {}, "level": {"task": "one", "separator": ";"}})
    message = r"^head 'grade' of column 'level': a.csv, row 2: 2 labels"
    with pytest.raises(DataError, match=message):
        read_data(path, heads={"grade": {"labels": "level", "task": "one", "separator": ";"}})


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"labels": "topic"}, "leave out labels"),
        ({"task": "one"}, "and not one; leave out the task"),
    ],
)
def test_labels_or_another_task_beside_heads_are_an_error(
    tmp_path: Path, beside: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_data(save(tmp_path / "a.csv", MAILS), heads=BOTH, **beside)


def test_the_task_that_heads_make_may_stand_beside_them(tmp_path: Path) -> None:
    assert read_data(save(tmp_path / "a.csv", MAILS), heads=BOTH, task="many").task == "many"


def test_one_head_alone_has_the_columns_of_a_source_without_heads(tmp_path: Path) -> None:
    data = read_data(save(tmp_path / "a.csv", MAILS), heads={"topic": {}})
    assert (data.first.column_names, data.task, [*data.heads]) == (
        ["text", "labels"],
        "one",
        ["topic"],
    )
    assert rows_of(data, "labels") == [["sea"], ["land"], ["sea"], None]
    tokens = [{"tokens": ["a", "b"], "ner": ["O", "B-X"]}]
    tagged = read_data(save(tmp_path / "b.jsonl", tokens), heads={"ner": {}})
    assert (tagged.task, rows_of(tagged, "tags")) == ("tokens", [["O", "B-X"]])
    assert tagged.marks(tagged.first).to_pylist() == [["O", "B-X"]]

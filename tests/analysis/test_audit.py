"""The audit: every count against plain loops, centroids against scikit-learn, warnings as
sentences.
"""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from tagwright.analysis.audit import Audit, audit
from tagwright.data import read_data
from tagwright.data.dataset import Data, Task
from tagwright.data.shop import shop


def data_of(task: Task = "many", **splits: list[tuple]) -> Data:
    tables = {
        name: pa.table(
            {
                "text": pa.array([text for text, _ in rows], pa.string()),
                "labels": pa.array([labels for _, labels in rows], pa.list_(pa.string())),
            }
        )
        for name, rows in splits.items()
    }
    return Data(tables=tables, task=task, source="test")


@pytest.fixture(scope="module")
def small() -> Audit:
    train = [
        ("Red  kite", ["toy/kite"]),
        ("red kite", ["toy/kite", "for/all"]),
        ("blue boat", ["toy/boat", "for/all"]),
        ("", []),
        (" \n", None),
        ("green boat with sail", ["toy/boat"]),
        ("boat", ["toy/boat"]),
        ("Boat ", ["toy/boat"]),
    ]
    dev = [
        ("RED KITE ", ["toy/kite"]),
        ("nothing", []),
        ("plane", ["toy/plane"]),
        ("plane two", ["toy/plane"]),
    ]
    return audit(data_of(train=train, dev=dev, test=[("plane", ["toy/plane"]), ("", [])]))


def test_parts_count_rows_empty_texts_and_labels(small: Audit) -> None:
    train, dev, _ = small.parts
    assert (train.name, train.rows, train.unlabelled, train.empty_texts) == ("train", 8, 1, 2)
    assert train.cardinality == pytest.approx(8 / 7)
    assert train.density == pytest.approx(8 / 7 / 4)
    assert train.without_label == pytest.approx(1 / 7)
    assert (dev.rows, dev.unlabelled, dev.without_label) == (4, 0, 0.25)


def test_lengths_are_quantiles_of_characters_and_words(small: Audit) -> None:
    assert small.parts[0].characters == {
        "least": 0,
        "tenth": 0,
        "median": 5,
        "ninetieth": 9,
        "most": 20,
    }
    assert small.parts[0].words == {"least": 0, "tenth": 0, "median": 1, "ninetieth": 2, "most": 4}


def test_labels_are_sorted_by_their_count_in_train(small: Audit) -> None:
    assert [(label.name, label.rows) for label in small.labels] == [
        ("toy/boat", {"train": 4, "dev": 0, "test": 0}),
        ("for/all", {"train": 2, "dev": 0, "test": 0}),
        ("toy/kite", {"train": 2, "dev": 1, "test": 0}),
        ("toy/plane", {"train": 0, "dev": 2, "test": 1}),
    ]


def test_tail_equals_the_mean_absolute_difference_form_of_gini(small: Audit) -> None:
    counts = [4, 2, 2]
    gini = sum(abs(one - other) for one in counts for other in counts) / (2 * 3 * sum(counts))
    assert small.tail.gini == pytest.approx(gini)
    assert (small.tail.rare, small.tail.rare_share, small.tail.head) == (3, 1.0, 1)


def test_unseen_labels_are_counted_by_split(small: Audit) -> None:
    assert small.unseen == {"dev": {"toy/plane": 2}, "test": {"toy/plane": 1}}


def test_copies_leaks_and_conflicts_name_their_rows(small: Audit) -> None:
    assert [(one.split, one.texts, one.surplus) for one in small.copies] == [("train", 2, 2)]
    assert [(one.first, one.second, one.texts, one.rows) for one in small.leaks] == [
        ("train", "dev", 1, 1),
        ("dev", "test", 1, 1),
    ]
    assert small.leaks[0].examples[0].text == "Red  kite"
    assert small.leaks[0].examples[0].rows == {"train": [0, 1], "dev": [0]}
    assert small.conflicts.texts == 1
    assert small.conflicts.examples[0].rows == {"train": [0, 1], "dev": [0]}


def test_groups_come_from_the_names(small: Audit) -> None:
    assert small.separator == "/"
    assert small.groups == {"toy": ["toy/boat", "toy/kite", "toy/plane"]}


def test_warnings_are_sentences_with_the_counts(small: Audit) -> None:
    assert small.warnings == (
        "2 texts of train are empty.",
        "1 row of train cannot be scored: no labels are given.",
        "1 text of test is empty.",
        "1 text of dev also stands in train: scores will flatter.",
        "1 text of test also stands in dev: scores will flatter.",
        "1 text is there more than once with different labels.",
        "2 rows of train are a copy of another row of it.",
        "1 label of dev is never seen in train, on 2 rows.",
        "1 label of test is never seen in train, on 1 row.",
        "3 labels of 4 are on fewer than 10 rows of train.",
    )


def test_clean_data_give_no_warning() -> None:
    rows = [(f"text number {row}", ["ab"[row % 2]]) for row in range(40)]
    assert audit(data_of(train=rows[:30], dev=rows[30:])).warnings == ()


def test_companions_and_their_lift_equal_plain_loops() -> None:
    data = shop(pages=400)
    rows = data.tables["train"]["labels"].to_pylist()
    for pair in audit(data).together:
        both = sum(pair.left in row and pair.right in row for row in rows)
        left, right = (sum(name in row for row in rows) for name in (pair.left, pair.right))
        assert pair.rows == both
        assert pair.lift == pytest.approx(both * len(rows) / (left * right))


def test_look_alikes_equal_centroids_of_scikit_learn() -> None:
    table = shop(pages=500).tables["train"]
    found = audit(Data(tables={"train": table}, task="many", source="test")).look_alikes
    words = (
        TfidfVectorizer(token_pattern=r"[^\W_]+").fit_transform(table["text"].to_pylist()).toarray()
    )
    rows = table["labels"].to_pylist()
    carry = {
        name: np.array([name in row for row in rows])
        for name in {name for row in rows for name in row}
    }
    center = {name: words[mask].mean(axis=0) for name, mask in carry.items() if mask.sum() >= 3}
    cosine = {}
    for left, right in combinations(sorted(center), 2):
        fewer = min(carry[left].sum(), carry[right].sum())
        if (carry[left] & carry[right]).sum() / fewer <= 0.5:
            length = np.linalg.norm(center[left]) * np.linalg.norm(center[right])
            cosine[left, right] = center[left] @ center[right] / length
    best = sorted(cosine.values(), reverse=True)[:20]
    np.testing.assert_allclose([pair.similarity for pair in found], best, rtol=1e-5)
    for pair in found:
        assert pair.similarity == pytest.approx(cosine[pair.left, pair.right], rel=1e-5)


def test_example_of_a_look_alike_is_its_text_nearest_to_the_other() -> None:
    rows = [("sharp steel knife", ["knife"]), ("bread knife", ["knife"]), ("old knife", ["knife"])]
    rows += [
        ("sharp steel axe", ["axe"]),
        ("wood axe", ["axe"]),
        ("sharp steel knife and axe", ["axe", "knife"]),
    ]
    (pair,) = audit(data_of(train=rows)).look_alikes
    assert (pair.left, pair.right) == ("axe", "knife")
    assert (pair.left_text, pair.right_text) == ("sharp steel axe", "sharp steel knife")
    assert pair.together == pytest.approx(1 / 3)


def test_labels_that_always_come_together_are_no_look_alikes() -> None:
    rows = [(f"text {row}", ["x11", "graphical"]) for row in range(9)] + [
        (f"text {row}", ["other"]) for row in range(5)
    ]
    assert {pair.right for pair in audit(data_of(train=rows)).look_alikes} == {"other", "x11"}
    assert all(
        "other" in (pair.left, pair.right) for pair in audit(data_of(train=rows)).look_alikes
    )


def test_chinese_texts_are_compared_by_character() -> None:
    rows = [("红色帐篷", ["a"])] * 3 + [("蓝色帐篷", ["b"])] * 3 + [("手机", ["c"])] * 3
    pair = audit(data_of(train=rows)).look_alikes[0]
    assert (pair.left, pair.right) == ("a", "b")
    assert 0.5 < pair.similarity < 1


def test_token_task_is_audited_by_its_tags() -> None:
    rows = {
        "text": ["a b", "c d"],
        "labels": pa.nulls(2, pa.list_(pa.string())),
        "tags": [["O", "B-X"], ["B-Y", "O"]],
    }
    found = audit(Data(tables={"train": pa.table(rows)}, task="tokens", source="test"))
    assert [label.name for label in found.labels] == ["B-X", "B-Y"]


def test_tags_are_sought_for_no_pairs_and_groups_and_their_words_are_tokens() -> None:
    tags = [["B-X", "I-X", "O"], ["B-Y", "I-Y"], ["O"]] * 5
    rows = {
        "text": ["点卡x", "手机", "a"] * 5,
        "labels": pa.nulls(15, pa.list_(pa.string())),
        "tags": tags,
    }
    found = audit(Data(tables={"train": pa.table(rows)}, task="tokens", source="test"))
    assert (found.together, found.look_alikes, found.groups) == ((), (), {})
    assert (found.parts[0].words["least"], found.parts[0].words["most"]) == (1, 3)
    assert "4 tags of 4 are on fewer than 10 rows of train." in found.warnings


def test_tokens_without_a_tag_but_o_are_a_warning() -> None:
    rows = {"text": ["a b"], "labels": pa.nulls(1, pa.list_(pa.string())), "tags": [["O", "O"]]}
    found = audit(Data(tables={"train": pa.table(rows)}, task="tokens", source="test"))
    assert "No token has another tag than O: there is nothing to learn." in found.warnings


@pytest.mark.parametrize(
    "rows", [[], [("text", None)], [("", [])], [("one", ["a"]), ("two", ["a"])]]
)
def test_hardly_any_data_is_a_warning_not_an_error(rows: list[tuple]) -> None:
    found = audit(data_of(train=rows))
    assert found.warnings[0].endswith("a tagger needs at least two.")
    assert found.look_alikes == ()


def test_dictionary_survives_json(small: Audit) -> None:
    content = json.loads(json.dumps(small.as_dict()))
    assert content["leaks"][0]["examples"][0]["rows"] == {"train": [0, 1], "dev": [0]}
    assert content["warnings"] == list(small.warnings)


def test_leaks_of_goemotions_are_the_texts_that_parts_share(real_data: Path) -> None:
    tables = {
        name: pq.read_table(real_data / "goemotions" / f"{name}.parquet")
        for name in ("train", "dev", "test")
    }
    found = audit(Data(tables=tables, task="many", source="goemotions"))
    texts = [
        {" ".join(text.lower().split()) for text in table["text"].to_pylist()}
        for table in tables.values()
    ]
    assert [leak.texts for leak in found.leaks] == [
        len(one & other) for one, other in combinations(texts, 2)
    ]


def test_how_the_data_were_read_is_part_of_the_audit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "text,labels\nred kite,toy;air\nblue boat,toy;sea\n" + "jet,air;toy\n" * 9
    )
    found = audit(read_data(tmp_path / "a.csv")).as_dict()["found"]
    assert "text: column 'text'" in found
    assert any("';'" in sentence for sentence in found)
    assert "task: several labels a text" in found


def test_pairs_at_or_below_chance_do_not_stand_together() -> None:
    rows = [
        (f"x{n}", ["a", "b"] if n < 2 else ["a"] if n < 6 else ["b", "c"] if n < 9 else ["b"])
        for n in range(12)
    ]
    lifts = {(pair.left, pair.right): pair.lift for pair in audit(data_of(all=rows)).together}
    assert lifts == {("b", "c"): pytest.approx(3 * 12 / (8 * 3))}  # a and b: 2 * 12 / (6 * 8) = 0.5


def test_labels_that_differ_only_in_case_or_spaces_are_warned_of() -> None:
    rows = [("one", ["Account"]), ("two", ["account"]), ("three", ["ac count", "mail"])]
    assert any(
        "'Account' and 'ac count' and 'account' differ only" in w
        for w in audit(data_of(all=rows)).warnings
    )


@pytest.mark.parametrize("name", ["NA", "nan", "null", "None", "N/A"])
def test_labels_that_look_like_a_missing_value_are_warned_of(name: str) -> None:
    warnings = audit(data_of(all=[("one", [name]), ("two", ["national"])])).warnings
    assert any(f"Label {name!r} looks like a missing value" in warning for warning in warnings)


def test_labels_of_several_heads_are_audited_together(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "text,kind,level\na b,x,low\nb c,y,low\nc d,x,\nd e,x,NA\ne f,,\n", encoding="utf-8"
    )
    found = audit(read_data(path, heads={"kind": {}, "level": {}}))
    assert [label.name for label in found.labels] == ["kind=x", "level=low", "kind=y", "level=NA"]
    assert (found.parts[0].unlabelled, found.task) == (1, "many")
    assert any(
        "Label 'level=NA' looks like a missing value" in warning for warning in found.warnings
    )


def test_tags_of_several_heads_are_audited_together(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"tokens": ["a", "b"], "pos": ["N", "V"], "ner": ["O", "B-X"]}\n', encoding="utf-8"
    )
    for heads in ({"pos": {}, "ner": {}}, {"ner": {}, "pos": {}}):
        assert [label.name for label in audit(read_data(path, heads=heads)).labels] == [
            "ner=B-X",
            "pos=N",
            "pos=V",
        ]

"""Splitting: shares, stratification against the row-by-row algorithm, units that stay together."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tagwright.data import read_data
from tagwright.data.dataset import Data, HeadColumns, Task
from tagwright.data.split import plain_texts, row_units, split
from tagwright.errors import DataError, SettingsError


def data_of(labels: list, *, task: Task = "many", name: str = "all", **columns: list) -> Data:
    columns = {"text": [f"text {row}" for row in range(len(labels))], **columns}
    table = pa.table(
        {"labels": pa.array(labels, pa.list_(pa.string())), "row": range(len(labels)), **columns}
    )
    return Data(tables={name: table}, task=task, source="test")


def parts_of(data: Data, rows: int) -> np.ndarray:
    """The part of every row, (n,): 0 train, 1 dev, 2 test."""
    parts = np.full(rows, -1)
    for part, name in enumerate(("train", "dev", "test")):
        if name in data.tables:
            parts[data.tables[name]["row"].to_numpy()] = part
    return parts


def long_tail(rows: int, labels: int, seed: int) -> np.ndarray:
    """Multi-hot (rows, labels), every label on at least two rows, one that follows another
    about.
    """
    rng = np.random.default_rng(seed)
    marks = rng.random((rows, labels)) < np.minimum(0.6, 0.8 / np.arange(1, labels + 1))
    marks[:, labels // 2] = marks[:, 0] & (rng.random(rows) < 0.2)
    return marks[:, marks.sum(axis=0) > 1]


def names_of(marks: np.ndarray) -> list[list[str]]:
    return [[f"label {label}" for label in np.flatnonzero(row)] for row in marks]


def row_by_row(marks: np.ndarray, shares: list[float], seed: int) -> np.ndarray:
    """Algorithm 1 of Sechidis et al. (2011), one row after the other."""
    rng = np.random.default_rng(seed)
    total = [share * len(marks) for share in shares]
    desire = [[share * count for count in marks.sum(axis=0)] for share in shares]
    parts = np.full(len(marks), -1)
    while (left := marks[parts < 0].sum(axis=0)).any():
        label = min(np.flatnonzero(left), key=lambda one: left[one])
        for row in rng.permutation(np.flatnonzero((parts < 0) & marks[:, label])):
            parts[row] = max(
                range(len(shares)),
                key=lambda part: (desire[part][label], total[part], rng.random()),
            )
            total[parts[row]] -= 1
            for carried in np.flatnonzero(marks[row]):
                desire[parts[row]][carried] -= 1
    for row in rng.permutation(np.flatnonzero(parts < 0)):
        parts[row] = int(np.argmax(total))
        total[parts[row]] -= 1
    return parts


def label_error(marks: np.ndarray, parts: np.ndarray) -> float:
    """Label distribution of the paper: how far the odds of each label in each part are from those
    of the whole.
    """
    whole = marks.sum(axis=0) / (~marks).sum(axis=0)
    odds = [
        marks[parts == part].sum(axis=0) / (~marks[parts == part]).sum(axis=0)
        for part in np.unique(parts)
    ]
    return float(np.mean([np.abs(one - whole).mean() for one in odds]))


def test_labels_are_spread_no_worse_than_row_by_row() -> None:
    ratios = []
    for rows, labels in ((301, 20), (1001, 61), (777, 40), (503, 90)):
        for seed in range(4):
            marks = long_tail(rows, labels, seed)
            made = split(data_of(names_of(marks)), dev_share=0.1, test_share=0.2, seed=seed)
            reference = label_error(marks, row_by_row(marks, [0.7, 0.1, 0.2], seed))
            ratios.append(label_error(marks, parts_of(made, rows)) / reference)
    assert np.exp(np.mean(np.log(ratios))) <= 1


def test_rare_labels_are_spread_far_better_than_by_chance() -> None:
    marks = long_tail(2000, 100, seed=3)
    rare = marks[:, (marks.sum(axis=0) >= 10) & (marks.sum(axis=0) < 60)]
    chance = np.random.default_rng(0).choice(3, size=2000, p=[0.7, 0.1, 0.2])
    made = parts_of(split(data_of(names_of(marks)), dev_share=0.1, test_share=0.2), 2000)
    wanted = np.outer([0.7, 0.1, 0.2], rare.sum(axis=0))
    off = [
        np.abs([rare[parts == part].sum(axis=0) for part in range(3)] - wanted).mean()
        for parts in (made, chance)
    ]
    assert off[0] < 0.4 * off[1]


def test_single_labels_have_their_share_to_the_row() -> None:
    counts = {"a": 503, "b": 207, "c": 41, "d": 10}
    labels = [[name] for name, count in counts.items() for _ in range(count)]
    made = split(data_of(labels, task="one"), dev_share=0.1, test_share=0.2)
    for name, share in (("train", 0.7), ("dev", 0.1), ("test", 0.2)):
        found = [row[0] for row in made.tables[name]["labels"].to_pylist()]
        for label, count in counts.items():
            assert abs(found.count(label) - share * count) <= 1


def test_small_classes_do_not_starve_dev() -> None:
    labels = [[f"class {row // 4}"] for row in range(400)]
    made = split(data_of(labels, task="one"), dev_share=0.1)
    assert 36 <= made.tables["dev"].num_rows <= 44


@settings(max_examples=60, deadline=None)
@given(
    some.lists(
        some.lists(some.sampled_from("abcdefgh"), max_size=4, unique=True), min_size=12, max_size=40
    ),
    some.integers(0, 5),
    some.sampled_from([0.1, 0.3, 0.6]),
)
def test_every_row_is_in_one_part_and_every_label_in_train(
    rows: list[list[str]], seed: int, share: float
) -> None:
    data = data_of(rows, group=[row % 9 for row in range(len(rows))])
    made = split(data, dev_share=share, seed=seed)
    assert sorted(
        row for table in made.tables.values() for row in table["row"].to_pylist()
    ) == list(range(len(rows)))
    learned = {label for row in made.tables["train"]["labels"].to_pylist() for label in row}
    assert learned == {label for row in rows for label in row}


def test_same_text_or_group_is_never_in_two_parts() -> None:
    rng = np.random.default_rng(1)
    texts = [f"{'Red ' if row % 2 else 'red  '}kite {rng.integers(250)} " for row in range(601)]
    groups = [None if row % 3 else int(rng.integers(150)) for row in range(601)]
    made = split(
        data_of(names_of(long_tail(601, 9, 0)), text=texts, group=groups),
        dev_share=0.2,
        test_share=0.2,
    )
    where: dict = {}
    for name, table in made.tables.items():
        for row in table["row"].to_pylist():
            keys = [" ".join(texts[row].lower().split())] + (
                [groups[row]] if groups[row] is not None else []
            )
            for key in keys:
                assert where.setdefault(key, name) == name
    assert all(table.num_rows > 60 for table in made.tables.values())


def test_rows_are_one_unit_through_a_chain_of_texts_and_groups() -> None:
    table = pa.table(
        {"text": ["a", "A ", "b", "c", "d", "d"], "group": ["x", "y", "y", None, None, "z"]}
    )
    units = row_units(table).tolist()
    assert len(set(units[:3])) == 1
    assert len({units[0], units[3], units[4]}) == 3
    assert units[4] == units[5]


def test_plain_texts_equal_python_lower_and_split() -> None:
    texts = ["Red\u00a0 Tent\n", "  ÄPFEL\tund\u2003Birnen", "", "x", "a\nb", None]
    assert plain_texts(pa.array(texts)).to_pylist() == [
        " ".join((text or "").lower().split()) for text in texts
    ]


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    table = pa.table({"text": ["caf\u00e9", "cafe\u0301"]})
    assert len(set(row_units(table).tolist())) == 1


def test_unlabelled_rows_stay_in_train_and_shares_are_of_the_labelled() -> None:
    labels = [None if row % 2 else ["ab"[row % 4 // 2]] for row in range(400)]
    made = split(data_of(labels), dev_share=0.25)
    assert made.tables["dev"]["labels"].null_count == 0
    assert made.tables["dev"].num_rows == 50
    assert made.tables["train"]["labels"].null_count == 200


def test_token_tasks_are_split_by_their_tags() -> None:
    tags = [["O", "B-BRAND"] if row % 20 == 0 else ["O", "O"] for row in range(200)]
    made = split(data_of([None] * 200, task="tokens", tags=tags), dev_share=0.2)
    assert sum("B-BRAND" in row for row in made.tables["dev"]["tags"].to_pylist()) == 2
    assert made.tables["dev"].num_rows == 40


def test_existing_parts_are_untouched() -> None:
    train, dev = (data_of([["a"], ["b"]] * 20).tables["all"] for _ in range(2))
    given_parts = Data(tables={"train": train, "dev": dev}, task="many", source="test")
    assert split(given_parts) is given_parts
    made = split(given_parts, test_share=0.2)
    assert made.tables["dev"] is dev
    assert (made.tables["train"].num_rows, made.tables["test"].num_rows) == (32, 8)


def test_train_without_dev_gives_dev_and_keeps_row_order() -> None:
    made = split(data_of([["a"], ["b"], []] * 30, name="train"))
    assert list(made.tables) == ["train", "dev"]
    assert made.tables["dev"].num_rows == 9
    for table in made.tables.values():
        assert table["row"].to_pylist() == sorted(table["row"].to_pylist())


def test_no_share_turns_all_into_train() -> None:
    made = split(data_of([["a"], ["b"]]), dev_share=0.0)
    assert list(made.tables) == ["train"]
    assert made.tables["train"].num_rows == 2


def test_same_seed_same_parts_other_seed_others() -> None:
    data = data_of(names_of(long_tail(300, 12, 0)))
    first, again, other = (parts_of(split(data, seed=seed), 300).tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_four_rows_are_enough_for_a_dev_row() -> None:
    assert split(data_of([["a"], ["a"], ["b"], ["b"]])).tables["dev"].num_rows == 1


def test_nothing_to_spare_is_an_error() -> None:
    with pytest.raises(DataError, match="no row of 5 can go to dev"):
        split(data_of([["a"], ["b"], ["c"], ["d"], ["e"]]))


@pytest.mark.parametrize("shares", [(1.0, 0.0), (-0.1, 0.0), (0.6, 0.5)])
def test_impossible_shares_are_an_error(shares: tuple[float, float]) -> None:
    with pytest.raises(SettingsError, match="add to less than 1"):
        split(data_of([["a"], ["b"]]), dev_share=shares[0], test_share=shares[1])


def test_the_wrong_label_column_is_guessed_where_every_label_is_on_one_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,page\n" + "".join(f"word {n},p{n}\n" for n in range(30)))
    data = read_data(tmp_path / "a.csv", labels="page")
    with pytest.raises(DataError, match=r"is 'page' the label column.*--set split.dev_share="):
        split(data)


def test_very_many_labels_are_split_at_random_with_every_label_in_train(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tagwright.data.split.MANY", 20)
    labels = names_of(long_tail(3000, 60, seed=0))
    labels[7] = None
    data = split(data_of(labels), dev_share=0.2, test_share=0.1)
    found = {name: table.num_rows for name, table in data.tables.items()}
    assert abs(found["dev"] - 600) < 10
    assert abs(found["test"] - 300) < 10
    seen = {label for row in data.tables["train"]["labels"].to_pylist() if row for label in row}
    assert seen == {label for row in labels if row for label in row}
    again, other = (
        split(data_of(labels), dev_share=0.2, seed=seed).tables["dev"]["row"] for seed in (0, 1)
    )
    assert split(data_of(labels), dev_share=0.2).tables["dev"]["row"] == again
    assert again != other


def test_a_label_that_comes_once_stays_in_train_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tagwright.data.split.MANY", 20)
    labels = [[f"own {row}", "all"] if row < 50 else ["all"] for row in range(200)]
    data = split(data_of(labels), dev_share=0.5)
    assert min(data.tables["dev"]["row"].to_pylist()) >= 50
    assert data.tables["dev"].num_rows > 50


def headed(task: Task, *heads: str, **columns: list) -> Data:
    """A table where every head has tags of its own, or the labels of all heads are together."""
    rows = len(next(iter(columns.values())))
    kind = pa.list_(pa.string())
    made = {name.replace("__", "/"): pa.array(values, kind) for name, values in columns.items()}
    table = pa.table({"text": [f"text {row}" for row in range(rows)], "row": range(rows), **made})
    settings = {name: HeadColumns(task="tokens", columns=(name,)) for name in heads}
    return Data(tables={"all": table}, task=task, source="test", heads=settings)


def test_labels_of_several_heads_are_spread_together() -> None:
    topics, levels = ["a"] * 40 + ["b"] * 60, (["low"] * 9 + ["high"]) * 10
    labels = [[f"topic={topic}", f"level={level}"] for topic, level in zip(topics, levels)]
    tables = split(headed("many", labels=labels), dev_share=0.2).tables
    for name, count in {"topic=a": 8, "topic=b": 12, "level=low": 18, "level=high": 2}.items():
        assert sum(name in row for row in tables["dev"]["labels"].to_pylist()) == count


@pytest.mark.parametrize("order", [("ner", "pos"), ("pos", "ner")])
def test_where_heads_tag_tokens_alone_the_tags_of_all_are_spread(order: tuple[str, str]) -> None:
    rare = [["X"] if row % 10 == 0 else ["O"] for row in range(100)]
    # a row without them is held out by its others
    other = [["N"] if row % 5 else None for row in range(100)]
    data = headed("tokens", *order, tags__pos=other, tags__ner=rare, labels=[None] * 100)
    dev = split(data, dev_share=0.2).tables["dev"]
    assert dev.num_rows == 20
    assert dev["tags/ner"].to_pylist().count(["X"]) == 2
    assert dev["tags/pos"].null_count == 4


def test_rows_with_tags_of_a_head_alone_can_be_held_out() -> None:
    labels = [["k=x"] if row % 2 else ["k=y"] for row in range(50)] + [None] * 100
    tags = [None] * 50 + [["O"]] * 50 + [None] * 50
    data = headed("both", "ner", labels=labels, tags__ner=tags)
    tables = split(data, dev_share=0.2).tables
    held = tables["dev"]["tags/ner"].to_pylist()
    assert 5 <= held.count(["O"]) <= 15
    assert len(held) == 20
    # nothing to score them by
    assert set(range(100, 150)) <= set(tables["train"]["row"].to_pylist())
    assert tables["train"]["labels"].null_count + tables["dev"]["labels"].null_count == 100

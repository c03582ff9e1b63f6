"""Making train unbalanced: so many texts of a label stay."""

import pyarrow as pa
import pytest

from tagwright.data.keep_texts import keep
from tagwright.errors import DataError


def table_of(*labels):
    columns = {
        "text": [f"text {n}" for n in range(len(labels))],
        "labels": pa.array(labels, pa.list_(pa.string())),
    }
    return pa.table(columns)


def with_label(table, label):
    return [row["text"] for row in table.to_pylist() if label in row["labels"]]


BALANCED = table_of(*([["a"], ["b"], ["c"]] * 41))


def test_so_many_of_the_label_stay_and_all_others():
    kept, said = keep(BALANCED, {"b": 7})
    assert [len(with_label(kept, label)) for label in "abc"] == [41, 7, 41]
    assert with_label(kept, "a") == with_label(BALANCED, "a")
    assert said == ("keep: 7 of 41 train texts with b",)


def test_nothing_wanted_is_the_table_itself():
    kept, said = keep(BALANCED, {})
    assert kept.equals(BALANCED)
    assert said == ()


def test_the_seed_draws_and_the_same_seed_draws_the_same():
    first, again, other = (keep(BALANCED, {"b": 7}, seed=seed)[0] for seed in (0, 0, 1))
    assert first.equals(again)
    assert with_label(first, "b") != with_label(other, "b")
    assert with_label(first, "b") != with_label(BALANCED, "b")[:7]


def test_fewer_are_a_part_of_more():
    few, more = (set(with_label(keep(BALANCED, {"b": number})[0], "b")) for number in (5, 20))
    assert few < more


def test_the_draw_of_one_label_does_not_depend_on_the_others():
    alone, together = (keep(BALANCED, wanted)[0] for wanted in ({"b": 7}, {"c": 3, "b": 7}))
    assert with_label(alone, "b") == with_label(together, "b")


def test_more_than_there_are_keeps_all_and_says_so():
    kept, said = keep(BALANCED, {"b": 1200})
    assert kept.num_rows == BALANCED.num_rows
    assert said == ("keep: 41 of 41 train texts with b, all there are; 1,200 were asked for",)


def test_a_text_goes_when_any_of_its_labels_says_so():
    both = table_of(*([["a", "b"]] * 20), *([["a"]] * 5), *([["b"]] * 5), ["c"], ["d"])
    kept, said = keep(both, {"a": 12, "b": 3})
    assert len(with_label(kept, "b")) == 3
    assert len(with_label(kept, "a")) <= 12
    assert with_label(kept, "c")
    assert said[0].startswith(
        f"keep: {len(with_label(kept, 'a'))} of 25 train texts with a; 12 were asked for, but"
    )
    assert said[1] == "keep: 3 of 25 train texts with b"


def test_a_later_label_finds_its_texts_among_those_that_stayed():
    both = table_of(*([["a", "b"]] * 20), *([["b"]] * 20), ["c"])
    assert len(with_label(keep(both, {"a": 10, "b": 25})[0], "b")) == 25


def test_a_label_that_other_cuts_take_whole_is_an_error():
    with pytest.raises(DataError, match="leave no train text with a; keep more"):
        keep(table_of(*([["a", "b"]] * 3), *([["b"]] * 300), ["c"]), {"a": 3, "b": 1})


def test_a_label_that_goes_with_another_is_said():
    _, said = keep(table_of(*([["a"]] * 30), ["a", "rare"], ["c"]), {"a": 1})
    assert said[-1] == "keep: no train text is left with rare, not cut itself"


def test_an_unknown_label_is_an_error_with_the_nearest():
    with pytest.raises(
        DataError, match=r"label 'sport' \(did you mean 'sports'\?\), 'zzz'; train has news, sports"
    ):
        keep(table_of(["sports"], ["news"]), {"sport": 1, "zzz": 1})


HEADS = pa.table(
    {
        "text": ["a", "b", "c", "d"],
        "labels": [
            ["topic=x", "level=low"],
            ["topic=x", "level=high"],
            ["topic=low"],
            ["level=low"],
        ],
        "labels/topic": [["x"], ["x"], ["low"], None],
        "labels/level": [["low"], ["high"], None, ["low"]],
    }
)


def test_with_several_heads_a_label_is_named_with_its_head_and_the_columns_of_all_heads_are_cut():
    kept, said = keep(HEADS, {"topic=x": 1})
    assert kept.num_rows == 3
    assert kept["labels/topic"].to_pylist().count(["x"]) == 1
    assert said[0] == "keep: 1 of 2 train texts with topic=x"


def test_a_label_without_its_head_is_an_error_that_names_those_of_all_heads():
    message = (
        r"the label 'low' \(did you mean 'level=low' or 'topic=low'\?\), 'topic=y' \(did you mean"
        r" 'topic=x'\?\); "
        r"train has .*; with several heads, a label is named as HEAD=LABEL$"
    )
    with pytest.raises(DataError, match=message):
        keep(HEADS, {"low": 1, "topic=y": 1})


def test_a_label_with_an_equals_sign_is_no_head_where_there_are_none():
    with pytest.raises(DataError, match=r"the label 'low'; train has level=low, topic=x$"):
        keep(table_of(["topic=x"], ["level=low"]), {"low": 1})


def test_a_label_twice_on_a_text_counts_once():
    assert keep(table_of(["a", "a"], ["a"], ["b"]), {"a": 2})[1] == (
        "keep: 2 of 2 train texts with a",
    )

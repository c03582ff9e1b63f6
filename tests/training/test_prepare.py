"""From labelled data to what training takes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tagwright.data import Data
from tagwright.data.dataset import Size
from tagwright.errors import DataError
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare

from ..pipelines.several import heads_of, read, ready, write_heads
from .prepare_cases import ALL, LABELS, network_of, rows_of_heads, small, table_of


def test_empty_texts_and_unlabelled_rows_are_left_out_and_counted():
    prepared = prepare(small(), resolve({}))
    assert prepared.tables["train"]["text"].to_pylist() == ["red tent", "blue kite"]
    assert prepared.tables["dev"].num_rows == 2
    assert prepared.dropped == {"empty text": 4, "no label known": 1}


@pytest.mark.parametrize(
    ("change", "learnt"),
    [
        ({}, True),
        ({"targets": {"name": "smooth"}}, False),
        ({"soft": {"role": "auxiliary"}}, False),
        ({"soft": {"from_step": 5}}, False),
        ({"head": {"name": "cloze"}}, False),
    ],
)
def test_unlabelled_texts_are_kept_where_a_teacher_alone_says_what_is_learnt(change, learnt):
    prepared = prepare(small(), resolve({"targets": {"name": "distil"}, **change}))
    assert prepared.tables["train"]["text"].to_pylist() == ["red tent", "blue kite"]
    assert ("unlabelled" in prepared.tables) == learnt
    assert prepared.dropped == {"empty text": 4} | ({} if learnt else {"no label known": 1})
    assert any("1 text without labels learns" in sentence for sentence in prepared.found) == learnt
    if learnt:
        assert prepared.tables["unlabelled"]["text"].to_pylist() == ["red kite"]
        assert len(prepared.tokens["unlabelled"]) == 1


def test_words_and_counts_of_labels_come_from_labelled_texts_alone():
    plain, taught = (
        prepare(small(), resolve(given)) for given in ({}, {"targets": {"name": "distil"}})
    )
    assert plain.tokenizer.vocabulary == taught.tokenizer.vocabulary
    assert plain.space == taught.space


def test_tokens_stand_beside_the_cleaned_rows():
    prepared = prepare(small(), resolve({"embed": {"name": "word", "minimum": 1}}))
    assert {name: len(tokens) for name, tokens in prepared.tokens.items()} == {"train": 2, "dev": 2}
    assert prepared.tokens["train"].lengths.tolist() == [2, 2]


def test_labels_and_words_come_from_train_alone():
    prepared = prepare(small(), resolve({"embed": {"name": "word", "minimum": 1}}))
    assert prepared.space.names == ("a", "b")
    assert set(prepared.tokenizer.vocabulary) == {"[PAD]", "[UNK]", "red", "tent", "blue", "kite"}


def test_labels_that_train_has_never_seen_are_a_warning_with_counts():
    sentence = prepare(small(), resolve({})).warnings[0]
    assert "odd (1)" in sentence
    assert "strange (1)" in sentence


def test_a_small_dev_set_is_a_warning_with_its_size(data):
    assert (
        "dev has 2 texts; figures from so few say little" in prepare(small(), resolve({})).warnings
    )
    large = prepare(data, resolve({"split": {"dev_share": 0.5}}))
    assert large.tables["dev"].num_rows >= 50
    assert large.warnings == ()


def test_dev_texts_whose_one_label_train_has_never_seen_are_left_out():
    train = table_of(["red tent", "blue kite"], [["a"], ["b"]])
    dev = table_of(["red", "odd", "blue"], [["a"], ["strange"], ["b"]])
    data = Data(tables={"train": train, "dev": dev}, task="one", source="here")
    prepared = prepare(data, resolve({}, "one"))
    assert prepared.tables["dev"]["text"].to_pylist() == ["red", "blue"]
    assert "strange (1)" in prepared.warnings[0]
    with pytest.raises(DataError, match="choose by"):
        prepare(replace(data, tables={"train": train, "dev": dev.slice(1, 1)}), resolve({}, "one"))


def test_the_seed_of_the_run_never_moves_the_split(data):
    first, second = (prepare(data, resolve({"fit": {"seed": seed}})) for seed in (0, 1))
    for name in ("train", "dev"):
        assert first.tables[name].equals(second.tables[name])
        assert np.array_equal(first.tokens[name].ids, second.tokens[name].ids)


def test_the_seed_of_the_split_moves_it(data):
    first, second = (prepare(data, resolve({"split": {"seed": seed}})) for seed in (0, 1))
    assert first.tables["dev"]["id"].to_pylist() != second.tables["dev"]["id"].to_pylist()


def test_no_text_is_in_train_and_dev(data):
    tables = prepare(data, resolve({"split": {"dev_share": 0.3}})).tables
    train, dev = (set(tables[name]["id"].to_pylist()) for name in ("train", "dev"))
    assert not train & dev
    assert len(train) + len(dev) == 120
    assert len(dev) == pytest.approx(36, abs=3)


def test_texts_of_a_label_are_left_out_of_train_alone(data):
    whole, cut = (
        prepare(data, resolve({"split": {"dev_share": 0.3, **more}}))
        for more in ({}, {"keep": {"city": 4}})
    )
    assert cut.space.counts[cut.space.index["city"]] == 4
    assert cut.tables["dev"].equals(whole.tables["dev"])
    assert set(cut.tables["train"]["id"].to_pylist()) < set(whole.tables["train"]["id"].to_pylist())
    assert cut.found[len(data.found)] == f"keep: 4 of {whole.space.counts[0]} train texts with city"
    assert len(cut.tokens["train"]) == cut.tables["train"].num_rows


def test_the_seed_of_the_split_draws_what_is_left_out():
    train = table_of([f"text {n}" for n in range(60)], [["ab"[n % 2]] for n in range(60)])
    data = Data(tables={"train": train, "dev": train.slice(0, 10)}, task="one", source="here")
    settings = [resolve({"split": {"keep": {"a": 3}, "seed": seed}}, "one") for seed in (0, 0, 1)]
    first, again, other = (prepare(data, one) for one in settings)
    assert first.tables["train"].equals(again.tables["train"])
    assert not first.tables["train"].equals(other.tables["train"])


def test_what_is_left_out_is_part_of_the_fingerprint(data):
    settings = [resolve({"split": {"keep": {"city": number}}}) for number in (900, 901)]
    first, other = (prepare(data, one).fingerprint(one) for one in settings)
    assert first != other


@pytest.mark.parametrize("part", ["train", "dev"])
def test_a_part_without_a_labelled_text_is_an_error_that_names_the_source(part):
    data = small()
    empty = table_of(["", "x"], [["a"], None])
    with pytest.raises(DataError, match="here has no labelled text"):
        prepare(replace(data, tables={**data.tables, part: empty}), resolve({}))


def test_tags_that_train_lacks_are_said_with_what_becomes_of_them():
    def prepared(train, dev):
        rows = {"train": train, "dev": dev}
        tables = {
            name: table_of(["a b"], [None], tokens=[["a", "b"]], tags=[tags])
            for name, tags in rows.items()
        }
        data = Data(tables=tables, task="tokens", source="test")
        return prepare(data, resolve({"encoder": "bat"}, "tokens", Size(1, 0)))

    assert (
        "dev has tags that train has never seen; they count as O: B-Y (1)"
        in prepared(["B-X", "O"], ["B-Y", "O"]).warnings
    )
    assert (
        "no answer is right there: ADV (1)"
        in prepared(["NOUN", "VERB"], ["ADV", "VERB"]).warnings[0]
    )


# several heads


def test_texts_stay_that_one_head_has_labels_for(tmp_path):
    prepared, settings = ready(write_heads(tmp_path, LABELS), heads_of(*LABELS))
    assert prepared.dropped == {"no label known": 1}
    rows = prepared.rows("train", network_of(prepared, settings), settings)
    mood, topic = rows.heads.values()
    assert mood.labelled.tolist() == [True, False, True, True, True]
    assert topic.labelled.tolist() == [True, True, False, True, True]
    assert mood.target.toarray().tolist() == [[1, 0], [0, 0], [0, 1], [0, 1], [1, 0]]
    assert topic.target.toarray().tolist() == [[1, 1], [0, 1], [0, 0], [0, 0], [1, 0]]
    assert rows.weight is None


def test_labels_are_counted_among_the_texts_that_have_some(tmp_path):
    prepared, _ = ready(write_heads(tmp_path, LABELS), heads_of(*LABELS))
    known = {name: (head.space.counts, head.examples) for name, head in prepared.heads.items()}
    assert known == {"mood": ((2, 2), 4), "topic": ((2, 2), 4)}
    assert [head.space.exclusive for head in prepared.heads.values()] == [True, False]


def test_tags_are_counted_among_the_tokens_that_have_some(tmp_path):
    prepared, _ = ready(write_heads(tmp_path, ALL), heads_of(*ALL))
    span = prepared.heads["span"]
    assert dict(zip(span.space.names, span.space.counts)) == {"O": 3, "B-X": 2}
    assert span.examples == 5
    names = [None if tag < 0 else span.space.names[tag] for tag in span.tags["train"]]
    assert names == ["O", "B-X", "O", None, None, "B-X", "O", None, None]


def test_labels_of_dev_that_train_lacks_are_unknown_to_their_head_alone(tmp_path):
    write_heads(tmp_path, LABELS)
    dev = (
        (tmp_path / "dev.jsonl")
        .read_text()
        .replace('"old kite", "mood": "sad"', '"old kite", "mood": "odd"')
    )
    (tmp_path / "dev.jsonl").write_text(dev)
    prepared, settings = ready(tmp_path, heads_of(*LABELS))
    assert prepared.tables["dev"].num_rows == 5
    mood, topic = rows_of_heads(prepared, settings, "dev").values()
    assert mood.labelled.tolist() == [True, False, True, False, True]
    assert topic.labelled.tolist() == [True, True, False, True, True]
    assert topic.target.toarray().tolist() == [[1, 0], [0, 0], [0, 0], [0, 1], [1, 1]]
    assert (
        prepared.warnings[0]
        == "dev has labels of mood that train has never seen; they are left out: odd (1)"
    )


@pytest.mark.parametrize("part", ["train", "dev"])
@pytest.mark.parametrize(("name", "kind"), [("topic", "labels"), ("span", "tags")])
def test_a_head_without_an_answer_in_a_part_is_an_error_that_names_it(part, name, kind, tmp_path):
    data, settings = read(write_heads(tmp_path, ALL), heads_of(*ALL))
    table, column = data.tables[part], f"{kind}/{name}"
    nothing = pa.nulls(table.num_rows, table[column].type)
    table = table.set_column(table.column_names.index(column), column, nothing)
    with pytest.raises(DataError, match=f"has no text of {part} with {kind} of {name};"):
        prepare(replace(data, tables={**data.tables, part: table}), settings)

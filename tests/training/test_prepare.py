"""From labelled data to what training takes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tagwright import registry
from tagwright.data import Data, read_data
from tagwright.data.dataset import Size
from tagwright.errors import DataError
from tagwright.models.build import build_network
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare

from ..pipelines.several import (
    MOODS,
    SPANS,
    TEXTS,
    TOPICS,
    WORDS,
    heads_of,
    read,
    ready,
    write_heads,
)


def table_of(texts, labels, **extra):
    columns = {
        "text": pa.array(texts, pa.string()),
        "labels": pa.array(labels, pa.list_(pa.string())),
    }
    return pa.table({**columns, **{name: pa.array(values) for name, values in extra.items()}})


def small(**extra):
    """Train and dev given, so that nothing is drawn."""
    train = table_of(
        ["red tent", "", None, "blue kite", "  \n", "red kite"],
        [["a"], ["a"], ["b"], ["b"], ["b"], None],
        **extra,
    )
    dev = table_of(["blue tent", "red", ""], [["a"], ["b", "strange", "odd"], ["strange"]])
    return Data(tables={"train": train, "dev": dev}, task="many", source="here")


def network_of(prepared, settings):
    """An untrained network."""
    labels = {name: (head.space, head.examples) for name, head in prepared.heads.items()}
    return build_network(settings, labels, sizes=prepared.tokenizer.sizes, learned=prepared.learned)


def rows_of_table(prepared, settings, name="train"):
    """The rows of a table, and what the one head learns of them."""
    made = prepared.rows(name, network_of(prepared, settings), settings)
    return made, made.heads["main"]


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


def test_weights_reach_the_rows_with_mean_one():
    data = small(weight=[3.0, 9.0, 9.0, 1.0, 9.0, 9.0])
    settings = resolve({"encoder": {"name": "cnn", "width": 4, "filters": 2}})
    prepared = prepare(data, settings)
    made, head = rows_of_table(prepared, settings)
    assert made.weight.tolist() == [1.5, 0.5]
    assert head.labelled is None


def test_a_missing_weight_counts_as_an_ordinary_row():
    data = small(weight=[3.0, 9.0, 9.0, None, 9.0, 9.0])
    settings = resolve({"encoder": {"name": "cnn", "width": 4, "filters": 2}})
    prepared = prepare(data, settings)
    assert np.isfinite(rows_of_table(prepared, settings)[0].weight).all()


def test_labels_nobody_judged_reach_the_rows():
    data = small(unknown=[["b"], None, None, [], None, None])
    settings = resolve({"encoder": {"name": "cnn", "width": 4, "filters": 2}})
    prepared = prepare(data, settings)
    assert rows_of_table(prepared, settings)[1].unknown.toarray().tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize("name", ["smooth", "tfidf", "kwls"])
def test_train_alone_has_soft_labels(name):
    settings = resolve(
        {
            "encoder": {"name": "cnn", "width": 4, "filters": 2},
            "targets": name,
            "embed": {"minimum": 1},
        }
    )
    prepared = prepare(small(), settings)
    found = prepared.soft_labels(["train"], settings)
    facts = {
        "table": prepared.tables["train"],
        "space": prepared.space,
        "tokens": prepared.tokens["train"],
    }
    soft = registry.build("targets", name, {}, **facts)
    np.testing.assert_array_equal(found, soft if isinstance(soft, np.ndarray) else soft.toarray())
    assert rows_of_table(prepared, settings)[1].target.toarray().tolist() == [[1, 0], [0, 1]]
    assert rows_of_table(prepared, settings, "dev")[1].soft is None


def test_labels_as_given_are_no_soft_ones():
    settings = resolve({"encoder": "cnn"})
    assert prepare(small(), settings).soft_labels(["train"], settings) is None


def test_soft_labels_of_two_tables_are_made_of_both():
    settings = resolve(
        {
            "encoder": {"name": "cnn", "width": 4, "filters": 2},
            "targets": "kwls",
            "embed": {"minimum": 1},
        }
    )
    prepared = prepare(small(), settings)
    both = prepared.soft_labels(["train", "dev"], settings)
    tables = [prepared.tables[name].select(["labels"]) for name in ("train", "dev")]
    joined = prepared.tokens["train"].joined(prepared.tokens["dev"])
    facts = {"table": pa.concat_tables(tables), "space": prepared.space, "tokens": joined}
    np.testing.assert_array_equal(both, registry.build("targets", "kwls", {}, **facts))
    assert len(both) == 4


def test_marks_of_a_tokenizer_are_no_words_to_soft_labels():
    settings = {"encoder": {"name": "bow"}, "targets": "kwls", "loss": "bce"}
    targets = []
    for embed in ("word", "spelled"):  # the latter marks where a text begins
        chosen = resolve({**settings, "embed": {"name": embed, "minimum": 1}})
        prepared = prepare(small(), chosen)
        targets.append(prepared.soft_labels(["train"], chosen))
    np.testing.assert_allclose(targets[0], targets[1], rtol=1e-6)


def fingerprint(data, **sections):
    settings = resolve(sections)
    return prepare(data, settings).fingerprint(settings)


def test_the_fingerprint_is_the_same_for_the_same_data_and_settings(data, source):
    assert fingerprint(data) == fingerprint(read_data(source))


@pytest.mark.parametrize(
    "change",
    [{"fit": {"seed": 1}}, {"fit": {"epochs": 1}}, {"encoder": "lstm"}, {"objective": "zlpr"}],
)
def test_another_setting_is_another_fingerprint(data, change):
    assert fingerprint(data, **change) != fingerprint(data)


def test_an_edited_file_of_groups_is_another_fingerprint(data, tmp_path):
    path, found = tmp_path / "groups.toml", []
    for groups in ('["city", "tool"]', '["city", "fruit"]', '["city", "fruit"]'):
        path.write_text(f"[groups]\na = {groups}\n")
        found.append(fingerprint(data, mask={"name": "groups", "groups": str(path)}))
    assert found[0] != found[1] == found[2]


@pytest.mark.parametrize("change", [{"device": "cpu"}, {"save_seconds": 0.0}])
def test_what_cannot_move_the_result_leaves_the_fingerprint(data, change):
    assert fingerprint(data, fit=change) == fingerprint(data)


@pytest.mark.parametrize(
    "change",
    [
        {"text": ["red tents", "", None, "blue kite", "  \n", "red kite"]},
        {"labels": [["b"], ["a"], ["b"], ["a"], ["b"], None]},
        {"weight": [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]},
        {"unknown": [["b"], None, None, [], None, None]},
        {"values": [[0.5], [1.0], [1.0], [1.0], [1.0], None]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_data_are_another_fingerprint(change):
    extra = {"weight": [1.0] * 6, "unknown": [[""]] * 6, "values": [[1.0]] * 5 + [None]}
    plain = small(**extra)
    train = plain.tables["train"]
    for name, values in change.items():
        place = train.column_names.index(name)
        train = train.set_column(place, name, pa.array(values, train[name].type))
    assert fingerprint(replace(plain, tables={**plain.tables, "train": train})) != fingerprint(
        plain
    )


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


def test_windows_weigh_as_their_text():
    rows = {
        "tokens": [["a", "b", "c"], ["d"], ["e", "f"]],
        "tags": [["O", "B-X", "O"], ["B-X"], ["O", "O"]],
    }
    train = table_of(["a b c", "d", "e f"], [None] * 3, **rows, weight=[2.0, 5.0, None])
    data = Data(tables={"train": train, "dev": train}, task="tokens", source="here")
    settings = resolve(
        {"encoder": "bat", "head": {"overlap": 0}, "fit": {"limit": 2}}, "tokens", Size(3, 0)
    )
    prepared = prepare(data, settings)
    made, head = rows_of_table(prepared, settings)
    assert made.inputs.places.text.tolist() == [0, 0, 1, 2]
    np.testing.assert_allclose(made.weight, np.array([2, 2, 5, 1]) * 3 / 8, rtol=1e-6)
    owner, names = made.inputs.places.owner, prepared.space.names
    found = {int(token): names[tag] for token, tag in zip(owner, head.tags) if token >= 0}
    assert [found[token] for token in range(6)] == ["O", "B-X", "O", "B-X", "O", "O"]


# several heads

LABELS = {"mood": MOODS, "topic": TOPICS}
ALL = {**LABELS, "span": SPANS}


def rows_of_heads(prepared, settings, name="train"):
    """What each head learns of a table."""
    return prepared.rows(name, network_of(prepared, settings), settings).heads


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


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (LABELS, 5),
        (ALL, 5),
        ({"span": SPANS}, 5),
        ({"span": SPANS, "word": WORDS}, 9),
        ({"word": WORDS}, 8),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else None,
)
def test_train_counts_its_texts_or_the_tokens_that_have_a_tag_where_all_heads_tag(
    answers, expected, tmp_path
):
    """The only token of the second text has a tag of `span` alone, those of the third and fifth
    have some of `word`.
    """
    prepared, _ = ready(write_heads(tmp_path, answers), heads_of(*answers))
    assert prepared.counted == expected


def test_a_head_with_slots_knows_nothing_of_a_text_without_its_labels(tmp_path):
    """Its slots show labels of a text, and none of them may be shown as absent."""
    prepared, settings = ready(write_heads(tmp_path, LABELS), heads_of(*LABELS))
    slots = resolve(
        {"heads": {"mood": {}, "topic": {"head": "cloze"}}}, heads={"mood": "one", "topic": "many"}
    )
    mood, topic = prepared.rows("train", network_of(prepared, settings), slots).heads.values()
    assert mood.unknown is None
    assert topic.unknown.toarray().tolist() == [[0, 0], [0, 0], [1, 1], [0, 0], [0, 0]]
    assert topic.labelled.tolist() == [True, True, False, True, True]


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


def test_one_head_alone_is_as_if_no_other_were_learnt(tmp_path):
    answers = {**ALL, "word": WORDS}
    prepared, settings = ready(write_heads(tmp_path, answers), heads_of(*answers))
    network, together = network_of(prepared, settings), rows_of_heads(prepared, settings)
    for name in LABELS:
        alone = prepared.alone(name)
        assert (alone.first, alone.space, alone.tagged) == (name, prepared.heads[name].space, False)
        assert alone.tables["train"]["labels"].equals(prepared.tables["train"][f"labels/{name}"])
        assert not any("/" in column for column in alone.tables["train"].column_names)
        own = alone.rows("train", network, settings.of(name)).heads[name]
        assert own.target.toarray().tolist() == together[name].target.toarray().tolist()
        assert own.labelled.tolist() == together[name].labelled.tolist()
    for name in ("span", "word"):
        alone = prepared.alone(name)
        assert (alone.first, alone.space, alone.tagged) == (name, prepared.heads[name].space, True)
        assert alone.sheets["train"].tags.tolist() == prepared.heads[name].tags["train"].tolist()
        assert "labels" not in alone.tables["train"].column_names


def test_two_heads_that_tag_tokens_have_their_own_tags_at_the_same_positions(tmp_path):
    answers = {"word": WORDS, "span": SPANS}
    prepared, settings = ready(write_heads(tmp_path, answers), heads_of(*answers))
    rows = prepared.rows("train", network_of(prepared, settings), settings)
    owner = rows.inputs.places.owner
    assert prepared.only_tokens
    for name, own in answers.items():
        space, expected = prepared.heads[name].space, []
        for text in range(5):
            none = [-1] * len(TEXTS[text].split())
            expected += [space.index[tag] for tag in own[text]] if own[text] else none
        assert rows.heads[name].tags[owner >= 0].tolist() == expected
        assert (rows.heads[name].tags[owner < 0] == -1).all()
        assert rows.heads[name].target.shape == (5, 0)


@pytest.mark.parametrize("name", [*ALL])
def test_other_labels_of_any_head_are_another_fingerprint(name, tmp_path):
    other = {**ALL, name: [*ALL[name][:3], *ALL[name][:1], *ALL[name][4:]]}
    if name == "span":
        other["span"][3] = ["O", "O"]
    assert other[name] != ALL[name]
    found = []
    for answers in (ALL, ALL, other):
        prepared, settings = ready(write_heads(tmp_path, answers), heads_of(*ALL))
        found.append(prepared.fingerprint(settings))
    assert found[0] == found[1] != found[2]

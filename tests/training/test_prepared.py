"""The rows, soft labels and fingerprints that are made of prepared data, of one head or several."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tagwright import registry
from tagwright.data import Data, read_data
from tagwright.data.dataset import Size
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare

from ..pipelines.several import SPANS, TEXTS, WORDS, heads_of, ready, write_heads
from .prepare_cases import ALL, LABELS, network_of, rows_of_heads, rows_of_table, small, table_of


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

"""What a report is told of tagged tokens is what stands in the texts."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from tagwright.analysis.run_facts import card_facts, fit_facts
from tagwright.analysis.score_facts import score_facts
from tagwright.analysis.tag_facts import LONGEST, confused_tokens, examples, span_counts
from tagwright.data import read_data
from tagwright.data.token_text import join
from tagwright.inference import model_folder
from tagwright.inference.data_for_model import labelled_rows, read_for_model
from tagwright.inference.score import score
from tagwright.inference.tagged_tokens import truth_of_tags
from tagwright.labels.space import LabelSpace
from tagwright.labels.tags import scheme_of
from tagwright.metrics.of_tokens import measure_tokens
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.train import fit

ENCODER = {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 1, "feed": 8}


@pytest.fixture(scope="module")
def made(token_source):
    data = read_data(str(token_source))
    given = {"encoder": ENCODER, "fit": {"epochs": 3, "batch": 16, "learning_rate": 0.03}}
    settings = resolve(given, data.task, data.size)
    prepared = prepare(data, settings)
    return prepared, fit(prepared, settings)


@pytest.fixture(scope="module")
def facts(made):
    return fit_facts(*made)


def table_of(rows):
    """A table of rows of (token, tag)."""
    tokens, tags = (pa.array([[one[place] for one in row] for row in rows]) for place in (0, 1))
    text, starts = join(tokens)
    return pa.table({"tokens": tokens, "tags": tags, "text": text, "starts": starts})


def marked(pieces):
    return [(piece.text, piece.type, piece.kind) for piece in pieces if piece.kind]


def chosen_of(space, tags):
    return np.array([space.index[tag] for tag in tags])


SPACE = LabelSpace(names=("O", "B-X", "I-X", "B-Y"), counts=(9, 3, 2, 1), exclusive=True)


def test_spans_of_train_are_those_that_begin(made, facts):
    rows = made[0].tables["train"]["tags"].to_pylist()
    for kind, count in zip(facts.tags.types, facts.tags.type_counts):
        assert count == sum(tag == f"B-{kind}" for row in rows for tag in row)


def test_single_tokens_are_spans_too():
    assert span_counts(
        scheme_of(["O", "B-X", "I-X", "E-X", "S-X", "S-Y"]), [9, 3, 5, 3, 4, 2]
    ).tolist() == [7, 2]


def test_scores_are_the_amounts_that_were_measured(made, facts):
    for state, scores in (("entities", facts.tags.per_type), ("without_o", facts.per_label)):
        amounts = made[1].measures.states[state].amounts()
        assert np.array_equal(scores["support"], amounts["true"])
        assert np.array_equal(scores["predicted"], amounts["predicted"])


def test_tokens_are_counted_beside_texts(made, facts):
    for name, table in made[0].tables.items():
        assert facts.tags.tokens[name] == sum(map(len, table["tokens"].to_pylist()))
        assert facts.split_sizes[name] == table.num_rows


def test_what_makes_no_sense_for_tags_is_left_out(facts):
    assert facts.bands is None
    assert facts.threshold_curve is None


def test_a_confused_token_stands_in_its_text_with_its_true_tag(made, facts):
    prepared, fitted = made
    names, true = prepared.space.names, prepared.sheets["dev"].tags
    found = fitted.dev.chosen.argmax(1)
    words = [token for row in prepared.tables["dev"]["tokens"].to_pylist() for token in row]
    assert facts.confused
    for pair in facts.confused:
        right = [
            names[t] == pair["true"] and names[f] == pair["chosen"] for t, f in zip(true, found)
        ]
        assert sum(right) == pair["count"]
        expected = [word for word, hit in zip(words, right) if hit][:3]
        assert [text for example in pair["examples"] for text, _, _ in marked(example)] == expected


def test_the_first_and_the_last_token_of_a_text_are_found_in_it():
    table = table_of([[("a", "O"), ("b", "B-X")], [("c", "B-Y"), ("d", "O")]])
    truth = truth_of_tags(chosen_of(SPACE, ["O", "B-X", "B-Y", "O"]), len(SPACE))
    chosen = truth_of_tags(np.zeros(4, np.int64), len(SPACE))
    options = {"offsets": np.array([0, 2, 4]), "tags": SPACE.names, "rows": np.arange(4)}
    found = confused_tokens(
        measure_tokens(chosen.astype(float), truth, chosen, **options), SPACE.names, table
    )
    assert {
        pair["true"]: "|".join(piece.text for piece in pair["examples"][0]) for pair in found
    } == {
        "B-X": "a |b|",
        "B-Y": "|c| d",
    }


def test_tokens_are_numbered_over_all_chunks(token_trained, tmp_path, tokens_of, monkeypatch):
    rows, write = tokens_of
    model = model_folder.load(token_trained.model)
    data = read_for_model(model, str(write(tmp_path / "more.conll", rows(30, seed=7))), {})
    whole = score(model, data).measures.states["confusion"].top(5)
    monkeypatch.setattr("tagwright.inference.score.CHUNK", 4)
    assert score(model, data).measures.states["confusion"].top(5) == whole


def test_right_missed_and_wrong_spans_are_told_apart():
    table = table_of([[("a", "B-X"), ("b", "I-X"), ("c", "O"), ("d", "B-Y"), ("e", "B-X")]])
    (example,) = examples(table, SPACE, chosen_of(SPACE, ["B-X", "O", "B-Y", "B-Y", "B-X"]))
    assert marked(example.true) == [
        ("a b", "X", "missed"),
        ("d", "Y", "right"),
        ("e", "X", "right"),
    ]
    assert marked(example.found) == [
        ("a", "X", "wrong"),
        ("c", "Y", "wrong"),
        ("d", "Y", "right"),
        ("e", "X", "right"),
    ]
    for pieces in example:
        assert "".join(piece.text for piece in pieces) == "a b c d e"


def test_faulty_texts_come_first_and_texts_without_spans_not_at_all():
    table = table_of([[("a", "B-X")], [("b", "O")], [("c", "B-Y")]])
    first, second = examples(table, SPACE, chosen_of(SPACE, ["B-X", "O", "O"]))
    assert marked(first.true) == [("c", "Y", "missed")]
    assert first.found != first.true
    assert second.true == second.found


def test_a_long_text_is_shown_around_its_first_fault():
    count, at = 5 * LONGEST, 3 * LONGEST
    tags = ["B-X" if place in (0, at) else "O" for place in range(count)]
    table = table_of([[(f"w{place}", tag) for place, tag in enumerate(tags)]])
    (example,) = examples(table, SPACE, chosen_of(SPACE, ["B-X"] + ["O"] * (count - 1)))
    assert marked(example.true) == [(f"w{at}", "X", "missed")]
    assert (example.true[0].text, example.true[-1].text) == ("… ", " …")
    words = "".join(piece.text for piece in example.true).strip("… ").split()
    assert len(words) == LONGEST
    assert all(int(after[1:]) == int(before[1:]) + 1 for before, after in pairwise(words))


def test_classes_of_tokens_have_no_examples_of_spans():
    space = LabelSpace(names=("NOUN", "VERB"), counts=(1, 1), exclusive=True)
    table = table_of([[("a", "NOUN"), ("b", "VERB")]])
    assert examples(table, space, np.array([0, 0])) == []


def test_the_card_is_told_no_text(made):
    said = repr(card_facts(*made))
    assert not any(text in said for text in made[0].tables["dev"]["text"].to_pylist())
    assert card_facts(*made).tags.types == ("CITY", "FRUIT")


def test_the_decision_is_said_as_it_is_taken(made):
    head = made[1].model.heads["main"]
    assert "make whole spans" in head.decision.describe()
    head.decision.legal = False
    try:
        assert "highest score" in head.decision.describe()
    finally:
        head.decision.legal = True


def test_facts_of_a_scored_set_are_those_of_its_rows(token_trained, tmp_path, tokens_of):
    rows, write = tokens_of
    model = model_folder.load(token_trained.model)
    data = read_for_model(model, str(write(tmp_path / "more.conll", rows(30, seed=7))), {})
    scored = score(model, data)
    found = score_facts(model, scored, labelled_rows(data, None, "tags")[1], "more")
    assert found.tags.tokens == {"all": sum(map(len, rows(30, seed=7)))}
    assert found.tags.per_type["support"].sum() == sum(
        tag[0] == "B" for row in rows(30, seed=7) for _, tag in row
    )
    assert found.examples
    tokens = {token for row in rows(30, seed=7) for token, _ in row}
    assert {
        text for pair in found.confused for one in pair["examples"] for text, _, _ in marked(one)
    } <= tokens

"""Elements against texts without a word that are scored one by one, by strings; resuming; what is refused."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from tagwright import bundle
from tagwright.assemble import deletions
from tagwright.assemble import elements as module
from tagwright.assemble.elements import find_elements
from tagwright.assemble.fit import fit_folder
from tagwright.errors import SettingsError
from tagwright.read import read_data

from ..tiny_encoders import installed, write_encoder

LONG = ["head", "tail", "both", "windows"]


def slow(model, table, *, threshold, select, near=1e-6):
    """{(word, label): (texts, largest fall)} and the pairs too near to tell: a text and a copy at a time, by strings."""
    names, found, unsure = model.heads["main"].space.names, defaultdict(dict), set()
    for number, (text, gold) in enumerate(zip(table["text"].to_pylist(), table["labels"].to_pylist())):
        scores = model.scores([text])
        right = {names[i] for i in np.flatnonzero(scores.chosen[0])} == set(gold)
        if select != "all" and right != (select == "correct"):
            continue
        words = text.split()
        for place, word in enumerate(words):
            copy = " ".join(words[:place] + words[place + 1 :])
            without = model.scores([copy]).probabilities[0]
            for name, before, after in zip(names, scores.probabilities[0].tolist(), without.tolist()):
                if abs(before - after - threshold) < near:
                    unsure.add((word, name))
                if before > after + threshold:
                    found[word, name][number] = max(found[word, name].get(number, 0), before - after)
    return {pair: (len(texts), max(texts.values())) for pair, texts in found.items()}, unsure


def compared(found, expected, unsure, atol=1e-5):
    mine = {(row.word, row.label): (row.texts, row.drop) for row in found.elements}
    assert mine.keys() - unsure == expected.keys() - unsure
    for pair in mine.keys() - unsure:
        assert mine[pair][0] == expected[pair][0]
        assert mine[pair][1] == pytest.approx(expected[pair][1], abs=atol)


def table_of(source, rows=40):
    """Texts of the data, some with a word twice in a row; one is empty, one has a label that no model knows."""
    table = read_data(source).tables["all"].slice(0, rows)
    texts = [f"{text.split()[0]} {text}" if i % 3 == 0 else text for i, text in enumerate(table["text"].to_pylist())]
    texts += ["", "rome apple"]
    labels = [*table["labels"].to_pylist(), ["city"], ["nowhere"]]
    return pa.table({"text": texts, "labels": pa.array(labels, pa.list_(pa.string()))})


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, source, single_source, tiny):
    """Models by name, trained once each."""
    made = {}

    def of(name, many=True, **sections):
        if name not in made:
            out = tmp_path_factory.mktemp("models") / name
            fit_folder(str(source if many else single_source), tiny(**sections), out=out)
            made[name] = bundle.load(out)
        return made[name]

    return of


SETTINGS = {
    "cnn": {"fit": {"epochs": 12}},
    "cnn-subword": {"fit": {"epochs": 12}, "embed": {"name": "subword", "size": 60}},
    "cnn-hashes": {"fit": {"epochs": 12}, "embed": {"name": "hashes"}},
    "lstm": {"encoder": {"name": "lstm", "width": 8, "hidden": 8}, "fit": {"epochs": 12}},
    "bow": {"encoder": {"name": "bow", "width": None, "filters": None}},
}


def sections_of(name):
    chosen = {section: dict(content) for section, content in SETTINGS[name].items()}
    if "encoder" in chosen:
        chosen["encoder"] |= dict.fromkeys({"width", "filters"} - chosen["encoder"].keys())
    return chosen


@pytest.mark.parametrize("select", ["correct", "incorrect", "all"])
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5])
def test_elements_are_those_of_copies_scored_one_by_one(model, source, threshold, select):
    table = table_of(source)
    expected, unsure = slow(model, table, threshold=threshold, select=select)
    compared(find_elements(model, table, threshold=threshold, select=select), expected, unsure)


def test_some_labels_depend_on_the_words_that_make_them(model, source):
    found = find_elements(model, table_of(source, 120), threshold=0.3)
    assert found.copies > 400
    assert {("rome", "city"), ("iron", "metal")} & {(row.word, row.label) for row in found.elements}

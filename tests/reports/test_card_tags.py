"""The card of a model that tags tokens."""

from dataclasses import replace

import pytest

from tagwright.metrics.of_tokens import metrics_of_tokens
from tagwright.reports import CardFacts, model_card
from tagwright.reports.facts import TagFacts

SPANS = {"precision": [0.5, 0.2], "recall": [0.6, 0.1], "f1": [0.545, 0.133], "f2": [0.577, 0.111]}
SPANS |= {"support": [31, 12], "predicted": [37, 0]}
OWN = TagFacts(
    tokens={"train": 54321, "dev": 1840},
    cut="characters",
    types=["LOC", "P|R"],
    per_type=SPANS,
    type_counts=[310, 7],
)


def make(**changes):
    facts = {
        "title": "Pages",
        "label_names": ["O", "B-LOC", "I-LOC", "B-P|R", "I-P|R"],
        "label_counts": [17770, 310, 130, 7, 70],
        "exclusive": True,
        "metrics": {name: place / 1000 for place, name in enumerate(metrics_of_tokens())},
        "decision": "One tag for each token.",
        "source": "/home/person/pages.conll",
        "split_sizes": {"train": 4321, "dev": 543},
        "tags": OWN,
    }
    return CardFacts(**{**facts, **changes})


@pytest.mark.parametrize(
    "line",
    [
        r"It finds spans of 2 types in a text: LOC, P\|R.",
        "A text is cut into single characters, blanks aside (`data.cut`)",
        "1 type of 2 had fewer than 10 spans to learn from",
        "Never predicted though dev has them: 1 type.",
        "| LOC | 310 | 0.545 | 0.577 | 0.500 | 0.600 |",
        "- train: 54,321 tokens of 4,321 texts",
        "Measured on dev, 1,840 tokens of 543 texts, sklearn convention.",
        "Learned from pages.conll.",
    ],
)
def test_the_card_says(line):
    assert line in model_card(make())


def test_figures_are_those_of_spans_and_tokens_and_no_others():
    facts = make()
    results = model_card(facts).partition("## Results")[2]
    values = [
        f"{facts.metrics[f'entity_{name}']:.3f}" for name in ("f1", "f2", "precision", "recall")
    ]
    assert f"| whole spans, all together | {' | '.join(values)} |" in results
    assert "hamming" not in results.lower()


def test_headings_stand_where_a_new_decision_looks_for_them():
    headings = [line for line in model_card(make()).splitlines() if line.startswith("## ")]
    names = ("Intended use and limits", "Use", "Types", "Data", "Decision rule", "Results")
    assert headings == [f"## {name}" for name in names]


def test_it_says_nothing_of_labels_of_texts_and_no_path():
    card = model_card(make())
    for words in ("Every text gets a label", "get no label", "/home"):
        assert words not in card


def test_classes_of_tokens_are_no_spans():
    own = replace(OWN, types=(), per_type=None, type_counts=None)
    names = ["DET", "NOUN", "VERB", "ADJ", "ADV"]
    card = model_card(
        make(tags=own, label_names=names, per_label={name: [0.1] * 5 for name in SPANS})
    )
    assert "It gives every token one of 5 tags: DET, NOUN" in card
    assert "span" not in card.lower()


def test_plain_tags_have_types_without_counts_of_spans():
    card = model_card(make(tags=replace(OWN, type_counts=None)))
    assert "| LOC | 0.545 | 0.577 | 0.500 | 0.600 |" in card
    assert "spans in train" not in card

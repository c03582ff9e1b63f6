import numpy as np
import pytest

from tagwright.reports import CardFacts, model_card


def make(**changes: object) -> CardFacts:
    facts: dict[str, object] = {
        "title": "Shop pages",
        "label_names": ["shoes", "coats", "hats"],
        "label_counts": [1234, 56, 7],
        "exclusive": False,
        "metrics": {"micro_f1": 0.74129, "macro_f1": 0.61271},
        "decision": "A label is given above its own threshold.",
        "source": "/home/person/pages.csv",
        "settings": {
            "objective": "zlpr",
            "encoder": {"name": "cnn"},
            "fit": {"epochs": 3.0, "seed": 5},
        },
        "split_sizes": {"train": 4321, "dev": 543},
        "per_label": {"f1": [0.91, 0.52, np.nan], "support": [120, 5, 0], "predicted": [118, 0, 1]},
        "bands": [
            {
                "band": "head",
                "labels": 1,
                "from_count": 1234,
                "to_count": 1234,
                "macro_f1": 0.91,
                "micro_f1": 0.91,
            },
            {
                "band": "tail",
                "labels": 2,
                "from_count": 7,
                "to_count": 56,
                "macro_f1": 0.26,
                "micro_f1": 0.3,
            },
        ],
        "nothing_predicted": 0.0625,
        "seconds": 75.0,
        "versions": {"tagwright": "0.1.0"},
    }
    return CardFacts(**{**facts, **changes})  # type: ignore[arg-type]


def test_card_states_the_numbers():
    card = model_card(make())
    for line in (
        "| metric | value |\n| --- | ---: |\n| micro-F1 | 0.741 |",
        "| macro-F1 | 0.613 |",
        "| shoes | 1,234 | 0.910 |",
        "| hats | 7 | – |",
    ):
        assert line in card
    assert "Measured on dev, 543 texts, sklearn convention." in card
    assert "| tail | 2 | 7–56 | 0.260 | 0.300 |" in card


def test_card_has_its_sections_in_order():
    headings = [line for line in model_card(make()).splitlines() if line.startswith("#")]
    assert headings == [
        "# Shop pages",
        *(
            f"## {name}"
            for name in ("Intended use and limits", "Use", "Labels", "Data", "Training")
        ),
        *("## Decision rule", "## Results"),
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "6.2% of the dev texts get no label.",
        "1 label of 3 had fewer than 10 texts to learn from",
        "macro-F1 is 0.260 over 2 labels with at most 56 texts, against 0.910",
        "Never predicted on dev, though it has them: 1 label.",
        "Not in dev, so of unknown quality: 1 label.",
    ],
)
def test_limits_come_from_the_facts(sentence):
    assert sentence in model_card(make())
    plenty = make(label_counts=[50, 50, 50], per_label=None, bands=None, nothing_predicted=None)
    assert sentence not in model_card(plenty)


def test_exclusive_card_warns_that_every_text_gets_a_label():
    card = model_card(make(exclusive=True))
    assert "exactly one of 3 labels" in card
    assert "also one that fits none" in card
    assert "get no label" not in card


def test_a_test_set_is_not_called_chosen_by():
    assert "a test set it never saw" in model_card(make(split="dev"))
    assert "a test set it never saw" not in model_card(make(split="test"))


def test_source_path_is_not_told():
    card = model_card(make())
    assert "pages.csv" in card
    assert "/home" not in card


def test_many_labels_are_summarized():
    names = [f"label {i}" for i in range(601)]
    card = model_card(
        make(label_names=names, label_counts=np.arange(601), per_label=None, bands=None)
    )
    assert "And 571 rarer ones" in card
    assert "| label 600 |" in card
    assert "| label 570 |" not in card


def test_names_cannot_break_the_table_or_bring_html():
    card = model_card(make(label_names=["a|b", "<script>alert(1)</script>", "line\nbreak `x`"]))
    assert r"| a\|b | 1,234 |" in card
    assert "<script" not in card
    assert r"| line break \`x\` | 7 |" in card


def test_card_tells_how_it_was_trained():
    card = model_card(make())
    for line in (
        "| encoder | cnn |",
        "| objective | zlpr |",
        "| epochs | 3.0 |",
        "| seed | 5 |",
        "| time | 1 min 15 s |",
    ):
        assert line in card


def test_card_needs_only_the_required_facts():
    facts = CardFacts(
        title="t",
        label_names=["a", "b"],
        label_counts=[3, 4],
        exclusive=True,
        metrics={},
        decision="d",
    )
    assert model_card(facts).startswith("# t\n")


def test_a_model_that_was_trained_again_says_so_beside_its_figures():
    sentence = (
        "trained again on train and dev (4,864 texts); the figures are of the model before that."
    )
    assert sentence in model_card(make(refitted_on=4864)).partition("## Results")[2]
    assert "trained again" not in model_card(make())

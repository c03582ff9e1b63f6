"""The report of a model that tags tokens."""

from dataclasses import replace

import numpy as np
import pytest

from tagwright.metrics.of_tokens import metrics_of_tokens
from tagwright.reports import fit_report
from tagwright.reports.facts import Example, Piece, TagFacts
from tagwright.reports.tags import amounts

HOSTILE = "</mark></dl><script>alert(1)</script>{{ 7 * 7 }}"
TAGS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
SPANS = {name: [0.5, 0.25] for name in ("precision", "recall", "f1", "f2")}
SPANS |= {"support": [31, 12], "predicted": [37, 0]}
TOKENS = {name: [0.9, 0.5, 0.5, 0.25, 0.25] for name in ("precision", "recall", "f1", "f2")}
TOKENS |= {"support": [1777, 31, 13, 12, 7], "predicted": [1801, 37, 19, 0, 5]}
HISTORY = [
    {
        "step": 10 * i,
        "epoch": float(i),
        "loss": 1 / i,
        "score": s,
        "macro_f1": f1,
        "macro_f2": f2,
        "entity_f1": s,
    }
    for i, s, f1, f2 in [(1, 0.1, 0.2, 0.55), (2, 0.6, 0.3, 0.5), (3, 0.4, 0.35, 0.45)]
]
RIGHT = [Piece("in "), Piece("Oslo", "LOC", "right")]
EXAMPLES = [
    Example(
        [Piece("Ann Li", "PER", "missed"), Piece(" sat")],
        [Piece("Ann", "LOC", "wrong"), Piece(" Li sat")],
    ),
    Example(RIGHT, RIGHT),
]


@pytest.fixture
def make_tags(make_fit):
    """Facts of a model with two types; keyword arguments replace them."""

    def make(**changes):
        own = TagFacts(
            tokens={"train": 54321, "dev": 1840},
            cut="words",
            types=["LOC", "PER"],
            per_type=SPANS,
            type_counts=[310, 120],
        )
        facts = {
            "label_names": TAGS,
            "label_counts": [17770, 310, 130, 120, 70],
            "metrics": {name: place / 100 for place, name in enumerate(metrics_of_tokens())},
            "history": HISTORY,
            "watched": "entity_f1",
            "best_step": 20,
            "per_label": TOKENS,
            "bands": None,
            "confused": [
                {"true": "O", "chosen": "B-LOC", "count": 9, "examples": [EXAMPLES[0].found]}
            ],
            "tags": own,
            "examples": EXAMPLES,
        }
        return make_fit(5, exclusive=True, **{**facts, **changes})

    return make


@pytest.fixture
def read(make_tags, read_page):
    """A page of these facts, as a browser sees it."""
    return lambda **changes: read_page(fit_report(make_tags(**changes)))


def test_the_page_is_balanced_and_has_the_sections_of_tags_alone(read):
    page = read()
    assert page.faults == []
    own = [
        "results",
        "data",
        "training",
        "amounts",
        "types",
        "labels",
        "examples",
        "decision",
        "confused",
        "record",
    ]
    assert [name for name in page.ids() if name in (*own, "frequency")] == own


def test_words_are_those_of_tokens(read):
    page = read()
    said = "\n".join(text for tag, text in page.texts if tag not in ("script", "style", "pre"))
    assert "Measured on dev, 1,840 tokens of 543 texts" in said
    assert "54,321 tokens of 4,321 texts" in said
    for word in ("threshold", "label", "Frequent and rare"):
        assert word not in said


def test_whole_spans_come_first_with_their_own_figures(make_tags, read):
    metrics = make_tags().metrics
    rows = read().text("td").split("\n")
    assert rows[:4] == [
        f"{metrics[f'entity_{name}']:.3f}" for name in ("f1", "f2", "precision", "recall")
    ]


def test_amounts_are_drawn_as_they_were_counted_without_o(read):
    drawn = read().text("text").split("\n")
    for counts in (SPANS, {name: TOKENS[name][1:] for name in ("support", "predicted")}):
        for name in ("support", "predicted"):
            assert {str(value) for value in counts[name]} <= set(drawn)
    assert not {"1,777", "1,801"} & set(drawn)
    assert "O is left out: 1,777 true, 1,801 predicted." in read().text("figcaption")


def test_each_course_has_its_own_best_epoch_and_the_kept_one_is_said(read):
    words = read().text("figcaption")
    assert "entity-F1 0.600 at 2, macro-F1 0.350 at 3, macro-F2 0.550 at 1." in words
    assert "Dashed: epoch 2, the model that was kept." in words


def test_a_watched_metric_beside_the_three_is_a_course_of_its_own(read):
    history = [{**row, "score": 0.01 * row["step"]} for row in HISTORY]
    words = read(watched="hamming_loss", history=history, best_step=10).text("figcaption")
    # lower is better: the kept one, not the highest
    assert "Hamming loss 0.100 at 1, entity-F1 0.600 at 2" in words


def test_wrong_and_missed_spans_stand_out_with_their_types(read):
    page = read()
    kinds = [attributes["class"] for attributes in page.named("mark")]
    assert kinds[:3] == ["right", "missed", "wrong"]  # the legend
    assert kinds[3:6] == ["missed", "wrong", "right"]
    assert page.text("small").split("\n")[:3] == ["PER", "LOC", "LOC"]
    assert page.text("dt").split("\n").count("all right") == 1


def test_hostile_tokens_stay_text(read):
    pieces = [Piece(HOSTILE), Piece(HOSTILE, HOSTILE, "wrong")]
    confused = [{"true": HOSTILE, "chosen": "O", "count": 1, "examples": [pieces]}]
    page = read(examples=[Example(pieces, [])], confused=confused)
    assert page.faults == []
    assert len(page.named("script")) == 1
    assert HOSTILE in page.text("mark")
    assert "49" not in page.text("mark")


def test_classes_of_tokens_are_shown_without_spans(make_tags, read):
    own = TagFacts(tokens={"dev": 1840}, cut="words")
    page = read(tags=own, label_names=["DET", "NOUN", "VERB", "ADJ", "ADV"], examples=())
    assert page.faults == []
    assert "Each token gets exactly one of 5 tags." in page.text("p")
    # the score
    assert "entity" not in page.text("dt") + page.text("figcaption").replace(
        "entity-F1 0.600", "", 1
    )
    assert "span" not in page.text("h2") + page.text("th") + page.text("dt")
    assert not {"types", "examples"} & set(page.ids())


def test_plain_tags_without_counts_of_spans_are_sorted_by_those_that_are_true(make_tags, read):
    own = replace(
        make_tags().tags, types=["A", "B"], type_counts=None, per_type={**SPANS, "support": [5, 8]}
    )
    page = read(tags=own, label_names=["O", "A", "B", "C", "D"])
    assert page.faults == []
    names = page.text("th").split("\n")
    assert names.index("B") < names.index("A")


def test_many_types_are_cut_and_the_caption_says_so(make_tags, read):
    count = 23
    scores = {name: np.arange(count) for name in SPANS}
    own = replace(
        make_tags().tags,
        types=[f"t{i}" for i in range(count)],
        per_type=scores,
        type_counts=np.arange(count),
    )
    assert "The 20 most frequent of 23." in read(tags=own).text("figcaption")


def test_amounts_pair_what_is_true_with_what_is_predicted(read_page):
    page = read_page(amounts(["<b>", "手机"], [30, 4], [7, 0], title="spans"))
    drawn = page.text("text").split("\n")
    assert {"true", "predicted", "<b>", "手机", "30", "4", "7", "0"} <= set(drawn)
    for color in ("var(--accent)", "var(--second)"):
        # two bars and the legend's square
        assert len([a for a in page.named("path") if a.get("fill") == color]) == 3

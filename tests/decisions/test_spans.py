"""Tags that make valid spans: the most probable ones among all sequences, tried one by one."""

import itertools

import numpy as np
import pytest

from tagwright import decisions, registry
from tagwright.decisions import spans
from tagwright.decisions.spans import SpanDecision
from tagwright.errors import ShapeError

IOB2 = ["B-X", "O", "I-Y", "B-Y", "I-X"]
IOBES = ["O", "B-X", "I-X", "E-X", "S-X", "S-Y"]


def may_follow(before: str | None, after: str | None, *, iobes: bool) -> bool:
    """The rule in words; None is the edge of the text."""
    kind_before, kind_after = (tag[2:] if tag else None for tag in (before, after))
    goes_on = after is not None and after[0] in "IE"
    unfinished = iobes and before is not None and before[0] in "BI"
    if not goes_on:
        return not unfinished
    return before is not None and before[0] in "BI" and kind_before == kind_after


def best_legal(likely: np.ndarray, names: list[str]) -> tuple[int, ...] | None:
    """Of all L^T sequences the legal one with the highest sum."""
    iobes = any(name[0] == "E" for name in names)
    best, highest = None, -np.inf
    for ids in itertools.product(range(len(names)), repeat=len(likely)):
        edges = [None, *(names[i] for i in ids), None]
        if all(may_follow(a, b, iobes=iobes) for a, b in itertools.pairwise(edges)):
            value = sum(likely[place, i] for place, i in enumerate(ids))
            if value > highest:
                best, highest = ids, value
    return best


def scores(tokens: int, labels: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    logits = np.random.default_rng(seed).normal(0, 2, size=(tokens, labels))
    powers = np.exp(logits)
    return logits, powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("cells", [1, 40, 1 << 22])  # one text at a time, some, all
@pytest.mark.parametrize("names", [IOB2, IOBES], ids=["iob2", "iobes"])
def test_tags_are_the_best_of_all_legal_sequences(
    names: list[str], cells: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spans, "_CELLS", cells)
    lengths = [3, 0, 1, 4, 4, 2, 1, 0, 3, 4, 2, 1, 4]
    offsets = np.cumsum([0, *lengths])
    logits, probabilities = scores(offsets[-1], len(names))
    chosen = SpanDecision(names).choose(logits, probabilities, offsets)
    assert chosen.dtype == bool
    assert chosen.sum(axis=1).tolist() == [1] * len(logits)
    for start, end in itertools.pairwise(offsets):
        expected = best_legal(np.log(probabilities[start:end]), names)
        assert tuple(chosen[start:end].argmax(axis=1).tolist()) == expected
    assert (chosen.argmax(axis=1) != logits.argmax(axis=1)).any()


@pytest.mark.parametrize("names", [IOB2, IOBES], ids=["iob2", "iobes"])
def test_legal_highest_tags_are_kept(names: list[str]):
    legal = {"B-X", "O", "S-X", "S-Y", "B-Y"} - ({"B-X", "B-Y"} if names is IOBES else set())
    logits, probabilities = scores(60, len(names))
    logits[:, [name not in legal for name in names]] -= 50
    probabilities = np.exp(logits)
    offsets = np.array([0, 1, 11, 11, 60])
    assert (
        SpanDecision(names).choose(logits, probabilities, offsets).argmax(1) == logits.argmax(1)
    ).all()


@pytest.mark.parametrize(
    ("names", "legal", "known"),
    [(IOB2, False, True), (IOB2, True, False), (["NN", "VB", "O", "DT"], True, True)],
    ids=["not_legal", "no_offsets", "plain"],
)
def test_otherwise_every_token_gets_its_highest_tag(names: list[str], legal: bool, known: bool):
    logits, probabilities = scores(41, len(names))
    offsets = np.array([0, 20, 41]) if known else None
    chosen = SpanDecision(names, legal=legal).choose(logits, probabilities, offsets)
    np.testing.assert_array_equal(chosen, np.eye(len(names), dtype=bool)[logits.argmax(axis=1)])


def test_a_text_without_legal_tags_gets_the_highest_and_the_others_legal_ones():
    names = ["B-X", "E-X"]
    logits, probabilities = scores(7, 2, seed=1)
    chosen = SpanDecision(names).choose(logits, probabilities, np.array([0, 3, 7])).argmax(axis=1)
    assert chosen[:3].tolist() == logits[:3].argmax(axis=1).tolist()  # three tokens cannot be pairs
    assert chosen[3:].tolist() == [0, 1, 0, 1]


def test_probabilities_of_zero_forbid_nothing():
    names = ["O", "B-X", "I-X"]
    probabilities = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    chosen = (
        SpanDecision(names)
        .choose(np.log(probabilities + 1e-30), probabilities, np.array([0, 2]))
        .argmax(axis=1)
    )
    assert chosen.tolist() in ([0, 0], [0, 1], [1, 2])


def test_no_tokens_give_no_rows():
    empty = np.zeros((0, 5))
    assert SpanDecision(IOB2).choose(empty, empty, np.array([0])).shape == (0, 5)
    assert SpanDecision(IOB2).choose(empty, empty, np.array([0, 0, 0])).shape == (0, 5)


def test_scores_of_other_tags_or_texts_are_refused():
    logits, probabilities = scores(7, 5)
    with pytest.raises(ShapeError, match=r"the 5 tags, got \(7, 4\)"):
        SpanDecision(IOB2).choose(logits[:, :4], probabilities[:, :4])
    with pytest.raises(ShapeError, match="offsets must rise from 0 to the 7 tokens"):
        SpanDecision(IOB2).choose(logits, probabilities, np.array([0, 5]))


def test_only_the_setting_is_saved_and_names_come_back_as_a_fact():
    saved = decisions.as_dict(SpanDecision(IOB2, legal=False), IOB2)
    assert saved == {"legal": False}
    options, arrays = decisions.from_dict(saved, IOB2)
    assert arrays == {}
    assert not registry.build("decisions", "spans", options, label_names=IOB2).legal

"""The element mask against eq. 3 of MaskLoss: a label that is excused, and not gold, takes no
part.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tagwright.errors import DataError, SettingsError
from tagwright.losses import BinaryCrossEntropyLoss
from tagwright.masks.elements import ElementMask, element_mask

VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"

# logits, labels, the labels that are excused, value without a mask, value with it
CASES = [
    (
        [1.0, 0.5, -0.3, -2.0, 0.2, -1.0],
        [1, 0, 0, 0, 0, 0],
        [1],
        0.5133370806849407,
        0.3509909166549228,
    ),
    (
        [1.0, 0.5, -0.3, 1.4, 0.2, -1.0],
        [1, 1, 0, 0, 0, 0],
        [],
        0.678918647164187,
        0.678918647164187,
    ),
    ([10000.0, 10000.0, -10000.0], [1, 0, 0], [1], 3333.3333333333335, 0.0),
]


def published() -> list[tuple]:
    """The paper's whole list where it lies beside the project; who shares a group with gold is
    excused.
    """
    if not VECTORS.exists():
        return []
    cases = []
    for case in json.loads(VECTORS.read_text(encoding="utf-8"))["maskloss_eq3"]["cases"]:
        gold = {label for label, value in enumerate(case["labels"]) if value}
        alike = {label for group in case["groups"] if gold & set(group) for label in group}
        values = (case["expected_lambda1"], case["expected_lambda0"])
        cases.append((case["logits"], case["labels"], sorted(alike - gold), *values))
    return cases


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("logits", "labels", "free", "plain", "masked"), [*CASES, *published()])
def test_masked_mean_bce_is_that_of_the_paper(
    logits: list, labels: list, free: list, plain: float, masked: float
):
    scores, target = (
        torch.tensor([logits], dtype=torch.float64),
        torch.tensor([labels], dtype=torch.float64),
    )
    excused = torch.zeros(target.shape, dtype=torch.bool)
    excused[0, free] = True
    for plain_share, expected in ((1.0, plain), (0.0, masked)):
        mask = ElementMask(plain_share=plain_share)(target, drawn(), excused=excused)
        value = BinaryCrossEntropyLoss(labels="mean")(scores, target, mask=mask)
        assert value.item() == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_gold_takes_part_whatever_is_excused():
    target = torch.tensor([[1.0, 0.0, 0.3]])
    mask = ElementMask(plain_share=0.0)(target, drawn(), excused=torch.ones(1, 3, dtype=torch.bool))
    assert mask.tolist() == [[True, False, True]]


def test_examples_are_drawn_one_by_one_on_request():
    target, excused = torch.zeros(20_000, 2), torch.tensor([[True, False]]).expand(20_000, 2)
    mask = ElementMask(plain_share=0.3, draw="example")(target, drawn(), excused=excused)
    assert mask[:, 1].all()
    # six standard deviations
    assert mask[:, 0].float().mean().item() == pytest.approx(0.3, abs=0.02)
    steps = [
        ElementMask()(target[:50], drawn(seed), excused=excused[:50])[:, 0] for seed in range(40)
    ]
    assert {step.float().mean().item() for step in steps} == {0.0, 1.0}


def test_words_come_from_a_file(tmp_path: Path):
    (tmp_path / "words.csv").write_text("word,label\ncity,LOC:city\n")
    made = element_mask(words=str(tmp_path / "words.csv"), plain_share=0.25)
    assert made.elements.labels_of("city") == ("LOC:city",)
    assert (made.plain_share, made.model) == (0.25, "")
    assert element_mask(model="base").elements is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"threshold": 1.0}, SettingsError, "at least 0 and below 1, got 1.0"),
        ({"threshold": -0.1}, SettingsError, "at least 0 and below 1, got -0.1"),
        (
            {"select": "correkt"},
            SettingsError,
            "unknown mask.select 'correkt'; did you mean 'correct'",
        ),
        ({"plain_share": 2.0}, SettingsError, "plain_share must lie in"),
        ({"draw": "batch"}, SettingsError, "draw must be step or example"),
        ({"words": "nowhere.csv"}, DataError, "nowhere.csv: the file of elements cannot be read"),
        ({"words": "a.csv", "model": "b"}, SettingsError, "give one of them, got a.csv and b"),
    ],
)
def test_what_has_no_meaning_is_refused(given: dict, error: type, message: str):
    with pytest.raises(error, match=message):
        element_mask(**given)


def test_mask_agrees_with_loops_over_every_cell():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 7), rng.integers(1, 13)
        target, excused = rng.random((rows, labels)) < 0.3, rng.random((rows, labels)) < 0.4
        mask = ElementMask(plain_share=0.0)(
            torch.as_tensor(target), drawn(), excused=torch.as_tensor(excused)
        )
        for row in range(rows):
            for label in range(labels):
                assert mask[row, label].item() == (
                    not (excused[row, label] and not target[row, label])
                )

"""The group mask against eq. 3 of MaskLoss: a non-gold label that shares a group with a gold one is excused."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.losses import BinaryCrossEntropyLoss
from tagwright.masks.groups import GroupMask

VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"

# logits, labels, groups, value without a mask, value with it
CASES = [
    ([1.0, 0.5, -0.3, -2.0, 0.2, -1.0], [1, 0, 0, 0, 0, 0], [0, 0, 1, 2, 2, 2], 0.5133370806849407, 0.3509909166549228),
    ([1.0, 0.5, -0.3, 1.4, 0.2, -1.0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 2, 2, 2], 0.678918647164187, 0.678918647164187),
    ([10000.0, 10000.0, -10000.0], [1, 0, 0], [0, 0, 1], 3333.3333333333335, 0.0),
]


def published() -> list[tuple]:
    """The paper's whole list where it lies beside the project; its groups are lists of label ids."""
    if not VECTORS.exists():
        return []
    cases = []
    for case in json.loads(VECTORS.read_text(encoding="utf-8"))["maskloss_eq3"]["cases"]:
        group_of = {label: group for group, members in enumerate(case["groups"]) for label in members}
        ids = [group_of[label] for label in range(len(case["labels"]))]
        cases.append((case["logits"], case["labels"], ids, case["expected_lambda1"], case["expected_lambda0"]))
    return cases


def reference(target: np.ndarray, group_ids: np.ndarray) -> list[list[bool]]:
    """True where a term takes part, by looking at every pair of labels."""
    rows = []
    for row in target:
        excused = set()
        for gold in range(len(row)):
            for other in range(len(row)):
                alike = group_ids[gold] >= 0 and group_ids[gold] == group_ids[other]
                if row[gold] > 0 and row[other] == 0 and alike:
                    excused.add(other)
        rows.append([label not in excused for label in range(len(row))])
    return rows


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("logits", "labels", "groups", "plain", "masked"), [*CASES, *published()])
def test_masked_mean_bce_is_that_of_the_paper(logits: list, labels: list, groups: list, plain: float, masked: float):
    scores, target = torch.tensor([logits], dtype=torch.float64), torch.tensor([labels], dtype=torch.float64)
    for plain_share, expected in ((1.0, plain), (0.0, masked)):
        mask = GroupMask(np.array(groups), plain_share=plain_share)(target, drawn())
        value = BinaryCrossEntropyLoss(labels="mean")(scores, target, mask=mask)
        assert value.item() == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_random_cases_agree_with_the_loops():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 7), rng.integers(2, 13)
        group_ids = rng.integers(-1, 4, labels)
        target = (rng.random((rows, labels)) < 0.3) * rng.choice([1.0, 0.25])
        mask = GroupMask(group_ids, plain_share=0.0)(torch.as_tensor(target), drawn())
        assert mask.tolist() == reference(target, group_ids), f"seed {seed}"


def test_labels_without_a_group_excuse_nobody():
    target = torch.tensor([[1.0, 0.0, 0.0]])
    assert GroupMask(np.array([-1, -1, 0]), plain_share=0.0)(target, drawn()).all()


def test_row_without_gold_label_is_not_masked():
    assert GroupMask(np.array([0, 0, 0]), plain_share=0.0)(torch.zeros(2, 3), drawn()).all()


def test_plain_share_of_one_never_masks():
    mask_of = GroupMask(np.zeros(5, np.int64), plain_share=1.0)
    assert all(mask_of(torch.eye(5), drawn(seed)).all() for seed in range(50))


def test_draw_is_made_once_for_the_whole_step():
    mask_of, generator = GroupMask(np.zeros(2, np.int64), plain_share=0.5), drawn()
    steps = [mask_of(torch.eye(2)[torch.zeros(64, dtype=torch.long)], generator)[:, 1] for _ in range(40)]
    assert {step.float().mean().item() for step in steps} == {0.0, 1.0}


def test_draw_is_made_for_each_example_on_request():
    mask_of = GroupMask(np.zeros(2, np.int64), plain_share=0.3, draw="example")
    free = mask_of(torch.eye(2)[torch.zeros(20_000, dtype=torch.long)], drawn())
    assert free[:, 0].all()
    assert free[:, 1].float().mean().item() == pytest.approx(0.3, abs=0.02)  # six standard deviations


def test_plain_share_is_the_share_of_steps_without_a_mask():
    mask_of, generator = GroupMask(np.zeros(2, np.int64), plain_share=0.3), drawn()
    plain = [bool(mask_of(torch.eye(2), generator).all()) for _ in range(3000)]
    assert np.mean(plain) == pytest.approx(0.3, abs=0.05)  # six standard deviations


def test_generator_decides_the_draw():
    mask_of = GroupMask(np.zeros(2, np.int64), draw="example")
    target = torch.eye(2).repeat(50, 1)
    assert torch.equal(mask_of(target, drawn(4)), mask_of(target, drawn(4)))
    assert not torch.equal(mask_of(target, drawn(4)), mask_of(target, drawn(5)))


def test_global_random_state_is_left_alone_when_a_generator_is_given():
    before = torch.random.get_rng_state()
    GroupMask(np.zeros(2, np.int64))(torch.eye(2), drawn())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_refuses_settings_without_a_meaning():
    with pytest.raises(SettingsError, match="draw must be step or example, got 'batch'"):
        GroupMask(np.zeros(2, np.int64), draw="batch")
    with pytest.raises(SettingsError, match=r"plain_share must lie in \[0, 1\], got 1.5"):
        GroupMask(np.zeros(2, np.int64), plain_share=1.5)

"""The group mask against eq. 3 of MaskLoss: a non-gold label that shares a group with a gold one is
excused.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.errors import SettingsError
from tagwright.losses import BinaryCrossEntropyLoss
from tagwright.masks.groups import GroupMask, group_mask

VECTORS = Path(__file__).parents[3] / "shared" / "papers" / "vectors.json"

# logits, labels, the group of each label, value without a mask, value with it
CASES = [
    (
        [1.0, 0.5, -0.3, -2.0, 0.2, -1.0],
        [1, 0, 0, 0, 0, 0],
        [0, 0, 1, 2, 2, 2],
        0.5133370806849407,
        0.3509909166549228,
    ),
    (
        [1.0, 0.5, -0.3, 1.4, 0.2, -1.0],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 2, 2, 2],
        0.678918647164187,
        0.678918647164187,
    ),
    ([10000.0, 10000.0, -10000.0], [1, 0, 0], [0, 0, 1], 3333.3333333333335, 0.0),
]


def published() -> list[tuple]:
    """The paper's whole list where it lies beside the project; its groups are lists of label
    ids.
    """
    if not VECTORS.exists():
        return []
    cases = []
    for case in json.loads(VECTORS.read_text(encoding="utf-8"))["maskloss_eq3"]["cases"]:
        group_of = {
            label: group for group, members in enumerate(case["groups"]) for label in members
        }
        ids = [group_of[label] for label in range(len(case["labels"]))]
        cases.append(
            (
                case["logits"],
                case["labels"],
                ids,
                case["expected_lambda1"],
                case["expected_lambda0"],
            )
        )
    return cases


def one_each(group_ids: list[int] | np.ndarray) -> np.ndarray:
    """Membership (L, G) of labels with one group each, -1 for none."""
    return np.array([[own == group for group in range(max(group_ids) + 1)] for own in group_ids])


def reference(target: np.ndarray, membership: np.ndarray) -> list[list[bool]]:
    """True where a term takes part, by looking at every pair of labels."""
    rows = []
    for row in target:
        excused = set()
        for gold in range(len(row)):
            for other in range(len(row)):
                alike = any(
                    membership[gold, g] and membership[other, g] for g in range(membership.shape[1])
                )
                if row[gold] > 0 and row[other] == 0 and alike:
                    excused.add(other)
        rows.append([label not in excused for label in range(len(row))])
    return rows


def together(labels: int) -> np.ndarray:
    """All labels in one group."""
    return np.ones((labels, 1), bool)


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("logits", "labels", "groups", "plain", "masked"), [*CASES, *published()])
def test_masked_mean_bce_is_that_of_the_paper(
    logits: list, labels: list, groups: list, plain: float, masked: float
):
    scores, target = (
        torch.tensor([logits], dtype=torch.float64),
        torch.tensor([labels], dtype=torch.float64),
    )
    for plain_share, expected in ((1.0, plain), (0.0, masked)):
        mask = GroupMask(one_each(groups), plain_share=plain_share)(target, drawn())
        value = BinaryCrossEntropyLoss(labels="mean")(scores, target, mask=mask)
        assert value.item() == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_random_cases_agree_with_the_loops():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(1, 7), rng.integers(2, 13)
        membership = rng.random((labels, rng.integers(0, 5))) < rng.choice([0.1, 0.3, 0.6])
        target = (rng.random((rows, labels)) < 0.3) * rng.choice([1.0, 0.25])
        for form in (membership, csr_array(membership)):
            mask = GroupMask(form, plain_share=0.0)(torch.as_tensor(target), drawn())
            assert mask.tolist() == reference(target, membership), f"seed {seed}"


def test_labels_without_a_group_excuse_nobody():
    target = torch.tensor([[1.0, 0.0, 0.0]])
    assert GroupMask(one_each([-1, -1, 0]), plain_share=0.0)(target, drawn()).all()


def test_row_without_gold_label_is_not_masked():
    assert GroupMask(together(3), plain_share=0.0)(torch.zeros(2, 3), drawn()).all()


def test_plain_share_of_one_never_masks():
    mask_of = GroupMask(together(5), plain_share=1.0)
    assert all(mask_of(torch.eye(5), drawn(seed)).all() for seed in range(50))


def test_draw_is_made_once_for_the_whole_step():
    mask_of, generator = GroupMask(together(2), plain_share=0.5), drawn()
    steps = [
        mask_of(torch.eye(2)[torch.zeros(64, dtype=torch.long)], generator)[:, 1] for _ in range(40)
    ]
    assert {step.float().mean().item() for step in steps} == {0.0, 1.0}


def test_draw_is_made_for_each_example_on_request():
    mask_of = GroupMask(together(2), plain_share=0.3, draw="example")
    free = mask_of(torch.eye(2)[torch.zeros(20_000, dtype=torch.long)], drawn())
    assert free[:, 0].all()
    # six standard deviations
    assert free[:, 1].float().mean().item() == pytest.approx(0.3, abs=0.02)


def test_plain_share_is_the_share_of_steps_without_a_mask():
    mask_of, generator = GroupMask(together(2), plain_share=0.3), drawn()
    plain = [bool(mask_of(torch.eye(2), generator).all()) for _ in range(3000)]
    assert np.mean(plain) == pytest.approx(0.3, abs=0.05)  # six standard deviations


def test_generator_decides_the_draw():
    mask_of = GroupMask(together(2), draw="example")
    target = torch.eye(2).repeat(50, 1)
    assert torch.equal(mask_of(target, drawn(4)), mask_of(target, drawn(4)))
    assert not torch.equal(mask_of(target, drawn(4)), mask_of(target, drawn(5)))


def test_global_random_state_is_left_alone_when_a_generator_is_given():
    before = torch.random.get_rng_state()
    GroupMask(together(2))(torch.eye(2), drawn())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_refuses_settings_without_a_meaning():
    with pytest.raises(SettingsError, match="draw must be step or example, got 'batch'"):
        GroupMask(together(2), draw="batch")
    with pytest.raises(SettingsError, match=r"plain_share must lie in \[0, 1\], got 1.5"):
        GroupMask(together(2), plain_share=1.5)


def test_two_groups_of_one_gold_label_both_excuse_and_do_not_reach_further():
    membership = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], bool)
    mask_of = GroupMask(membership, plain_share=0.0)
    assert mask_of(torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0]])).tolist() == [
        [True, False, False, True],
        [False, True, True, True],
    ]


@pytest.mark.parametrize("dtype", [torch.bool, torch.bfloat16, torch.float16, torch.float64])
def test_any_kind_of_target_gives_the_same_mask(dtype: torch.dtype):
    """A thousand gold labels in one group are more than bfloat16 can count."""
    target = torch.ones(1, 1001)
    target[0, -1] = 0
    assert GroupMask(together(1001), plain_share=0.0)(target.to(dtype))[0].tolist() == [
        True
    ] * 1000 + [False]


def test_groups_come_from_names_or_a_file(tmp_path: Path):
    names, gold = ("a/x", "a/y", "b/x", "b/y"), torch.tensor([[1.0, 0, 0, 0]])
    (tmp_path / "g.toml").write_text('[groups]\nx = ["a/x", "b/x"]\ny = ["a/x", "b/y", "c"]\n')
    assert group_mask(names, plain_share=0.0)(gold).tolist() == [[True, False, True, True]]
    made = group_mask(names, groups=str(tmp_path / "g.toml"), plain_share=0.0)
    assert made(gold).tolist() == [[True, True, False, False]]
    assert group_mask(names).said == (
        "mask: 4 of 4 labels stand in 2 groups, by what stands before '/'",
    )
    assert made.said == (
        "mask: 3 of 4 labels stand in 2 groups",
        "labels in several groups, excused in each of them: a/x",
        "labels of the groups that are not in train, left out: c",
    )

"""The objective: loss, mask and weights composed, and built from settings for a label space."""

import re

import numpy as np
import pytest
import torch
from torch import Tensor

from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.losses import (
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    LossModule,
    SparseTarget,
    ZLPRLoss,
    bce,
    zlpr,
)
from tagwright.objective import Objective, build_objective
from tagwright.settings.schema import resolve
from tagwright.weights.label_weights import LabelWeights

NAMES = ("cs.AI", "cs.LG", "math.AG", "math.CO", "math.NT", "physics")
SPACE = LabelSpace(names=NAMES, counts=(1, 4, 2, 8, 5, 20))
ALONE = LabelSpace(names=("cat", "dog", "owl"), counts=(3, 2, 1), exclusive=True)


def batch(rows: int = 9, labels: int = 6) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(rows, labels, generator=generator, dtype=torch.float64)
    return logits, (torch.rand(rows, labels, generator=generator) < 0.3).double()


def excused(target: Tensor) -> Tensor:
    """Labels without gold whose prefix is that of a gold one, by loops."""
    found = torch.zeros(target.shape, dtype=torch.bool)
    for row in range(len(target)):
        gold = {
            NAMES[label].split(".")[0]
            for label in range(6)
            if target[row, label] and "." in NAMES[label]
        }
        for label in range(6):
            found[row, label] = not target[row, label] and NAMES[label].split(".")[0] in gold
    return found


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance, check_dtype=False)


@pytest.mark.parametrize("name", ["bce", "zlpr", "maskloss-label"])
def test_parts_of_a_batch_add_up_to_the_whole(name: str):
    objective = build_objective(
        resolve({"objective": name, "mask": {"name": "groups", "plain_share": 0.0}}),
        SPACE,
        row_count=100,
    )
    logits, target = batch()
    weight = torch.linspace(0, 2, 9).double()
    whole = objective(logits, target, example_weight=weight)
    parts = [
        objective(logits[cut], target[cut], example_weight=weight[cut])
        for cut in (slice(0, 4), slice(4, 9))
    ]
    assert whole.shape == ()
    close(whole, sum(parts))


def test_plain_objective_is_the_sum_of_its_loss():
    close(
        build_objective(resolve({"objective": "zlpr"}), SPACE, row_count=100)(*batch()),
        zlpr(*batch()).sum(),
    )
    close(
        build_objective(resolve({"objective": "bce"}), SPACE, row_count=100)(*batch()),
        bce(*batch()).sum(),
    )


def test_settings_of_the_loss_arrive():
    given = {"objective": "zlpr", "loss": {"threshold": 0.7}}
    close(
        build_objective(resolve(given), SPACE, row_count=100)(*batch()),
        zlpr(*batch(), threshold=0.7).sum(),
    )


def test_examples_weigh_in_the_sum_and_are_not_divided_out():
    logits, target = batch()
    weight = torch.linspace(0, 2, 9).double()
    objective = build_objective(resolve({"objective": "bce"}), SPACE, row_count=100)
    value = objective(logits, target, example_weight=weight)
    close(value, sum(w * v for w, v in zip(weight, bce(logits, target))))


def test_maskloss_divides_by_all_labels_and_drops_look_alikes():
    """Eq. 3 of MaskLoss with λ = 0: look-alikes by the names' prefix; physics has no group."""
    logits, target = batch()
    given = {"objective": "maskloss-label", "mask": {"plain_share": 0.0}}
    value = build_objective(resolve(given), SPACE, row_count=100)(logits, target)
    expected = 0.0
    for row in range(9):
        for label in range(6):
            if not excused(target)[row, label]:
                sign = -1 if target[row, label] else 1
                expected += np.log1p(np.exp(sign * logits[row, label].item())) / 6
    assert value.item() == pytest.approx(expected, rel=1e-10)


def test_unknown_cells_take_no_part():
    logits, target = batch()
    known = torch.rand(9, 6, generator=torch.Generator().manual_seed(1)) < 0.6
    objective = Objective(ZLPRLoss(reduction="sum"))
    close(objective(logits, target, known=known), zlpr(logits, target, mask=known).sum())


def test_term_takes_part_only_if_known_and_not_excused():
    logits, target = batch()
    known = torch.rand(9, 6, generator=torch.Generator().manual_seed(1)) < 0.6
    given = {"objective": "zlpr", "mask": {"name": "groups", "plain_share": 0.0}}
    value = build_objective(resolve(given), SPACE, row_count=100)(logits, target, known=known)
    close(value, zlpr(logits, target, mask=known & ~excused(target)).sum())


@pytest.mark.parametrize("name", ["bce", "zlpr"])
def test_labels_that_words_excuse_take_no_part(name: str):
    logits, target = batch()
    known, free = (
        torch.rand(9, 6, generator=torch.Generator().manual_seed(seed)) < 0.6 for seed in (1, 2)
    )
    given = {"objective": name, "mask": {"name": "elements", "plain_share": 0.0}}
    objective = build_objective(resolve(given), SPACE, row_count=100)
    loss = {"bce": bce, "zlpr": zlpr}[name]
    part = ~free | (target > 0)
    close(objective(logits, target, excused=free), loss(logits, target, mask=part).sum())
    close(
        objective(logits, target, excused=free, known=known),
        loss(logits, target, mask=part & known).sum(),
    )


def test_generator_decides_the_mask():
    objective = build_objective(
        resolve({"objective": "maskloss-label", "mask": {"draw": "example"}}), SPACE, row_count=100
    )
    values = [
        objective(*batch(), generator=torch.Generator().manual_seed(seed)).item()
        for seed in (3, 3, 4)
    ]
    assert values[0] == values[1] != values[2]


def test_plain_share_of_a_half_mixes_two_values():
    objective = build_objective(resolve({"objective": "maskloss-label"}), SPACE, row_count=100)
    generator = torch.Generator().manual_seed(0)
    assert len({objective(*batch(), generator=generator).item() for _ in range(30)}) == 2


def test_inverse_weights_come_from_the_counts_of_the_space():
    logits, target = batch()
    given = {"objective": "bce", "weights": {"name": "inverse"}}
    value = build_objective(resolve(given), SPACE, row_count=100)(logits, target)
    weight = torch.tensor([40 / 6 / count for count in SPACE.counts], dtype=torch.float64)
    close(value, bce(logits, target, positive_weight=weight).sum(), 1e-6)


def test_given_weights_go_to_their_own_terms():
    logits, target = batch()
    positive, negative = torch.linspace(1, 2, 6), torch.linspace(0, 1, 6)
    weights = LabelWeights(positive.numpy(), negative.numpy())
    objective = Objective(BinaryCrossEntropyLoss(reduction="sum"), weights=weights)
    close(
        objective(logits, target),
        bce(logits, target, positive_weight=positive, negative_weight=negative).sum(),
    )


def test_weights_follow_the_device_but_stay_out_of_the_checkpoint():
    objective = build_objective(resolve({"weights": {"name": "inverse"}}), SPACE, row_count=100)
    assert objective.to("meta").positive.device.type == "meta"
    assert not objective.state_dict()


def test_exclusive_labels_take_a_softmax_loss():
    logits, target = batch(7, 3)[0], torch.eye(3).double()[[0, 1, 2, 2, 1, 0, 2]]
    value = build_objective(resolve({"objective": "cross_entropy"}), ALONE, row_count=100)(
        logits, target
    )
    expected = sum(
        np.log(sum(np.exp(row))) - row @ gold for row, gold in zip(logits.numpy(), target.numpy())
    )
    assert value.item() == pytest.approx(expected, rel=1e-10)


def test_loss_for_one_label_refuses_several_and_names_those_that_fit():
    with pytest.raises(
        SettingsError, match=r"cross_entropy does not fit .*any number of labels.*: .*bce.*zlpr"
    ):
        build_objective(resolve({"objective": "cross_entropy"}), SPACE, row_count=100)


def test_mask_without_groups_is_refused():
    with pytest.raises(SettingsError, match="names of the labels show no groups"):
        build_objective(resolve({"objective": "maskloss-label"}), ALONE, row_count=100)


def test_an_element_mask_is_refused_where_labels_come_in_chunks():
    given = {"objective": "maskloss-elem", "head": {"name": "document", "chunk": 8}}
    with pytest.raises(
        SettingsError, match=r"mask elements looks at all labels .* with head.chunk take none"
    ):
        build_objective(resolve(given), SPACE, row_count=100)


def test_batchwise_loss_refuses_accumulation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(BinaryCrossEntropyLoss, "batchwise", True)
    with pytest.raises(SettingsError, match=re.escape("fit.accumulate must be 1")):
        build_objective(
            resolve({"objective": "bce", "fit": {"accumulate": 2}}), SPACE, row_count=100
        )
    build_objective(resolve({"objective": "bce"}), SPACE, row_count=100)


def test_batchwise_loss_weighs_as_much_as_its_batch_has_examples():
    class Flat(LossModule):
        batchwise = True

        def forward(self, logits: Tensor, target: Tensor, **extras: Tensor | None) -> Tensor:
            return logits.new_tensor(2.5)

    assert Objective(Flat())(*batch()).item() == 2.5 * 9


def test_gradient_reaches_the_logits():
    logits, target = batch()
    Objective(CrossEntropyLoss(reduction="sum"))(logits.requires_grad_(), target).backward()
    assert logits.grad.abs().sum() > 0


@pytest.mark.parametrize("weights", ["none", "inverse", "array"])
def test_the_objective_of_logits_that_are_never_made(weights: str):
    objective = build_objective(
        resolve({"objective": "cross_entropy", "weights": weights}), ALONE, row_count=6
    )
    generator = torch.Generator().manual_seed(1)
    hidden, matrix = torch.randn(4, 2, generator=generator), torch.randn(3, 2, generator=generator)
    bias, factor = torch.randn(3, generator=generator), torch.tensor([1.0, 0.5, 2.0, 0.0])
    sparse = SparseTarget(torch.tensor([2, 0, 1, 0]), torch.arange(5))
    whole = objective(hidden @ matrix.T + bias, sparse.dense(3), example_weight=factor)
    found = objective.linear(hidden, matrix, bias, sparse, chunk=2, example_weight=factor)
    close(found, whole, 1e-5)


def soft_batch() -> tuple[Tensor, Tensor, Tensor]:
    logits, target = batch()
    return (
        logits,
        target,
        torch.rand(target.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64),
    )


def objective_of(space: LabelSpace = SPACE, **given: object) -> Objective:
    """One whose targets give soft labels; those of the test are handed in."""
    return build_objective(
        resolve({"targets": "smooth", **given}, "one" if space.exclusive else "many"),
        space,
        row_count=9,
    )


def test_soft_labels_take_the_labels_place():
    logits, target, soft = soft_batch()
    close(objective_of(objective="bce")(logits, target, soft=soft), bce(logits, soft).sum())


@pytest.mark.parametrize(("alpha", "halved"), [(1.0, True), (0.5, True), (2.0, False)])
@pytest.mark.parametrize(
    ("name", "probability"), [("bce", lambda s: s.sigmoid()), ("zlpr", lambda s: (2 * s).sigmoid())]
)
def test_soft_labels_stand_beside_the_loss(name, probability, alpha, halved):
    logits, target, soft = soft_batch()
    role = {"role": "auxiliary", "alpha": alpha, "halved": halved}
    found = objective_of(objective=name, soft=role)(logits, target, soft=soft)
    hard = {"bce": bce, "zlpr": zlpr}[name](logits, target).sum()
    squares = (soft - probability(logits)).square().mean(1).sum()
    close(found, (hard + alpha * squares) / ((2 if halved else 1) * (1 + alpha) ** 2))


def test_a_head_of_their_own_is_held_to_soft_labels():
    logits, target, soft = soft_batch()
    objective = objective_of(objective="bce", soft={"role": "auxiliary", "heads": 2})
    found = objective(logits, target, soft=soft, soft_logits=-logits)
    close(
        found, (bce(logits, target).sum() + (soft - (-logits).sigmoid()).square().mean(1).sum()) / 8
    )


@pytest.mark.parametrize("role", ["replace", "auxiliary"])
def test_before_they_begin_soft_labels_change_nothing(role):
    logits, target, soft = soft_batch()
    objective = objective_of(objective="bce", soft={"role": role, "from_step": 3})
    objective.begun.fill_(0)
    close(objective(logits, target, soft=soft), bce(logits, target).sum())


@pytest.mark.parametrize("role", ["replace", "auxiliary"])
def test_masks_go_by_the_labels_not_by_soft_ones(role):
    logits, target, soft = soft_batch()
    mask = {"name": "groups", "plain_share": 0.0}
    objective = objective_of(objective="bce", soft={"role": role}, mask=mask)
    part = ~excused(target)
    if role == "replace":
        expected = bce(logits, soft, mask=part).sum()
    else:
        error = ((soft - logits.sigmoid()).square() * part).sum(1) / 6
        expected = (bce(logits, target, mask=part).sum() + error.sum()) / 8
    close(objective(logits, target, soft=soft), expected)


def test_soft_labels_under_a_softmax_are_those_of_the_paper():
    logits = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]], dtype=torch.float64).log()
    hard, soft = (
        torch.eye(3).double()[[0, 2]],
        torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], dtype=torch.float64),
    )
    objective = objective_of(ALONE, objective="ls-classic")
    close(
        objective(logits, hard, soft=soft) / 2,
        torch.tensor(0.0803936880716388, dtype=torch.float64),
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"objective": "lsep"}, "lsep takes no soft labels; take a loss that does: .*bce"),
        (
            {"objective": "lsep", "soft": {"role": "auxiliary"}},
            "lsep's logits give no probabilities",
        ),
        ({"soft": {"heads": 2}}, "soft.heads must be 1, or 2 with soft.role=auxiliary, got 2"),
        ({"soft": {"heads": 3, "role": "auxiliary"}}, "got 3"),
        ({"encoder": "cnn", "head": {"name": "document", "chunk": 8}}, "with head.chunk take hard"),
    ],
)
def test_soft_labels_where_they_cannot_be_are_refused(given, message):
    with pytest.raises(SettingsError, match=message):
        objective_of(**given)

"""Divergences text by text, against loops over equations 36 and 37."""

import pytest
import torch

from tagwright.losses import (
    AdaptiveThresholdLoss,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    ZLPRLoss,
    kl,
    symmetric_kl,
)
from tagwright.regularise._apart import Apart

from . import tiny

LOSSES = {
    "sigmoid2": ZLPRLoss,
    "sigmoid": BinaryCrossEntropyLoss,
    "softmax": CrossEntropyLoss,
    "threshold_class": AdaptiveThresholdLoss,
}
MEASURES = {"kl": (kl, tiny.kl), "symmetric": (symmetric_kl, tiny.symmetric)}


def drawn(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return [2 * torch.randn(shape, dtype=torch.float64, generator=generator) for _ in range(2)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("link", LOSSES)
def test_labels_of_texts(link, measure):
    ours, loops = MEASURES[measure]
    one, two = drawn(4, 6 if link == "threshold_class" else 5)
    found = Apart(ours, tiny.objective_of(LOSSES[link](reduction="sum")), link, None)(
        {"main": one}, {"main": two}, tiny.batch_of()
    )
    expected = [loops(a, b, link) for a, b in zip(one.tolist(), two.tolist())]
    assert found.tolist() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("link", ["softmax", "sigmoid"])
def test_tags_of_tokens_are_summed_where_one_is_asked_for(link):
    one, two = drawn(4, 4, 3)
    apart = Apart(kl, tiny.objective_of(LOSSES[link](reduction="sum")), link, None)
    found = apart({"main": one}, {"main": two}, tiny.batch_of(labels=0, tags=tiny.TAGS))
    expected = [
        sum(tiny.kl(one[b, t].tolist(), two[b, t].tolist(), link) for t in range(4) if tiny.TAGS[b, t] >= 0)
        for b in range(4)
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-10)
    assert found[3] == 0


def test_labels_and_tags_are_added_by_the_weight_of_the_tags():
    (one, two), (three, four) = drawn(4, 5), drawn(4, 4, 3)
    objective = tiny.objective_of(ZLPRLoss(reduction="sum"), CrossEntropyLoss(reduction="sum"), weight=0.3)
    batch = tiny.batch_of(tags=tiny.TAGS)
    found = Apart(kl, objective, "sigmoid2", "softmax")(
        {"main": one, "tags": three}, {"main": two, "tags": four}, batch
    )
    alone = Apart(kl, tiny.objective_of(ZLPRLoss()), "sigmoid2", None)({"main": one}, {"main": two}, tiny.batch_of())
    tagged = Apart(kl, tiny.objective_of(CrossEntropyLoss()), "softmax", None)
    torch.testing.assert_close(found, alone + 0.3 * tagged({"main": three}, {"main": four}, batch))


def test_slots_that_show_their_label_take_no_part():
    one, two = drawn(4, 5)
    shown = (torch.arange(20).view(4, 5) * 7) % 3
    apart = Apart(kl, tiny.objective_of(ZLPRLoss()), "sigmoid2", None)
    found = apart({"main": one}, {"main": two}, tiny.batch_of(shown=shown))
    hidden = [[c for c in range(5) if shown[b, c] == 2] for b in range(4)]
    expected = [
        tiny.kl([one[b, c].item() for c in labels], [two[b, c].item() for c in labels], "sigmoid2")
        for b, labels in enumerate(hidden)
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-10)


def test_a_loss_that_is_a_mean_over_labels_makes_the_divergence_one():
    one, two = drawn(4, 5)
    found = {
        labels: Apart(kl, tiny.objective_of(BinaryCrossEntropyLoss(labels=labels)), "sigmoid", None)(
            {"main": one}, {"main": two}, tiny.batch_of()
        )
        for labels in ("sum", "mean")
    }
    torch.testing.assert_close(5 * found["mean"], found["sum"])


def test_texts_weigh_what_they_weigh():
    one, two = drawn(4, 5)
    apart = Apart(kl, tiny.objective_of(ZLPRLoss()), "sigmoid2", None)
    weight = torch.tensor([0.5, 0.0, 2.0, 1.0], dtype=torch.float64)
    each = apart({"main": one}, {"main": two}, tiny.batch_of())
    total = apart.total({"main": one}, {"main": two}, tiny.batch_of(weight=weight))
    assert total.item() == pytest.approx((each * weight).sum().item(), rel=1e-12)
    assert apart.total({"main": one}, {"main": two}, tiny.batch_of()).item() == pytest.approx(each.sum().item())

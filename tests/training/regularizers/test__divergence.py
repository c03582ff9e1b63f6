"""Divergences text by text, against loops over equations 36 and 37."""

import pytest
import torch

from tagwright.batches.rows import HeadBatch
from tagwright.losses import (
    AdaptiveThresholdLoss,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    ZLPRLoss,
    kl,
    symmetric_kl,
)
from tagwright.training.regularizers._divergence import Divergence

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


def alone(measure, loss, link, tagged=False):
    """Of a network with one head."""
    return Divergence(measure, {"main": tiny.objective_of(loss, link, tagged=tagged)})


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("link", LOSSES)
def test_labels_of_texts(link, measure):
    ours, loops = MEASURES[measure]
    one, two = drawn(4, 6 if link == "threshold_class" else 5)
    found = alone(ours, LOSSES[link](reduction="sum"), link)(
        {"main": one}, {"main": two}, tiny.batch_of()
    )
    expected = [loops(a, b, link) for a, b in zip(one.tolist(), two.tolist())]
    assert found.tolist() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("link", ["softmax", "sigmoid"])
def test_tags_of_tokens_are_summed_where_one_is_asked_for(link):
    one, two = drawn(4, 4, 3)
    divergence = alone(kl, LOSSES[link](reduction="sum"), link, tagged=True)
    found = divergence({"main": one}, {"main": two}, tiny.batch_of(labels=0, tags=tiny.TAGS))
    expected = [
        sum(
            tiny.kl(one[b, t].tolist(), two[b, t].tolist(), link)
            for t in range(4)
            if tiny.TAGS[b, t] >= 0
        )
        for b in range(4)
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-10)
    assert found[3] == 0


def test_labels_and_tags_are_added_by_the_weight_of_the_tags():
    (one, two), (three, four) = drawn(4, 5), drawn(4, 4, 3)
    labels = tiny.objective_of(ZLPRLoss(reduction="sum"), "sigmoid2")
    tags = tiny.objective_of(CrossEntropyLoss(reduction="sum"), "softmax", tagged=True, weight=0.3)
    found = Divergence(kl, {"main": labels, "tags": tags})(
        {"main": one, "tags": three}, {"main": two, "tags": four}, tiny.batch_of(tags=tiny.TAGS)
    )
    of_labels = alone(kl, ZLPRLoss(), "sigmoid2")({"main": one}, {"main": two}, tiny.batch_of())
    tagged = alone(kl, CrossEntropyLoss(), "softmax", tagged=True)
    of_tags = tagged({"main": three}, {"main": four}, tiny.batch_of(0, tags=tiny.TAGS))
    torch.testing.assert_close(found, of_labels + 0.3 * of_tags)


def test_every_head_goes_by_its_own_link_and_weight_on_texts_without_its_label_too():
    made = {"one": (CrossEntropyLoss(), "softmax", 2.5), "many": (ZLPRLoss(), "sigmoid2", 1.0)}
    made["other"] = (BinaryCrossEntropyLoss(labels="mean"), "sigmoid", 0.3)
    scores = {
        name: drawn(4, size)
        for name, size in {"one": 3, "many": 5, "other": 7, "many soft": 5}.items()
    }
    first, second = ({name: pair[n] for name, pair in scores.items()} for n in range(2))
    # who agrees needs no answer
    few = HeadBatch(torch.zeros(4, 3), weight=torch.tensor([0.0, 1.0, 0.0, 0.0]))
    heads = {
        "one": few,
        "many": HeadBatch(torch.zeros(4, 5)),
        "other": HeadBatch(torch.zeros(4, 7)),
    }
    batch = tiny.batch_of()._replace(
        heads=heads, weight=torch.tensor([1.0, 0.5, 2.0, 0.0]).double()
    )
    objectives = {
        name: tiny.objective_of(loss, link, weight=weight)
        for name, (loss, link, weight) in made.items()
    }
    # its loss weighs more, for few texts have its label; to agree, none is needed
    objectives["one"] = tiny.objective_of(*made["one"][:2], weight=10.0, of_any_text=2.5)
    divergence = Divergence(symmetric_kl, objectives)
    expected = []
    for row in range(4):
        each = {
            name: tiny.symmetric(first[name][row].tolist(), second[name][row].tolist(), link)
            for name, (_, link, _) in made.items()
        }
        expected.append(2.5 * each["one"] + each["many"] + 0.3 * each["other"] / 7)
    assert divergence(first, second, batch).tolist() == pytest.approx(expected, rel=1e-10)
    total = expected[0] + 0.5 * expected[1] + 2 * expected[2]
    assert divergence.total(first, second, batch).item() == pytest.approx(total, rel=1e-10)


def test_slots_that_show_their_label_take_no_part():
    one, two = drawn(4, 5)
    shown = (torch.arange(20).view(4, 5) * 7) % 3
    divergence = alone(kl, ZLPRLoss(), "sigmoid2")
    found = divergence({"main": one}, {"main": two}, tiny.batch_of(shown=shown))
    hidden = [[c for c in range(5) if shown[b, c] == 2] for b in range(4)]
    expected = [
        tiny.kl([one[b, c].item() for c in labels], [two[b, c].item() for c in labels], "sigmoid2")
        for b, labels in enumerate(hidden)
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-10)


def test_a_loss_that_is_a_mean_over_labels_makes_the_divergence_one():
    one, two = drawn(4, 5)
    found = {
        labels: alone(kl, BinaryCrossEntropyLoss(labels=labels), "sigmoid")(
            {"main": one}, {"main": two}, tiny.batch_of()
        )
        for labels in ("sum", "mean")
    }
    torch.testing.assert_close(5 * found["mean"], found["sum"])


def test_texts_weigh_what_they_weigh():
    one, two = drawn(4, 5)
    divergence = alone(kl, ZLPRLoss(), "sigmoid2")
    weight = torch.tensor([0.5, 0.0, 2.0, 1.0], dtype=torch.float64)
    each = divergence({"main": one}, {"main": two}, tiny.batch_of())
    total = divergence.total({"main": one}, {"main": two}, tiny.batch_of(weight=weight))
    assert total.item() == pytest.approx((each * weight).sum().item(), rel=1e-12)
    assert divergence.total({"main": one}, {"main": two}, tiny.batch_of()).item() == pytest.approx(
        each.sum().item()
    )

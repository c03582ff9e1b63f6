"""R-Drop against its equation, with dropout that is known; and without dropout, the plain loss."""

import math

import pytest
import torch
from torch import nn

from tagwright.batches.rows import Batch, HeadBatch
from tagwright.losses import (
    AdaptiveThresholdLoss,
    BatchDiceLoss,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    ZLPRLoss,
)
from tagwright.training.learner import Learner
from tagwright.training.regularizers.rdrop import RDrop

from . import tiny

ONE = torch.eye(5)[torch.tensor([1, 3, 0, 0])]
CASES = {
    "sigmoid2": (ZLPRLoss, 5, {}),
    "sigmoid": (BinaryCrossEntropyLoss, 5, {}),
    "softmax": (CrossEntropyLoss, 5, {"target": ONE}),
    "threshold_class": (AdaptiveThresholdLoss, 6, {}),
}
WEIGHT = torch.tensor([1.0, 0.5, 2.0, 1.0], dtype=torch.float64)


def main_of(loss, link, **more):
    return {"main": tiny.objective_of(loss, link, **more)}


def labels_and_tags(loss, link, of_tags, link_of_tags):
    tags = tiny.objective_of(of_tags, link_of_tags, tagged=True, weight=0.3)
    return {**main_of(loss, link), "tags": tags}


def factors(rows=8):
    return 2 * torch.rand(
        rows, tiny.WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(4)
    )


def both_passes(network, batch):
    """The logits of two passes of the batch by itself, with the first and the last rows of the
    factors.
    """
    noise, whole = network.encoder.noise, network.encoder.noise.factors
    found = []
    for half in whole.chunk(2):
        noise.factors = half
        found.append(network(*batch.inputs))
    noise.factors = whole
    return found


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.5])
@pytest.mark.parametrize("link", CASES)
def test_value_is_that_of_the_equation(link, alpha):
    kind, size, more = CASES[link]
    network = tiny.network_of({"main": (size,)}, tiny.Factors(factors()))
    objectives, batch = main_of(kind(reduction="sum"), link), tiny.batch_of(weight=WEIGHT, **more)
    learn = RDrop(Learner(network, objectives), objectives, alpha=alpha)
    found = learn(batch, torch.Generator()).value
    first, second = both_passes(network, batch)
    loss = kind(reduction="none")
    expected = 0.0
    for row in range(4):
        one, two = first["main"][row], second["main"][row]
        target = batch.heads["main"].target[row][None]
        losses = [loss(scores[None], target).item() for scores in (one, two)]
        apart = tiny.symmetric(one.tolist(), two.tolist(), link)
        expected += WEIGHT[row].item() * (sum(losses) / 2 + alpha / 2 * apart)
    assert found.item() == pytest.approx(expected, rel=1e-10)


def test_tags_of_tokens():
    network = tiny.network_of({"main": (3, True)}, tiny.Factors(factors()))
    objectives = main_of(CrossEntropyLoss(reduction="sum"), "softmax", tagged=True)
    batch = tiny.batch_of(0, tags=tiny.TAGS)
    found = RDrop(Learner(network, objectives), objectives, alpha=2.0)(
        batch, torch.Generator()
    ).value
    first, second = (logits["main"].log_softmax(-1) for logits in both_passes(network, batch))
    expected = 0.0
    for text in range(4):
        for place in range(4):
            tag = tiny.TAGS[text, place]
            if tag >= 0:
                one, two = first[text, place], second[text, place]
                expected -= (one[tag] + two[tag]).item() / 2
                expected += tiny.symmetric(one.tolist(), two.tolist(), "softmax")
    assert found.item() == pytest.approx(expected, rel=1e-10)


def test_labels_and_tags_at_once():
    heads = {"main": (5,), "tags": (3, True)}
    network = tiny.network_of(heads, tiny.Factors(factors()))
    objectives = labels_and_tags(
        ZLPRLoss(reduction="sum"), "sigmoid2", CrossEntropyLoss(reduction="sum"), "softmax"
    )
    batch = tiny.batch_of(tags=tiny.TAGS)
    found = RDrop(Learner(network, objectives), objectives, alpha=2.0)(
        batch, torch.Generator()
    ).value
    first, second = both_passes(network, batch)
    expected, zlpr, cross_entropy = (
        0.0,
        ZLPRLoss(reduction="none"),
        CrossEntropyLoss(reduction="none"),
    )
    for row in range(4):
        pair = [logits["main"][row] for logits in (first, second)]
        target = batch.heads["main"].target[row][None]
        expected += sum(zlpr(scores[None], target).item() for scores in pair) / 2
        expected += tiny.symmetric(*(scores.tolist() for scores in pair), "sigmoid2")
        for place in range(4):
            tag = tiny.TAGS[row, place]
            if tag >= 0:
                pair = [logits["tags"][row, place] for logits in (first, second)]
                gold = torch.eye(3)[tag][None].double()
                expected += (
                    0.3 * sum(cross_entropy(scores[None], gold).item() for scores in pair) / 2
                )
                expected += 0.3 * tiny.symmetric(*(scores.tolist() for scores in pair), "softmax")
    assert found.item() == pytest.approx(expected, rel=1e-10)


def test_heads_of_texts_at_once_of_which_some_have_no_answer():
    """A loss goes by the answers of its head; that both passes agree is asked of all texts, by
    their own weight.
    """
    network = tiny.network_of({"one": (3,), "many": (5,)}, tiny.Factors(factors()))
    objectives = {
        "one": tiny.objective_of(CrossEntropyLoss(reduction="sum"), "softmax", weight=2.5),
        "many": tiny.objective_of(BinaryCrossEntropyLoss(reduction="sum"), "sigmoid"),
    }
    classes, labels = (
        [2, None, 0, 0],
        torch.tensor([[1.0, 0, 0, 1, 0], [0] * 5, [0, 1, 1, 1, 0], [0, 0, 1, 0, 1]]),
    )
    answered = {"one": [1.0, 0.0, 1.0, 1.0], "many": [0.0, 1.0, 1.0, 1.0]}
    target = torch.stack(
        [torch.zeros(3) if gold is None else torch.eye(3)[gold] for gold in classes]
    )
    targets = {"one": target.double(), "many": labels.double()}
    heads = {
        name: HeadBatch(targets[name], weight=WEIGHT * torch.tensor(answered[name]))
        for name in targets
    }
    batch = Batch((tiny.IDS, tiny.LENGTHS), heads, WEIGHT)
    found = RDrop(Learner(network, objectives), objectives, alpha=2.0)(
        batch, torch.Generator()
    ).value
    first, second = both_passes(network, batch)
    expected = 0.0
    for row, weight in enumerate(WEIGHT.tolist()):
        one, many = (
            [logits[name][row].tolist() for logits in (first, second)] for name in ("one", "many")
        )
        value = 2.5 * tiny.symmetric(*one, "softmax") + tiny.symmetric(*many, "sigmoid")
        for scores in one if classes[row] is not None else ():
            value -= 2.5 * math.log(tiny.chances(scores, "softmax")[classes[row]]) / 2
        for scores in many if answered["many"][row] else ():
            for chance, gold in zip(tiny.chances(scores, "sigmoid"), labels[row]):
                value -= math.log(chance if gold else 1 - chance) / 2
        expected += weight * value
    assert found.item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("link", CASES)
def test_without_dropout_it_is_the_plain_loss_and_its_gradient(link):
    kind, size, more = CASES[link]
    network = tiny.network_of({"main": (size,)}, nn.Dropout(0.0))
    objectives, batch = main_of(kind(reduction="sum"), link), tiny.batch_of(weight=WEIGHT, **more)
    plain = Learner(network, objectives)
    found = {}
    for name, learn in {"plain": plain, "rdrop": RDrop(plain, objectives, alpha=7.0)}.items():
        network.zero_grad()
        value = learn(batch, torch.Generator()).value
        value.backward()
        found[name] = [
            value.detach(),
            *(parameter.grad.clone() for parameter in network.parameters()),
        ]
    torch.testing.assert_close(found["rdrop"], found["plain"], rtol=1e-12, atol=1e-14)


def test_gradient_is_the_slope():
    network = tiny.network_of({"main": (5,)}, tiny.Factors(factors()))
    objectives, batch = main_of(ZLPRLoss(reduction="sum"), "sigmoid2"), tiny.batch_of(weight=WEIGHT)
    learn = RDrop(Learner(network, objectives), objectives, alpha=2.0)
    learn(batch, torch.Generator()).value.backward()
    weight, step = network.heads["main"].linear.weight, 1e-6
    for place in [(0, 0), (2, 1), (4, 2)]:
        values = []
        for side in (step, -step):
            with torch.no_grad():
                weight[place] += side
                values.append(learn(batch, torch.Generator()).value.item())
                weight[place] -= side
        slope = (values[0] - values[1]) / (2 * step)
        assert weight.grad[place].item() == pytest.approx(slope, rel=1e-6)


def test_a_step_along_the_gradient_brings_the_passes_together():
    network = tiny.network_of({"main": (5,)}, tiny.Factors(factors()))
    objectives, batch = main_of(ZLPRLoss(reduction="sum"), "sigmoid2"), tiny.batch_of()
    learn = RDrop(Learner(network, objectives), objectives, alpha=100.0)
    apart = []
    for _ in range(30):
        network.zero_grad()
        learn(batch, torch.Generator()).value.backward()
        first, second = both_passes(network, batch)
        apart.append(learn.divergence.total(first, second, batch).item())
        with torch.no_grad():
            for parameter in network.parameters():
                parameter -= 1e-3 * parameter.grad
    assert apart[-1] < 0.5 * apart[0]


def test_rows_draw_their_own_dropout_and_the_seed_decides_it():
    network = tiny.network_of({"main": (5,)}, nn.Dropout(0.5))
    objectives, batch = main_of(ZLPRLoss(reduction="sum"), "sigmoid2"), tiny.batch_of()
    learn = RDrop(Learner(network, objectives), objectives)
    values = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        values.append(learn(batch, torch.Generator()).value.item())
    assert values[0] == values[1] != values[2]
    learn.alpha = 0.0
    torch.manual_seed(1)
    assert learn(batch, torch.Generator()).value.item() < values[0]  # the passes lay apart


def test_the_outcome_has_the_rows_of_the_batch():
    network = tiny.network_of({"main": (5,)}, tiny.Factors(factors()))
    objectives, batch = main_of(ZLPRLoss(reduction="sum"), "sigmoid2"), tiny.batch_of()
    found = RDrop(Learner(network, objectives), objectives)(batch, torch.Generator())
    network.encoder.noise.factors = factors()[:4]
    hidden, logits = network.run(*batch.inputs)
    torch.testing.assert_close(found.logits, logits)
    torch.testing.assert_close(found.hidden.pooled, hidden.pooled)
    torch.testing.assert_close(found.hidden.states, hidden.states)
    assert found.hidden.windows is None


def test_rows_that_only_fill_up_change_nothing():
    objectives = main_of(ZLPRLoss(reduction="sum"), "sigmoid2")
    weight = torch.tensor([1.0, 0.5, 0.0, 2.0], dtype=torch.float64)
    found = []
    for filler in (12, 4):
        network = tiny.network_of({"main": (5,)}, tiny.Factors(factors()))
        batch = tiny.batch_of(weight=weight)
        ids = batch.inputs[0].clone()
        ids[2, 0] = filler
        value = RDrop(Learner(network, objectives), objectives)(
            batch._replace(inputs=(ids, batch.inputs[1])), torch.Generator()
        ).value
        value.backward()
        found.append([value.detach(), *(parameter.grad for parameter in network.parameters())])
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)


def test_parts_of_a_batch_add_up():
    network = tiny.network_of({"main": (5,)}, nn.Dropout(0.0))
    objectives, batch = main_of(ZLPRLoss(reduction="sum"), "sigmoid2"), tiny.batch_of(weight=WEIGHT)
    learn = RDrop(Learner(network, objectives), objectives, alpha=2.0)
    whole = learn(batch, torch.Generator()).value.item()
    pieces = [
        learn(tiny.rows_of(batch, rows), torch.Generator()).value.item()
        for rows in (slice(0, 3), slice(3, 4))
    ]
    assert sum(pieces) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("where", ["main", "tags"])
def test_a_loss_of_a_whole_batch_sees_each_pass_by_itself(where):
    if where == "main":
        objectives = labels_and_tags(
            BatchDiceLoss(), "sigmoid", CrossEntropyLoss(reduction="sum"), "softmax"
        )
    else:
        objectives = labels_and_tags(
            ZLPRLoss(reduction="sum"), "sigmoid2", BatchDiceLoss(), "sigmoid"
        )
    network = tiny.network_of({"main": (5,), "tags": (3, True)}, nn.Dropout(0.0))
    sizes, plain = [], Learner(network, objectives)

    def watched(batch, generator):
        sizes.append(len(batch.heads["main"].target))
        return plain(batch, generator)

    batch = tiny.batch_of(tags=tiny.TAGS)
    found = RDrop(watched, objectives, alpha=3.0)(batch, torch.Generator())
    assert sizes == [4, 4]
    assert found.value.item() == pytest.approx(
        plain(batch, torch.Generator()).value.item(), rel=1e-12
    )

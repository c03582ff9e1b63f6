"""R-Drop against its equation, with dropout that is known; and without dropout, the plain loss."""

import pytest
import torch
from torch import nn

from tagwright.fit.learner import Learner
from tagwright.losses import (
    AdaptiveThresholdLoss,
    BatchDiceLoss,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    ZLPRLoss,
)
from tagwright.regularise.rdrop import RDrop

from . import tiny

ONE = torch.eye(5)[torch.tensor([1, 3, 0, 0])]
CASES = {
    "sigmoid2": (ZLPRLoss, 5, {}),
    "sigmoid": (BinaryCrossEntropyLoss, 5, {}),
    "softmax": (CrossEntropyLoss, 5, {"target": ONE}),
    "threshold_class": (AdaptiveThresholdLoss, 6, {}),
}
WEIGHT = torch.tensor([1.0, 0.5, 2.0, 1.0], dtype=torch.float64)


def factors(rows=8):
    return 2 * torch.rand(rows, tiny.WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(4))


def both_passes(network, batch):
    """The logits of two passes of the batch by itself, with the first and the last rows of the factors."""
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
    objective, batch = tiny.objective_of(kind(reduction="sum")), tiny.batch_of(weight=WEIGHT, **more)
    learn = RDrop(Learner(network, objective), objective, link, None, alpha=alpha)
    found = learn(batch, torch.Generator()).value
    first, second = both_passes(network, batch)
    loss = kind(reduction="none")
    expected = 0.0
    for row in range(4):
        one, two = first["main"][row], second["main"][row]
        losses = [loss(scores[None], batch.target[row][None]).item() for scores in (one, two)]
        apart = tiny.symmetric(one.tolist(), two.tolist(), link)
        expected += WEIGHT[row].item() * (sum(losses) / 2 + alpha / 2 * apart)
    assert found.item() == pytest.approx(expected, rel=1e-10)


def test_tags_of_tokens():
    network = tiny.network_of({"main": (3, True)}, tiny.Factors(factors()))
    objective, batch = tiny.objective_of(CrossEntropyLoss(reduction="sum")), tiny.batch_of(0, tags=tiny.TAGS)
    found = RDrop(Learner(network, objective), objective, "softmax", None, alpha=2.0)(batch, torch.Generator()).value
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
    objective = tiny.objective_of(ZLPRLoss(reduction="sum"), CrossEntropyLoss(reduction="sum"), weight=0.3)
    batch = tiny.batch_of(tags=tiny.TAGS)
    learn = RDrop(Learner(network, objective), objective, "sigmoid2", "softmax", alpha=2.0)
    found = learn(batch, torch.Generator()).value
    first, second = both_passes(network, batch)
    expected = sum(Learner(network, objective)._value(logits, batch, None) / 2 for logits in (first, second)).item()
    for row in range(4):
        expected += tiny.symmetric(first["main"][row].tolist(), second["main"][row].tolist(), "sigmoid2")
        for place in range(4):
            if tiny.TAGS[row, place] >= 0:
                pair = [logits["tags"][row, place].tolist() for logits in (first, second)]
                expected += 0.3 * tiny.symmetric(*pair, "softmax")
    assert found.item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("link", CASES)
def test_without_dropout_it_is_the_plain_loss_and_its_gradient(link):
    kind, size, more = CASES[link]
    network = tiny.network_of({"main": (size,)}, nn.Dropout(0.0))
    objective, batch = tiny.objective_of(kind(reduction="sum")), tiny.batch_of(weight=WEIGHT, **more)
    plain = Learner(network, objective)
    found = {}
    for name, learn in {"plain": plain, "rdrop": RDrop(plain, objective, link, None, alpha=7.0)}.items():
        network.zero_grad()
        value = learn(batch, torch.Generator()).value
        value.backward()
        found[name] = [value.detach(), *(parameter.grad.clone() for parameter in network.parameters())]
    torch.testing.assert_close(found["rdrop"], found["plain"], rtol=1e-12, atol=1e-14)


def test_gradient_is_the_slope():
    network = tiny.network_of({"main": (5,)}, tiny.Factors(factors()))
    objective, batch = tiny.objective_of(ZLPRLoss(reduction="sum")), tiny.batch_of(weight=WEIGHT)
    learn = RDrop(Learner(network, objective), objective, "sigmoid2", None, alpha=2.0)
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
    objective, batch = tiny.objective_of(ZLPRLoss(reduction="sum")), tiny.batch_of()
    learn = RDrop(Learner(network, objective), objective, "sigmoid2", None, alpha=100.0)
    apart = []
    for _ in range(30):
        network.zero_grad()
        learn(batch, torch.Generator()).value.backward()
        first, second = both_passes(network, batch)
        apart.append(learn.apart.total(first, second, batch).item())
        with torch.no_grad():
            for parameter in network.parameters():
                parameter -= 1e-3 * parameter.grad
    assert apart[-1] < 0.5 * apart[0]


def test_rows_draw_their_own_dropout_and_the_seed_decides_it():
    network = tiny.network_of({"main": (5,)}, nn.Dropout(0.5))
    objective, batch = tiny.objective_of(ZLPRLoss(reduction="sum")), tiny.batch_of()
    learn = RDrop(Learner(network, objective), objective, "sigmoid2", None)
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
    objective, batch = tiny.objective_of(ZLPRLoss(reduction="sum")), tiny.batch_of()
    found = RDrop(Learner(network, objective), objective, "sigmoid2", None)(batch, torch.Generator())
    network.encoder.noise.factors = factors()[:4]
    hidden, logits = network.run(*batch.inputs)
    torch.testing.assert_close(found.logits, logits)
    torch.testing.assert_close(found.hidden.pooled, hidden.pooled)
    torch.testing.assert_close(found.hidden.states, hidden.states)
    assert found.hidden.windows is None


def test_rows_that_only_fill_up_change_nothing():
    objective = tiny.objective_of(ZLPRLoss(reduction="sum"))
    weight = torch.tensor([1.0, 0.5, 0.0, 2.0], dtype=torch.float64)
    found = []
    for filler in (12, 4):
        network = tiny.network_of({"main": (5,)}, tiny.Factors(factors()))
        batch = tiny.batch_of(weight=weight)
        ids = batch.inputs[0].clone()
        ids[2, 0] = filler
        value = RDrop(Learner(network, objective), objective, "sigmoid2", None)(
            batch._replace(inputs=(ids, batch.inputs[1])), torch.Generator()
        ).value
        value.backward()
        found.append([value.detach(), *(parameter.grad for parameter in network.parameters())])
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)


def test_parts_of_a_batch_add_up():
    network = tiny.network_of({"main": (5,)}, nn.Dropout(0.0))
    objective, batch = tiny.objective_of(ZLPRLoss(reduction="sum")), tiny.batch_of(weight=WEIGHT)
    learn = RDrop(Learner(network, objective), objective, "sigmoid2", None, alpha=2.0)
    whole = learn(batch, torch.Generator()).value.item()
    pieces = []
    for rows in (slice(0, 3), slice(3, 4)):
        inputs = tuple(one[rows] for one in batch.inputs)
        piece = batch._replace(inputs=inputs, target=batch.target[rows], weight=WEIGHT[rows])
        pieces.append(learn(piece, torch.Generator()).value.item())
    assert sum(pieces) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("where", ["main", "tags"])
def test_a_loss_of_a_whole_batch_sees_each_pass_by_itself(where):
    tags = BatchDiceLoss() if where == "tags" else CrossEntropyLoss(reduction="sum")
    objective = tiny.objective_of(BatchDiceLoss() if where == "main" else ZLPRLoss(reduction="sum"), tags)
    network = tiny.network_of({"main": (5,), "tags": (3, True)}, nn.Dropout(0.0))
    sizes, plain = [], Learner(network, objective)

    def watched(batch, generator):
        sizes.append(len(batch.target))
        return plain(batch, generator)

    links = ("sigmoid", "softmax") if where == "main" else ("sigmoid2", "sigmoid")
    batch = tiny.batch_of(tags=tiny.TAGS)
    found = RDrop(watched, objective, *links, alpha=3.0)(batch, torch.Generator())
    assert sizes == [4, 4]
    assert found.value.item() == pytest.approx(plain(batch, torch.Generator()).value.item(), rel=1e-12)

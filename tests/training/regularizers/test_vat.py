"""Virtual adversarial training against its equations on networks that are linear in the words,
where all is known.
"""

import numpy as np
import pytest
import torch
from torch import nn

from tagwright.batches.rows import Batch, HeadBatch
from tagwright.losses import BinaryCrossEntropyLoss, CrossEntropyLoss, ZLPRLoss
from tagwright.training.learner import Learner
from tagwright.training.regularizers._without_dropout import without_dropout
from tagwright.training.regularizers._word_vectors import Words
from tagwright.training.regularizers.vat import VAT

from . import tiny

ONE = torch.eye(5)[torch.tensor([1, 3, 0, 0])]
CASES = {
    "sigmoid2": (ZLPRLoss, {}),
    "sigmoid": (BinaryCrossEntropyLoss, {}),
    "softmax": (CrossEntropyLoss, {"target": ONE}),
}
WEIGHT = torch.tensor([1.0, 0.5, 2.0, 1.0], dtype=torch.float64)
WORDS = [4, 1, 3]  # of the texts that have some


def made(link="sigmoid2", noise=None, **settings):
    kind, more = CASES[link]
    network = tiny.network_of({"main": (5,)}, noise)
    objectives = {"main": tiny.objective_of(kind(reduction="sum"), link)}
    plain, batch = Learner(network, objectives), tiny.batch_of(weight=WEIGHT, **more)
    return VAT(plain, network, objectives, **settings), plain, batch


def words_of(network):
    """Word vectors of each text, (T, D)."""
    table = network.encoder.lookup.tables[0].detach().numpy()
    return [table[tiny.IDS[row, :count].numpy()] for row, count in enumerate(WORDS)]


def linear_of(network, name):
    """A head's matrix (L, D) and bias."""
    return [
        one.detach().numpy()
        for one in (network.heads[name].linear.weight, network.heads[name].linear.bias)
    ]


def fisher(scores, link):
    """The Hessian of KL(p ‖ p') by the logits of p', at p' = p."""
    chances = np.array(tiny.chances(scores.tolist(), link))
    if link == "softmax":
        return np.diag(chances) - np.outer(chances, chances)
    return np.diag((4 if link == "sigmoid2" else 1) * chances * (1 - chances))


def expected_value(vat, heads, seed):
    """The added term, text by text: logits are W mean(x + r) + b, so that a gradient by d is
    written down.

    `heads` are links and what the heads weigh, by name.
    """
    drawn = torch.randn(
        4, 4, tiny.WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    ).numpy()
    linear, total = {name: linear_of(vat.network, name) for name in heads}, 0.0
    for row, words in enumerate(words_of(vat.network)):
        length = np.sqrt((words**2).sum())
        direction = drawn[row, : len(words)]
        direction = direction / np.sqrt((direction**2).sum())
        clean = {name: weight @ words.mean(0) + bias for name, (weight, bias) in linear.items()}
        for _ in range(vat.steps):
            gradient = np.zeros_like(words)
            for name, (link, share) in heads.items():
                weight, bias = linear[name]
                moved = weight @ (words + vat.xi * length * direction).mean(0) + bias
                scale = share * (2 if link == "sigmoid2" else 1)
                here, there = (
                    np.array(tiny.chances(one.tolist(), link)) for one in (clean[name], moved)
                )
                gradient += scale * (there - here) @ weight
            direction = gradient / np.sqrt((gradient**2).sum())
        for name, (link, share) in heads.items():
            weight, bias = linear[name]
            moved = weight @ (words + vat.epsilon * length * direction).mean(0) + bias
            total += (
                WEIGHT[row].item() * share * tiny.kl(clean[name].tolist(), moved.tolist(), link)
            )
    return vat.weight * total


@pytest.mark.parametrize("settings", [{}, {"xi": 0.3, "epsilon": 0.5, "steps": 3, "weight": 2.5}])
@pytest.mark.parametrize("link", CASES)
def test_value_is_that_of_the_equations(link, settings):
    vat, plain, batch = made(link, **settings)
    found = (
        vat(batch, torch.Generator().manual_seed(9)).value - plain(batch, torch.Generator()).value
    )
    expected = expected_value(vat, {"main": (link, 1)}, 9)
    assert found.item() == pytest.approx(expected, rel=1e-8)  # of a difference of two sums
    apart = VAT(
        lambda *given: plain(*given)._replace(value=torch.zeros(())),
        vat.network,
        vat.divergence.objectives,
    )
    alone = apart(batch, torch.Generator().manual_seed(9)).value
    expected = expected_value(apart, {"main": (link, 1)}, 9)
    assert alone.item() == pytest.approx(expected, rel=1e-10)


def test_several_heads_are_moved_by_one_direction_that_goes_by_their_weights():
    """Texts on which a head has no answer included: none is needed."""
    heads = {"one": ("softmax", 2.5), "many": ("sigmoid2", 0.4)}
    network = tiny.network_of({"one": (5,), "many": (5,)})
    objectives = {
        name: tiny.objective_of(CASES[link][0](reduction="sum"), link, weight=weight)
        for name, (link, weight) in heads.items()
    }
    answered = {
        "one": torch.tensor([1.0, 0.0, 0.0, 1.0]),
        "many": torch.tensor([0.0, 1.0, 1.0, 1.0]),
    }
    learnt = {name: HeadBatch(ONE.double(), weight=WEIGHT * answered[name]) for name in heads}
    batch, plain = Batch((tiny.IDS, tiny.LENGTHS), learnt, WEIGHT), Learner(network, objectives)
    vat = VAT(plain, network, objectives, epsilon=0.3, steps=2)
    found = (
        vat(batch, torch.Generator().manual_seed(9)).value - plain(batch, torch.Generator()).value
    )
    # of a difference of two sums
    assert found.item() == pytest.approx(expected_value(vat, heads, 9), rel=1e-8)


@pytest.mark.parametrize("link", CASES)
def test_after_many_steps_the_direction_is_the_first_eigenvector_of_the_hessian(link):
    vat, _, batch = made(link)
    network = vat.network
    texts, (weight, bias) = words_of(network), linear_of(network, "main")
    with without_dropout(network):
        words = Words(network, batch.inputs)
        clean = {"main": network(*batch.inputs)["main"].detach()}
        direction = words.drawn(torch.Generator().manual_seed(3))
        for _ in range(300):
            direction = vat._improved(
                direction, 1e-4 * words.lengths(words.vectors), words, clean, batch
            )
    for row, text in enumerate(texts):
        # logits by all numbers of the text, (L, T x D)
        slope = np.tile(weight / len(text), (1, len(text)))
        hessian = slope.T @ fisher(weight @ text.mean(0) + bias, link) @ slope
        first = np.linalg.eigh(hessian)[1][:, -1]
        found = direction[row, : len(text)].flatten().numpy()
        assert abs(found @ first) == pytest.approx(1, abs=1e-6)


def test_the_first_step_goes_most_of_the_way():
    """Where most of a text's directions change nothing, one product with the Hessian leaves those
    that do.
    """
    vat, plain, batch = made(weight=1.0, epsilon=0.1)
    values = {}
    for steps in (0, 1, 100):
        vat.steps = steps
        values[steps] = (
            vat(batch, torch.Generator().manual_seed(1)).value
            - plain(batch, torch.Generator()).value
        ).item()
    assert 2 * values[0] < values[1] < values[100]


def test_dropout_falls_in_no_pass_of_it():
    """So that its term is what it is without dropout, and the global generator is where the plain
    pass left it.
    """
    calm, _, batch = made()
    wild, plain, _ = made(noise=nn.Dropout(0.5))
    term, states = [], []
    for vat in (calm, wild):
        vat.learn = lambda given, generator, plain=vat.learn: plain(given, generator)._replace(
            value=torch.zeros(())
        )
        torch.manual_seed(6)
        term.append(vat(batch, torch.Generator().manual_seed(1)).value.item())
        states.append(torch.get_rng_state())
    assert term[0] == pytest.approx(term[1], rel=1e-12)
    torch.manual_seed(6)
    plain(batch, torch.Generator())
    assert torch.equal(torch.get_rng_state(), states[1])
    assert wild.network.encoder.noise.training


def test_the_outcome_is_the_one_it_stands_around():
    vat, plain, batch = made()
    found, expected = vat(batch, torch.Generator()), plain(batch, torch.Generator())
    torch.testing.assert_close(found.logits, expected.logits)
    torch.testing.assert_close(found.hidden.pooled, expected.hidden.pooled)


def test_without_weight_it_is_the_plain_loss_and_its_gradient():
    vat, plain, batch = made(weight=0.0)
    found = []
    for learn in (vat, plain):
        vat.network.zero_grad()
        value = learn(batch, torch.Generator()).value
        value.backward()
        found.append(
            [value.detach(), *(parameter.grad.clone() for parameter in vat.network.parameters())]
        )
    torch.testing.assert_close(found[0], found[1], rtol=1e-12, atol=1e-14)


def test_gradient_is_the_slope_with_the_move_and_the_clean_chances_given():
    vat, plain, batch = made(epsilon=0.5)
    network = vat.network
    vat.learn = lambda *given: plain(*given)._replace(value=torch.zeros(()))
    vat(batch, torch.Generator().manual_seed(5)).value.backward()
    words = Words(network, batch.inputs)
    length = words.lengths(words.vectors)
    with torch.no_grad():
        clean = network(*batch.inputs)
    direction = vat._improved(
        words.drawn(torch.Generator().manual_seed(5)), vat.xi * length, words, clean, batch
    ).detach()

    def value():
        with torch.no_grad(), words.moved(0.5 * length * direction):
            moved = network(*batch.inputs)
        return sum(
            WEIGHT[row].item()
            * tiny.kl(clean["main"][row].tolist(), moved["main"][row].tolist(), "sigmoid2")
            for row in range(4)
        )

    step = 1e-6
    table, head = network.encoder.lookup.tables[0], network.heads["main"].linear
    for parameter, places in (
        (table, [(5, 1), (12, 0)]),
        (head.weight, [(0, 0), (4, 2)]),
        (head.bias, [(3,)]),
    ):
        for place in places:
            values = []
            for side in (step, -step):
                with torch.no_grad():
                    parameter[place] += side
                    values.append(value())
                    parameter[place] -= side
            assert parameter.grad[place].item() == pytest.approx(
                (values[0] - values[1]) / (2 * step), rel=1e-5
            )


def test_larger_words_are_moved_farther():
    """All word vectors ten times as long, the head's weights a tenth: the same network, and the
    same term.
    """
    vat, plain, batch = made()
    before = vat(batch, torch.Generator().manual_seed(2)).value.item()
    with torch.no_grad():
        vat.network.encoder.lookup.tables[0].mul_(10)
        vat.network.heads["main"].linear.weight.div_(10)
    assert vat(batch, torch.Generator().manual_seed(2)).value.item() == pytest.approx(
        before, rel=1e-10
    )
    assert before > plain(batch, torch.Generator()).value.item()


def test_rows_that_only_fill_up_change_nothing():
    found = []
    for filler in (12, 4):
        vat, _, batch = made()
        ids = batch.inputs[0].clone()
        ids[2, 0] = filler
        weight = torch.tensor([1.0, 0.5, 0.0, 2.0], dtype=torch.float64)
        given = tiny.weighed(batch._replace(inputs=(ids, batch.inputs[1])), weight)
        value = vat(given, torch.Generator().manual_seed(1)).value
        value.backward()
        found.append([value.detach(), *(parameter.grad for parameter in vat.network.parameters())])
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)


def test_what_stands_behind_a_text_changes_nothing():
    vat, _, batch = made()
    ids = torch.where(torch.arange(4) >= tiny.LENGTHS[:, None], 8, tiny.IDS)
    values = [
        vat(
            batch._replace(inputs=(given, tiny.LENGTHS)), torch.Generator().manual_seed(1)
        ).value.item()
        for given in (tiny.IDS, ids)
    ]
    assert values[0] == values[1]


def test_parts_of_a_batch_add_up_once_the_direction_is_found():
    vat, _, batch = made(steps=200, xi=1e-3)
    whole = vat(batch, torch.Generator().manual_seed(1)).value.item()
    pieces = [
        vat(tiny.rows_of(batch, rows), torch.Generator().manual_seed(2)).value.item()
        for rows in (slice(0, 1), slice(1, 4))
    ]
    # the sign of a direction is the draw's: terms of third order
    assert sum(pieces) == pytest.approx(whole, rel=1e-4)


def test_tokens_and_labels_are_moved_by_one_direction():
    network = tiny.network_of({"main": (5,), "tags": (3, True)})
    tags = tiny.objective_of(CrossEntropyLoss(reduction="sum"), "softmax", tagged=True, weight=0.3)
    objectives = {"main": tiny.objective_of(ZLPRLoss(reduction="sum"), "sigmoid2"), "tags": tags}
    batch = tiny.batch_of(tags=tiny.TAGS)
    plain = Learner(network, objectives)
    vat = VAT(plain, network, objectives, epsilon=0.1)
    found = (
        vat(batch, torch.Generator().manual_seed(4)).value - plain(batch, torch.Generator()).value
    )
    words = Words(network, batch.inputs)
    length = words.lengths(words.vectors)
    direction = words.drawn(torch.Generator().manual_seed(4)).requires_grad_()
    clean = {name: logits.detach() for name, logits in network(*batch.inputs).items()}

    def apart(moved):
        total = sum(
            tiny.kl(clean["main"][row].tolist(), moved["main"][row].tolist(), "sigmoid2")
            for row in range(4)
        )
        for row in range(4):
            for place in range(4):
                if tiny.TAGS[row, place] >= 0:
                    pair = [logits["tags"][row, place].tolist() for logits in (clean, moved)]
                    total += 0.3 * tiny.kl(*pair, "softmax")
        return total

    direction = vat._improved(direction.detach(), vat.xi * length, words, clean, batch)
    with torch.no_grad(), words.moved(0.1 * length * direction):
        expected = apart(network(*batch.inputs))
    assert found.item() == pytest.approx(expected, rel=1e-8)
    with torch.no_grad(), words.moved(0.1 * length * words.drawn(torch.Generator().manual_seed(8))):
        assert expected > 2 * apart(network(*batch.inputs))

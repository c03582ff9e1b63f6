"""The chain head against slow loops: a label sees what was decided about those before it, and
nothing else.
"""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.batches.sparse import SparseRows
from tagwright.errors import SettingsError
from tagwright.models.heads.chain import Chain
from tagwright.models.hidden import Hidden

NAMES = ("a", "b", "c", "d", "e")
ORDER = ("c", "a", "e", "b", "d")


def chain(*, width=7, order=ORDER):
    head = Chain(width, 5, True, torch.zeros(5), NAMES, order=order)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        head.linear.weight.copy_(torch.randn(width, 5, generator=generator))
        head.linear.bias.copy_(torch.randn(5, generator=generator))
        for label in range(5):
            for other in head.before(label):
                head.links[other, label] = 3 * torch.randn((), generator=generator)
    return head.double()


def rows(count=41, width=7):
    values = np.random.default_rng(0).normal(size=(count, width)) * (np.arange(count)[:, None] > 0)
    return csr_array(values)


def test_logits_are_those_of_one_label_after_the_other():
    head, features = chain(), rows()
    found = head(Hidden(None, SparseRows.of(features, np.arange(41))))
    weight, bias, links = (
        p.detach().numpy() for p in (head.linear.weight, head.linear.bias, head.links)
    )
    for row, text in enumerate(features.toarray()):
        decided: dict[int, bool] = {}
        for name in ORDER:
            label = NAMES.index(name)
            logit = (
                text @ weight[:, label]
                + bias[label]
                + sum(links[j, label] for j, yes in decided.items() if yes)
            )
            assert found[row, label].item() == pytest.approx(logit, rel=1e-10, abs=1e-12)
            decided[label] = logit > 0
    assert 0 < (found > 0).double().mean() < 1


def test_labels_before_one_follow_the_order():
    head = chain()
    assert [head.before(NAMES.index(name)).tolist() for name in ORDER] == [
        [],
        [2],
        [2, 0],
        [2, 0, 4],
        [2, 0, 4, 1],
    ]


def test_without_links_it_is_the_linear_map():
    head = chain()
    torch.nn.init.zeros_(head.links)
    batch = SparseRows.of(rows(), np.arange(41))
    torch.testing.assert_close(head(Hidden(None, batch)), head.linear(batch), rtol=0, atol=0)


def test_an_order_that_is_not_given_is_drawn_by_the_seed_and_saved():
    drawn = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        drawn.append(Chain(1, 20, True, torch.zeros(20), [f"l{n}" for n in range(20)]))
    first, same, other = (head.order.tolist() for head in drawn)
    assert first == same != other
    assert sorted(other) == list(range(20))
    drawn[2].load_state_dict(drawn[0].state_dict())
    assert drawn[2].order.tolist() == first


@pytest.mark.parametrize(
    ("order", "match"),
    [
        (("a", "b", "c", "d"), "e missing"),
        (("a", "b", "c", "d", "f"), "e missing and f unknown"),
        (("a", "b", "c", "d", "e", "a"), "some twice"),
        ((1, 2), "every label once"),
    ],
)
def test_an_order_of_other_labels_is_refused(order, match):
    with pytest.raises(SettingsError, match=match):
        chain(order=order)


def test_dense_vectors_are_refused():
    with pytest.raises(SettingsError, match="--encoder bow"):
        Chain(7, 5, False, torch.zeros(5), NAMES)

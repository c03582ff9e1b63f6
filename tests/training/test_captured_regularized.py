"""Captured steps with regularizers are the plain loop's steps. A CPU runs them as they are;
test_gpu.py captures.
"""

import copy

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright import registry
from tagwright.batches.inputs import TokenInputs
from tagwright.batches.resident import Resident
from tagwright.batches.rows import HeadRows, Rows
from tagwright.losses import ZLPRLoss
from tagwright.models.network import Network
from tagwright.objective import Objective
from tagwright.settings.schema import resolve
from tagwright.tokenizers.tokens import Tokens
from tagwright.training.captured import CapturedStep, captured_steps
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import learner_of
from tagwright.training.loop import Course, steps

# texts of one width, in full batches: what VAT draws goes by the shape of a batch, and a captured
# one is filled up
COUNT, LENGTH, LABELS, BATCH = 30, 8, 4, 5
CHOSEN = [
    {"rdrop": {"alpha": 2.0}},
    {"vat": {"epsilon": 0.2}},
    {"rdrop": {}, "vat": {"epsilon": 0.2, "steps": 2}},
]
NAMES = ["rdrop", "vat", "both"]


def make_rows(heads):
    """Rows with labels, tags or both; of two heads, the labels are known of some texts alone."""
    random = np.random.default_rng(0)
    offsets = LENGTH * np.arange(COUNT + 1)
    inputs = TokenInputs(Tokens(random.integers(1, 50, offsets[-1]).astype(np.int32), offsets))
    target = csr_array((random.random((COUNT, LABELS)) < 0.5).astype(np.float32))
    labelled = random.random(COUNT) < 0.7 if len(heads) > 1 else None
    nothing, tags = (
        csr_array((COUNT, 0), dtype=np.float32),
        random.integers(-1, LABELS, offsets[-1]),
    )
    made = {
        "labels": HeadRows(target=target, labelled=labelled),
        "tags": HeadRows(target=nothing, tags=tags),
    }
    weight = random.random(COUNT).astype(np.float32)
    return Rows(inputs=inputs, heads={name: made[name] for name in heads}, weight=weight)


def plan(epoch):
    return np.random.default_rng(epoch).permutation(COUNT).reshape(-1, BATCH)


def factor(step):
    return 1 - step / 20


def objective_of(head):
    if head == "labels":
        return HeadObjective(Objective(ZLPRLoss(reduction="sum")), link="sigmoid2")
    loss = registry.build("losses", "cross_entropy", {}, reduction="sum")
    return HeadObjective(Objective(loss), link="softmax", tags_tokens=True, weight=0.3)


class Case:
    def __init__(self, chosen, encoder="bat", heads=("labels",), dropout=0.0):
        torch.manual_seed(0)
        sizes = {"width": 8, "hidden": 8, "layers": 1, "heads": 2, "feed": 8}
        options = {
            "dropout": dropout,
            **(sizes if encoder == "bat" else {"width": 8, "filters": 6}),
        }
        self.rows = make_rows(heads)
        encoder = registry.build("encoders", encoder, options, sizes=(50,), vectors=None)
        facts = {
            "width": encoder.width_out,
            "label_count": LABELS,
            "sparse": False,
            "bias": torch.zeros(LABELS),
        }
        facts |= {"extra_logits": 0, "zero": 0.0, "whole_texts": False}
        kinds = {"labels": "document", "tags": "tokens"}
        self.network = Network(
            encoder, {name: registry.build("heads", kinds[name], {}, **facts) for name in heads}
        )
        self.learn = learner_of(
            self.network, {name: objective_of(name) for name in heads}, resolve(chosen)
        )
        # a gradient that is rounding, such as that of a key's bias, must not become a whole step
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=0.01, eps=1e-4)

    def course(self, total):
        sizes = self.rows.sizes
        size = len if sizes is None else lambda index: int(sizes[index].sum())
        return Course(plan=plan, per_epoch=COUNT // BATCH, total=total, size=size)

    def loss_of(self, batch, generator):
        return self.learn(batch, generator).value

    def plain(self, total, **options):
        def of_rows(index, generator):
            return self.loss_of(self.rows.batch(index, "cpu"), generator)

        return list(
            steps(self.network, self.optimizer, self.course(total), of_rows, factor, **options)
        )

    def captured(self, total, start=0, accumulate=1):
        resident = Resident(self.rows, torch.device("cpu"))
        step = CapturedStep(
            resident, self.network, self.optimizer, self.loss_of, batch=BATCH, accumulate=accumulate
        )
        return list(captured_steps(step, self.course(total), factor, start=start))

    @property
    def answers(self):
        """Of all rows. A key's bias changes none of them: its gradient is rounding, of which Adam
        makes steps.
        """
        self.network.eval()
        found = self.network(*self.rows.inputs.batch(np.arange(COUNT)))
        return {name: logits.detach() for name, logits in found.items()}

    @property
    def weights(self):
        return {name: value.clone() for name, value in self.network.state_dict().items()}


@pytest.mark.parametrize("heads", [("labels",), ("tags",), ("labels", "tags")], ids="+".join)
@pytest.mark.parametrize("chosen", CHOSEN, ids=NAMES)
def test_steps_are_those_of_the_plain_loop(chosen, heads):
    one, other, bare = Case(chosen, heads=heads), Case(chosen, heads=heads), Case({}, heads=heads)
    plain, found, without = one.plain(9), other.captured(9), bare.plain(9)
    assert [s.loss for s in found] == pytest.approx([s.loss for s in plain], rel=1e-5)
    torch.testing.assert_close(other.answers, one.answers, rtol=1e-3, atol=1e-4)
    # without dropout R-Drop is the plain loss, and virtual adversarial training is not
    assert ([s.loss for s in found] == pytest.approx([s.loss for s in without], rel=1e-5)) == (
        "vat" not in chosen
    )


@pytest.mark.parametrize("chosen", CHOSEN, ids=NAMES)
def test_with_dropout_both_loops_draw_the_same(chosen):
    one, other = (Case(chosen, encoder="cnn", dropout=0.4) for _ in range(2))
    plain, found = one.plain(9), other.captured(9)
    assert [s.loss for s in found] == pytest.approx([s.loss for s in plain], rel=1e-4)


@pytest.mark.parametrize("chosen", CHOSEN, ids=NAMES)
@pytest.mark.parametrize("cut", [1, 4])
def test_going_on_from_any_step_gives_the_same_bits(chosen, cut):
    whole, second, fresh = (Case(chosen, dropout=0.3) for _ in range(3))
    whole.captured(9)
    second.captured(cut)
    fresh.network.load_state_dict(second.weights)
    fresh.optimizer.load_state_dict(copy.deepcopy(second.optimizer.state_dict()))
    fresh.captured(9, start=cut)
    assert all(torch.equal(value, fresh.weights[name]) for name, value in whole.weights.items())


@pytest.mark.parametrize("kind", ["plain", "captured"])
def test_parts_of_a_batch_make_the_same_step_with_rdrop(kind):
    found = [
        [s.loss for s in getattr(Case(CHOSEN[0]), kind)(6, accumulate=count)] for count in (1, 5)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-4)


@pytest.mark.parametrize("kind", ["plain", "captured"])
def test_parts_of_a_batch_make_nearly_the_same_step_with_vat(kind):
    """Each part draws directions of its own; after some steps these are near one another."""
    chosen = {"vat": {"epsilon": 0.1, "xi": 0.01, "steps": 30}}
    found = [[s.loss for s in getattr(Case(chosen), kind)(3, accumulate=count)] for count in (1, 5)]
    assert found[0] == pytest.approx(found[1], rel=1e-2)

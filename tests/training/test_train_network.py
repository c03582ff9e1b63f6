"""One training of a network: it ends with its best weights, and goes on from its own checkpoint."""

from copy import deepcopy

import pytest

from tagwright.training.head_objective import objectives_of
from tagwright.training.history import History
from tagwright.training.state import Run
from tagwright.training.step_stream import Evaluation, Interrupted
from tagwright.training.train_network import train_network

from ..pipelines.kills import Watching, same_bits
from .prepare_cases import network_of

SECTIONS = {"fit": {"epochs": 3, "patience": 0, "save_seconds": 0.0}}


class Case:
    """A network that was not trained yet, and what it learns."""

    def __init__(self, make, **fit):
        self.prepared, self.settings = make(fit={**SECTIONS["fit"], **fit})
        self.network = network_of(self.prepared, self.settings)
        self.history, self.seen = History(), []

    def train(self, run=None, scores=None, phase="fit"):
        """Train to the end; `scores` are what is measured of dev, one after the other."""
        scores = None if scores is None else iter(scores)

        def score():
            self.seen.append(self.weights())
            return Evaluation(next(scores))

        train_network(
            self.network,
            objectives_of(self.prepared, self.settings),
            self.prepared.rows("train", self.network, self.settings),
            self.settings,
            run or Run(),
            self.history,
            None if scores is None else score,
            fingerprint="mine",
            phase=phase,
        )

    def weights(self):
        return {name: value.clone() for name, value in self.network.state_dict().items()}


@pytest.mark.parametrize(("scores", "best"), [([0.3, 0.2, 0.1], 0), ([0.1, 0.3, 0.2], 1)])
def test_the_network_ends_with_its_best_weights(make, scores, best):
    case = Case(make)
    case.train(scores=scores)
    assert [row["score"] for row in case.history.rows] == scores
    assert same_bits(case.weights(), case.seen[best])
    assert not same_bits(case.seen[0], case.seen[1])


def test_without_a_score_every_step_is_taken_and_nothing_is_chosen(make):
    case, progress = Case(make), Watching()
    case.train(Run(progress=progress))
    rows = case.prepared.tables["train"].num_rows
    assert progress.steps == {"fit": 3 * -(-rows // 16)}
    assert case.history.rows == []


def test_patience_ends_a_training_that_gets_no_better(make):
    case = Case(make, patience=1)
    case.train(scores=[0.3, 0.2, 0.1])
    assert len(case.seen) == 2


def test_a_phase_goes_on_from_its_own_checkpoint_and_not_from_that_of_another(make, tmp_path):
    whole, first, again, other = (Case(make) for _ in range(4))
    whole.train()
    count = iter(range(100))
    with pytest.raises(Interrupted, match="after step 4"):
        first.train(Run(folder=tmp_path, asked=lambda: next(count) == 3))
    taken, anew = Watching(), Watching()
    other.train(Run(folder=tmp_path, progress=anew), phase="refit")
    again.train(Run(folder=tmp_path, progress=taken))
    assert taken.steps["fit"] == anew.steps["refit"] - 4
    assert same_bits(again.weights(), whole.weights())


def test_a_head_that_has_no_rows_is_gone_when_it_has_served(make):
    case = Case(make)
    case.network.heads["served"] = deepcopy(case.network.heads["main"])
    case.train()
    assert [*case.network.heads] == ["main"]

"""The state of a training: what it keeps, saves and takes up."""

import torch
from torch import nn

from tagwright.models.encoders import Encoder
from tagwright.models.network import Network
from tagwright.training.history import History
from tagwright.training.loop import Step
from tagwright.training.state import Run, Training, nothing, silent


class Weighted(Encoder):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3))


def made(parts=1):
    torch.manual_seed(0)
    network = Network(Weighted(), {"main": nn.Linear(2, 2)})
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.1, fused=True)
    return Training(network=network, optimizer=optimizer, history=History(), parts=parts)


def moved(training):
    for parameter in training.network.parameters():
        parameter.grad = torch.ones_like(parameter)
    training.optimizer.step()


def test_what_is_kept_does_not_move_on():
    training = made()
    training.keep()
    before = training.best["encoder.weight"].clone()
    moved(training)
    assert torch.equal(training.best["encoder.weight"], before)
    assert not torch.equal(training.network.encoder.weight, before)


def test_a_saved_state_is_taken_up_whole(tmp_path):
    training = made(parts=4)
    moved(training)
    training.keep()
    training.history.add(Step(number=7, epoch=1.0, loss=2.0, rate=0.1, score=0.5))
    moved(training)
    training.save(7, tmp_path, "mine")
    other = made()
    other.take_up(tmp_path, "mine")
    assert (other.step, other.parts, other.history.rows) == (7, 4, training.history.rows)
    assert torch.equal(other.network.encoder.weight, training.network.encoder.weight)
    assert torch.equal(other.best["encoder.weight"], training.best["encoder.weight"])
    for one in (training, other):
        moved(one)
    assert torch.equal(other.network.encoder.weight, training.network.encoder.weight)


def test_without_a_checkpoint_a_training_begins_at_the_start(tmp_path):
    training = made(parts=3)
    training.take_up(tmp_path, "mine")
    assert (training.step, training.parts, training.best) == (0, 3, {})


def test_a_run_shows_and_says_nothing_by_itself():
    run = Run()
    steps = iter([1, 2])
    assert silent(steps, "fit", 0, 2) is steps
    assert run.progress is silent
    assert run.say is nothing
    assert run.asked() is False

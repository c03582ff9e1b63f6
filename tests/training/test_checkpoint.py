"""Checkpoints: what is saved comes back, and only to whom it belongs."""

import pytest
import torch
from torch import nn

from tagwright.errors import ModelError, WriteError
from tagwright.training.checkpoint import Checkpoint, load_last, save, snapshot
from tagwright.training.optimizers.optimizer import build_optimizer

from ..full_disk import room

HISTORY = {"rows": [{"step": 1, "score": 0.1}], "loss": 0.1 + 0.2, "steps": 3}


def trained(steps=3):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2))
    optimizer = build_optimizer(network, learning_rate=0.01, weight_decay=0.1, batch=2)
    for _ in range(steps):
        step_once(network, optimizer)
    return network, optimizer


def step_once(network, optimizer):
    optimizer.zero_grad()
    network(torch.arange(6.0).view(2, 3)).pow(2).sum().backward()
    optimizer.step()


def checkpoint(step=3, best=True):
    network, optimizer = trained(step)
    kept = snapshot(network) if best else {}
    return Checkpoint(step, network.state_dict(), kept, optimizer.state_dict(), HISTORY, "mine")


def test_an_empty_folder_has_no_checkpoint(tmp_path):
    assert load_last(tmp_path / "nowhere", fingerprint="mine") is None


def test_what_is_saved_comes_back_bit_for_bit(tmp_path):
    save(checkpoint(), tmp_path)
    found = load_last(tmp_path, fingerprint="mine")
    assert found.step == 3
    assert found.history == HISTORY
    for mine, theirs in ((checkpoint().weights, found.weights), (checkpoint().best, found.best)):
        assert mine.keys() == theirs.keys()
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_a_restored_optimizer_takes_the_same_next_step(tmp_path):
    save(checkpoint(), tmp_path)
    found = load_last(tmp_path, fingerprint="mine")
    network, optimizer = trained(0)
    network.load_state_dict(found.weights)
    optimizer.load_state_dict(found.optimizer)
    step_once(network, optimizer)
    expected, going_on = trained(3)
    step_once(expected, going_on)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), expected.parameters()))


def test_before_the_first_evaluation_there_is_no_best(tmp_path):
    save(checkpoint(best=False), tmp_path)
    assert load_last(tmp_path, fingerprint="mine").best == {}


def test_before_the_first_step_an_optimizer_has_no_state(tmp_path):
    save(checkpoint(step=0), tmp_path)
    network, optimizer = trained(0)
    optimizer.load_state_dict(load_last(tmp_path, fingerprint="mine").optimizer)
    step_once(network, optimizer)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), trained(1)[0].parameters()))


def test_only_the_newest_is_kept(tmp_path):
    for step in (9, 10, 100):
        save(checkpoint()._replace(step=step), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["step-000000100"]
    assert load_last(tmp_path, fingerprint="mine").step == 100


def test_a_half_written_checkpoint_beside_a_whole_one_is_not_taken(tmp_path):
    save(checkpoint(), tmp_path)
    (tmp_path / ".step-000000004.part").mkdir()
    assert load_last(tmp_path, fingerprint="mine").step == 3


def test_other_data_or_settings_are_refused(tmp_path):
    save(checkpoint(), tmp_path)
    with pytest.raises(ModelError, match="other data or settings"):
        load_last(tmp_path, fingerprint="yours")


@pytest.mark.parametrize(
    "name", ["weights.safetensors", "best.safetensors", "optimizer.safetensors", "state.json"]
)
def test_an_altered_file_is_named(tmp_path, name):
    save(checkpoint(), tmp_path)
    path = tmp_path / "step-000000003" / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=name):
        load_last(tmp_path, fingerprint="mine")


def test_nothing_is_pickled(tmp_path):
    save(checkpoint(), tmp_path)
    assert {p.suffix for p in tmp_path.rglob("*") if p.is_file()} == {".json", ".safetensors"}


def test_a_snapshot_does_not_move_with_the_network():
    network, optimizer = trained(1)
    kept = snapshot(network)
    before = kept["0.weight"].clone()
    step_once(network, optimizer)
    assert torch.equal(kept["0.weight"], before)


def test_weights_that_are_not_contiguous_are_saved(tmp_path):
    _, optimizer = trained(1)
    weights = {"w": torch.arange(6.0).view(2, 3).T}
    save(Checkpoint(1, weights, {}, optimizer.state_dict(), HISTORY, "mine"), tmp_path)
    assert torch.equal(load_last(tmp_path, fingerprint="mine").weights["w"], weights["w"])


def test_rates_on_a_device_are_saved_as_numbers(tmp_path):
    network, optimizer = trained(1)
    rate = torch.tensor(0.25)
    for group in optimizer.param_groups:
        group["lr"], group["capturable"] = rate, False
    save(Checkpoint(1, network.state_dict(), {}, optimizer.state_dict(), HISTORY, "mine"), tmp_path)
    groups = load_last(tmp_path, fingerprint="mine").optimizer["param_groups"]
    assert {group["lr"] for group in groups} == {0.25}
    assert not any("capturable" in group for group in groups)
    optimizer.load_state_dict(load_last(tmp_path, fingerprint="mine").optimizer)
    step_once(network, optimizer)


def test_a_disk_that_takes_no_more_is_said_and_the_last_checkpoint_stays(tmp_path):
    save(checkpoint(), tmp_path)
    with room(100), pytest.raises(WriteError, match=f"cannot write {tmp_path}/step-000000009: "):
        save(checkpoint()._replace(step=9), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000003"]
    assert load_last(tmp_path, fingerprint="mine").step == 3


def test_what_a_kill_left_of_another_step_takes_no_room(tmp_path):
    (tmp_path / ".step-000000004.part").mkdir()
    (tmp_path / ".step-000000004.part" / "weights.safetensors").write_text("half")
    save(checkpoint(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000003"]

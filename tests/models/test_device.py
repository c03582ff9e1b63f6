"""Where a run computes."""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.models import device
from tagwright.models.device import deterministic, device_name, device_of, forked_random
from tagwright.settings.schema import resolve


def test_an_unknown_device_is_a_clear_error():
    with pytest.raises(SettingsError, match=r"'gpu' cannot be used .* take auto, cpu, cuda or mps"):
        device_of(resolve({"fit": {"device": "gpu"}}))


def test_a_named_device_is_taken_and_auto_finds_one():
    assert device_of(resolve({"fit": {"device": "cpu"}})).type == "cpu"
    assert device_of(resolve({})).type in ("cpu", "cuda", "mps")


def test_determinism_ends_with_its_block():
    with deterministic(True):
        assert torch.are_deterministic_algorithms_enabled()
    assert not torch.are_deterministic_algorithms_enabled()
    with deterministic(False):
        assert not torch.are_deterministic_algorithms_enabled()


def test_draws_inside_leave_the_global_generator_as_it_was():
    before = torch.get_rng_state()
    with forked_random():
        torch.manual_seed(1)
        torch.rand(3)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_gpu_is_told_by_its_name(monkeypatch):
    monkeypatch.setattr(device, "device_of", lambda settings: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"a fine {device.type}")
    assert device_name(resolve({})) == "a fine cuda"


def test_a_cpu_is_told_with_its_threads():
    name = device_name(resolve({"fit": {"device": "cpu"}}))
    assert f"{torch.get_num_threads()} threads" in name

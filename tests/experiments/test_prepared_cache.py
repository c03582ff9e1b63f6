"""What the runs of a recipe share."""

import torch

from tagwright.experiments import prepared_cache
from tagwright.settings.schema import resolve


def test_a_gpu_is_told_by_its_name(monkeypatch):
    monkeypatch.setattr(prepared_cache, "device_of", lambda settings: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"a fine {device.type}")
    assert prepared_cache.device_name(resolve({})) == "a fine cuda"


def test_a_cpu_is_told_with_its_threads():
    assert f"{torch.get_num_threads()} threads" in prepared_cache.device_name(
        resolve({"fit": {"device": "cpu"}})
    )


def test_facts_that_are_no_metrics_are_left_out():
    assert prepared_cache.only_metrics(
        {"accuracy": 0.5, "true_cardinality": 1.0, "nonsense": 2}
    ) == {"accuracy": 0.5}

"""What the runs of a recipe share."""

import torch

from tagwright.assemble import bench
from tagwright.settings import resolve


def test_a_gpu_is_told_by_its_name(monkeypatch):
    monkeypatch.setattr(bench, "device_of", lambda settings: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"a fine {device.type}")
    assert bench.device_name(resolve({})) == "a fine cuda"


def test_a_cpu_is_told_with_its_threads():
    assert f"{torch.get_num_threads()} threads" in bench.device_name(resolve({"fit": {"device": "cpu"}}))


def test_facts_that_are_no_metrics_are_left_out():
    assert bench.only_metrics({"accuracy": 0.5, "true_cardinality": 1.0, "nonsense": 2}) == {"accuracy": 0.5}

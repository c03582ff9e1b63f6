"""More labels than memory are refused before they are made."""

import json

import numpy as np
import pytest
import torch

from tagwright.assemble import memory
from tagwright.errors import SettingsError

CPU = torch.device("cpu")
LEARNED = {"config.json": np.frombuffer(json.dumps({"hidden_size": 384}).encode(), np.uint8)}


def test_too_many_labels_are_refused_with_the_figures(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 2_000_000_000)
    memory.require_memory(LEARNED, 100_000, batch=32, device=CPU)
    with pytest.raises(SettingsError, match=r"1,000,000 labels on an encoder of width 384 want 6.7 GB .* 2.0 GB free"):
        memory.require_memory(LEARNED, 1_000_000, batch=32, device=CPU)


def test_other_encoders_and_unknown_memory_are_let_through(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1)
    memory.require_memory({}, 10**9, batch=32, device=CPU)
    monkeypatch.setattr(memory, "free_bytes", lambda device: None)
    memory.require_memory(LEARNED, 10**9, batch=32, device=CPU)


def test_free_memory_of_this_machine_is_plausible():
    found = memory.free_bytes(CPU)
    assert found is None or 10**7 < found < 10**14
    assert memory.free_bytes(torch.device("meta")) is None

"""Soft labels that do not fit are refused before they are made; batches that do not fit are cut."""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.settings.schema import resolve
from tagwright.training import memory

CPU = torch.device("cpu")


def test_soft_labels_of_too_many_cells_are_refused_with_the_figures(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 2_000_000_000)
    memory.require_soft_memory(100_000, 4_000)
    message = (
        r"100,000 texts and 6,000 labels want 2\.4 GB, and 2\.0 GB are free; take targets hard"
    )
    with pytest.raises(SettingsError, match=message):
        memory.require_soft_memory(100_000, 6_000)
    monkeypatch.setattr(memory, "free_bytes", lambda device: None)
    memory.require_soft_memory(10**9, 10**9)


def test_free_memory_of_this_machine_is_plausible():
    found = memory.free_bytes(CPU)
    assert found is None or 10**7 < found < 10**14
    assert memory.free_bytes(torch.device("meta")) is None


def test_crowded_doubles_the_parts_and_says_so():
    said = []
    assert memory.crowded(2, 32, resolve({}), said.append) == 4
    assert said == [
        "the GPU's memory does not hold 16 texts at once: batches are computed in 4 parts from here"
        " on (fit.accumulate), which add up to the same"
    ]


@pytest.mark.parametrize(
    ("parts", "given", "message"),
    [
        (32, {}, r"does not hold 1 text at once; take a smaller fit.limit or a smaller encoder"),
        (
            1,
            {"objective": "batch_dice"},
            r"does not hold 32 texts at once, and batch_dice looks at a whole batch; .*fit.batch",
        ),
    ],
)
def test_crowded_refuses_what_cannot_be_cut(parts, given, message):
    with pytest.raises(SettingsError, match=message):
        memory.crowded(parts, 32, resolve(given), lambda text: None)


def test_a_device_out_of_memory_is_explained():
    message = r"training takes \(CUDA out of memory. Tried to allocate 9 GiB\); take"
    with pytest.raises(SettingsError, match=message), memory.explained():
        raise torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 9 GiB. GPU 0 has a total capacity of …"
        )

"""Weights reach a network if they are just those that it has."""

import json
import os
import resource
import struct

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file
from torch import nn

from tagwright.errors import ModelError
from tagwright.storage.tensors import Tensors, fill, require_fit

TYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
TYPES += [torch.bfloat16, torch.float16, torch.float32, torch.float64]
WEIGHTS = {"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), "bias": torch.zeros(3)}


def written(path, weights=WEIGHTS):
    save_file(weights, path)
    return path


def filled(path):
    network = nn.Linear(2, 3)
    with path.open("rb") as file:
        weights = Tensors(file, "pt")
        require_fit(network, weights)
        fill(network, weights)
    return network


def test_a_network_gets_its_weights(tmp_path):
    found = filled(written(tmp_path / "w"))
    assert {name: tensor.tolist() for name, tensor in found.state_dict().items()} == {
        name: tensor.tolist() for name, tensor in WEIGHTS.items()
    }


@pytest.mark.parametrize("dtype", TYPES)
def test_types_and_shapes_are_known_by_the_header_alone(tmp_path, dtype):
    with written(tmp_path / "w", {"a": torch.zeros(3, 2).to(dtype)}).open("rb") as file:
        found = Tensors(file, "pt").forms
    assert found == {"a": (str(dtype).removeprefix("torch."), (3, 2))}


def test_weights_that_do_not_fit_are_refused_before_they_are_read(tmp_path):
    """As a file of any size is, whose other numbers take no room on the disk."""
    header = {"x": {"dtype": "F32", "shape": [2**28], "data_offsets": [0, 2**30]}}
    content = json.dumps(header).encode()
    with (tmp_path / "w").open("wb") as file:
        file.write(struct.pack("<Q", len(content)) + content)
        file.truncate(8 + len(content) + 2**30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelError, match="x is unknown"):
        filled(tmp_path / "w")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**16  # KiB


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bias": None}, "bias is missing"),
        ({"more": torch.zeros(1)}, "more is unknown"),
        ({"a\n\x1b[31mb": torch.zeros(1)}, r"a\\n\\x1b\[31mb is unknown"),
        ({"bias": torch.zeros(4)}, r"bias is float32 \(4,\) and must be float32 \(3,\)"),
        ({"bias": torch.zeros(3).double()}, r"bias is float64 \(3,\) and must be float32 \(3,\)"),
        ({"bias": torch.tensor([0.0, float("nan"), 0.0])}, "not finite, in bias"),
        ({"bias": torch.tensor([0.0, float("inf"), 0.0])}, "not finite, in bias"),
        ({"bias": torch.tensor([0.0, -float("inf"), 0.0])}, "not finite, in bias"),
    ],
)
def test_other_weights_are_refused_by_name(tmp_path, change, said):
    weights = {name: tensor for name, tensor in {**WEIGHTS, **change}.items() if tensor is not None}
    with pytest.raises(ModelError, match=said):
        filled(written(tmp_path / "w", weights))


def test_large_finite_weights_are_finite(tmp_path):
    largest = torch.full((3,), torch.finfo(torch.float32).max)
    assert (
        filled(written(tmp_path / "w", {**WEIGHTS, "bias": largest})).bias.tolist()
        == largest.tolist()
    )


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_an_array_that_is_not_finite_is_refused(tmp_path, number):
    idf = np.array([1.0, number, 2.0], np.float32)
    save_arrays({"idf": idf, "keys": np.arange(3)}, tmp_path / "w")
    with (tmp_path / "w").open("rb") as file, pytest.raises(ModelError, match="not finite, in idf"):
        Tensors[np.ndarray](file, "np").content()


def test_what_has_taken_the_place_of_an_open_file_is_not_read(tmp_path):
    with written(tmp_path / "w").open("rb") as file:
        os.replace(written(tmp_path / "other", {"weight": torch.zeros(1)}), tmp_path / "w")
        assert sorted(Tensors(file, "pt").forms) == ["bias", "weight"]


@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f2", "f4", "f8"])
def test_an_array_of_any_type_is_read(tmp_path, dtype):
    arrays = {"a": np.array([[0, 1]], dtype), "none": np.zeros((0, 2), dtype)}
    save_arrays(arrays, tmp_path / "w")
    with (tmp_path / "w").open("rb") as file:
        found = Tensors[np.ndarray](file, "np").content()
    assert {name: array.tolist() for name, array in found.items()} == {"a": [[0, 1]], "none": []}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1234",
        struct.pack("<Q", 2**62) + b"{}",
        struct.pack("<Q", 10**7) + b"{}" + b" " * 10**7,
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{}more",
    ],
)
def test_what_is_no_file_of_tensors_is_one_error(tmp_path, content):
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(
        ModelError, match=r"w (is not as Tagwright writes it|does not hold)|the weights in"
    ):
        filled(tmp_path / "w")


def test_a_tensor_larger_than_its_file_is_one_error(tmp_path):
    header = json.dumps(
        {"bias": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 4]}}
    ).encode()
    (tmp_path / "w").write_bytes(struct.pack("<Q", len(header)) + header + b"1234")
    with pytest.raises(ModelError, match="w is not as Tagwright writes it"):
        filled(tmp_path / "w")

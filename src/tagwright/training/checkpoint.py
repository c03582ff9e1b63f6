"""Checkpoints: weights, best weights, optimizer and history in a folder that is whole or not there;
never pickled.
"""

import json
import shutil
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tagwright.errors import ModelError
from tagwright.storage.folder import verified, written
from tagwright.training.history import HistoryState
from tagwright.training.optimizers.joint import OptimizerState


class Checkpoint(NamedTuple):
    """All that a run needs to go on as if nothing had happened."""

    step: int
    weights: dict[str, Tensor]
    best: dict[str, Tensor]  # empty before the first evaluation
    optimizer: dict[str, object]  # its state_dict
    history: HistoryState
    fingerprint: str  # of the data and settings: a checkpoint refuses others


class PlainState(TypedDict):
    """An optimizer's state_dict without its tensors, as JSON has it."""

    state: dict[str, dict[str, object]]
    param_groups: list[dict[str, object]]


def save(checkpoint: Checkpoint, folder: Path) -> None:
    """Write `folder/step-N` and remove older ones."""
    target = folder / f"step-{checkpoint.step:09d}"
    if target.exists():
        return
    for aside in folder.glob(".step-*.part"):  # of a save that was killed: its room is wanted
        shutil.rmtree(aside)
    plain, tensors = _flatten(checkpoint.optimizer)
    about = {"format": 1, "fingerprint": checkpoint.fingerprint}
    with written(target, about=about) as aside:
        save_file(_contiguous(checkpoint.weights), aside / "weights.safetensors")
        save_file(_contiguous(checkpoint.best), aside / "best.safetensors")
        save_file(tensors, aside / "optimizer.safetensors")
        state = {"step": checkpoint.step, "optimizer": plain, "history": checkpoint.history}
        (aside / "state.json").write_text(json.dumps(state), encoding="utf-8")
    for old in _saved(folder)[:-1]:
        shutil.rmtree(old)


def load_last(folder: Path, *, fingerprint: str) -> Checkpoint | None:
    """The newest checkpoint of a folder, or None. One of other data or settings is an error."""
    found = _saved(folder)
    if not found:
        return None
    manifest = verified(found[-1])
    if manifest["fingerprint"] != fingerprint:
        raise ModelError(
            f"{found[-1]} belongs to a run with other data or settings; give those, or start over"
            " with --overwrite"
        )
    state = json.loads((found[-1] / "state.json").read_text(encoding="utf-8"))
    optimizer = _unflatten(state["optimizer"], load_file(found[-1] / "optimizer.safetensors"))
    weights, best = (load_file(found[-1] / f"{name}.safetensors") for name in ("weights", "best"))
    return Checkpoint(state["step"], weights, best, optimizer, state["history"], fingerprint)


def _saved(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*"))


def _contiguous(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}


def _flatten(state_dict: dict[str, object]) -> tuple[PlainState, dict[str, Tensor]]:
    """An optimizer's state_dict as JSON-ready values and named tensors."""
    tensors: dict[str, Tensor] = {}
    plain: dict[str, dict[str, object]] = {}
    whole = cast(OptimizerState, state_dict)
    for index, values in whole["state"].items():
        plain[str(index)] = {k: v for k, v in values.items() if not isinstance(v, Tensor)}
        tensors.update(
            {f"{index}/{k}": v.contiguous() for k, v in values.items() if isinstance(v, Tensor)}
        )
    # whether steps are captured is a matter of the device that goes on
    groups = [
        {k: _plain(v) for k, v in g.items() if k != "capturable"} for g in whole["param_groups"]
    ]
    return {"state": plain, "param_groups": groups}, tensors


def _plain(value: object) -> object:
    if isinstance(value, Tensor):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def _unflatten(plain: PlainState, tensors: dict[str, Tensor]) -> dict[str, object]:
    state = {int(index): dict(values) for index, values in plain["state"].items()}
    for name, tensor in tensors.items():
        index, _, key = name.partition("/")
        state[int(index)][key] = tensor
    groups = [
        {**g, "betas": tuple(betas)} if isinstance(betas := g.get("betas"), list) else g
        for g in plain["param_groups"]
    ]
    return {"state": state, "param_groups": groups}


def snapshot(module: torch.nn.Module) -> dict[str, Tensor]:
    """A copy of a module's state on the host."""
    return {
        name: tensor.detach().to("cpu", copy=True) for name, tensor in module.state_dict().items()
    }

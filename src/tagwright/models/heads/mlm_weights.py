"""The weights of a masked-language head that an encoder's folder may carry, by the names of its
family.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor

from tagwright.errors import ModelError
from tagwright.storage.checked import value_of


class Form(NamedTuple):
    """What a family calls the parts of its head. `activation` None: its config says which."""

    dense: str
    norm: str
    bias: tuple[str, ...]  # the first that is there
    activation: str | None = None


FORMS = (
    # BERT, and DeBERTa as transformers saves it
    Form(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        ("cls.predictions.bias", "cls.predictions.decoder.bias"),
    ),
    # RoBERTa, XLM-R, CamemBERT, MPNet
    Form("lm_head.dense", "lm_head.layer_norm", ("lm_head.bias", "lm_head.decoder.bias"), "gelu"),
    # DistilBERT
    Form("vocab_transform", "vocab_layer_norm", ("vocab_projector.bias",)),
    # the generator of ELECTRA
    Form(
        "generator_predictions.dense",
        "generator_predictions.LayerNorm",
        ("generator_lm_head.bias",),
        "gelu",
    ),
    # ALBERT
    Form(
        "predictions.dense",
        "predictions.LayerNorm",
        ("predictions.bias", "predictions.decoder.bias"),
    ),
    # ModernBERT
    Form("head.dense", "head.norm", ("decoder.bias",)),
    # DeBERTa as its authors saved it
    Form(
        "lm_predictions.lm_head.dense",
        "lm_predictions.lm_head.LayerNorm",
        ("lm_predictions.lm_head.bias",),
    ),
)
# settings of a config, the first that is there
ACTIVATIONS = (
    "classifier_activation",
    "hidden_act",
    "activation",
)
EPSILONS = ("norm_eps", "layer_norm_eps")


def form_in(folder: Path, config: Mapping[str, object]) -> Form | None:
    """The form of the head whose weights are in the folder; None where there is none that ends in
    the word vectors.
    """
    if not config.get("tie_word_embeddings", True):
        return None
    names = _files(folder)
    for form in FORMS:
        if f"{form.dense}.weight" in names and any(name in names for name in form.bias):
            return form
    return None


def weights_in(folder: Path, form: Form, like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of the form under the names of `like`, in float32; a bias that a family does
    without is 0.
    """
    files = _files(folder)
    # a norm's weight and bias are gamma and beta in old files
    names = {
        "dense.weight": (f"{form.dense}.weight",),
        "dense.bias": (f"{form.dense}.bias",),
        "norm.weight": (f"{form.norm}.weight", f"{form.norm}.gamma"),
        "norm.bias": (f"{form.norm}.bias", f"{form.norm}.beta"),
        "bias": form.bias,
    }
    found = {}
    for name, wanted in like.items():
        stored = next((one for one in names[name] if one in files), None)
        if stored is None and not name.endswith("bias"):
            raise ModelError(
                f"{folder} has {form.dense}, but not {names[name][0]}, which belongs to it"
            )
        found[name] = torch.zeros_like(wanted) if stored is None else _tensor(files[stored], stored)
        if found[name].shape != wanted.shape:
            shapes = f"{tuple(found[name].shape)}, not {tuple(wanted.shape)}"
            raise ModelError(
                f"{stored} in {folder} does not fit the encoder beside it: it is {shapes}"
            )
    return found


def activation_in(config: Mapping[str, object], form: Form | None) -> str:
    """The name of the activation in a head of this form."""
    own = None if form is None else form.activation
    return str(own or next((config[name] for name in ACTIVATIONS if config.get(name)), "gelu"))


def epsilon_in(config: Mapping[str, object]) -> float:
    """What the head's norm adds to the variance."""
    return next((value_of(config, name, float) for name in EPSILONS if config.get(name)), 1e-12)


def _files(folder: Path) -> dict[str, Path]:
    """In which file each tensor is."""
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("model*.safetensors")):
        with safe_open(path, "pt") as file:
            found |= dict.fromkeys(file.keys(), path)
    return found


def _tensor(path: Path, name: str) -> Tensor:
    with safe_open(path, "pt") as file:
        tensor: Tensor = file.get_tensor(name)
        return tensor.float()

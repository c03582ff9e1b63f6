"""A pretrained model by `transformers`: from its folder with weights, or from its config alone.
Never remote code.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from torch import nn

from tagwright.errors import ModelError
from tagwright.models.encoders._positions import Positioned
from tagwright.storage.checked import reason_of
from tagwright.tokenizers.source import offline, quiet, transformers

# of a config: names for the library's classifiers, of which it makes as many as a number says; the
# type of stored weights; and the form and the parts in which answers are made
OF_CLASSIFIERS = ("id2label", "label2id", "num_labels", "problem_type")
NEVER_READ = (*OF_CLASSIFIERS, "dtype", "torch_dtype", "return_dict", "chunk_size_feed_forward")
MOST, MOST_COUNTED = 2**24, 2**12  # in a config: of any number, and of one of layers or labels
# of these an encoder has one at least; of what else is counted or measured there may be none
POSITIVE = ("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
COUNTED = re.compile(r"(^|_)(num|n|size|heads?|layers?|dim)(_|$)")
NEVER_USED = ("pooler", "lm_head", "cls")  # parts that a checkpoint may lack or bring


class LibraryConfig(Protocol):
    """The config of a model of transformers."""

    model_type: str
    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    output_attentions: bool
    _attn_implementation: str


class LibraryModel(nn.Module):
    """A model of transformers, as far as it is used here: for the type checker."""

    config: LibraryConfig
    encoder: Positioned
    pooler: nn.Module | None

    def get_input_embeddings(self) -> nn.Embedding:
        """The vectors of word pieces."""
        raise NotImplementedError


def read_config(folder: Path) -> dict[str, object]:
    """The folder's config.json with all defaults written out."""
    library = transformers()
    try:
        with quiet():
            config = library.AutoConfig.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except Exception as error:  # whatever the library trips over, the folder is no encoder for us
        raise ModelError(
            f"{folder} holds no encoder that transformers can load: {reason_of(error)}"
        ) from None
    found: dict[str, object] = {**config.to_dict(), "model_type": config.model_type}
    if found.get("is_encoder_decoder") or not isinstance(getattr(config, "hidden_size", None), int):
        raise ModelError(
            f"{folder} holds a {config.model_type} model; an encoder such as BERT or RoBERTa is"
            " wanted"
        )
    return found


def with_attention_dropout(config: dict[str, object], dropout: float) -> dict[str, object]:
    """The config with another dropout of attention, whatever its family calls it."""
    named = [
        name for name in ("attention_probs_dropout_prob", "attention_dropout") if name in config
    ]
    return config | dict.fromkeys(named, dropout)


def with_weights(folder: Path, config: dict[str, object]) -> LibraryModel:
    """The model with the folder's weights; one whose weights do not fit its config is refused."""
    library = transformers()
    try:
        with quiet():
            model, info = library.AutoModel.from_pretrained(
                folder,
                config=_made(config),
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                dtype="float32",
                output_loading_info=True,
            )
    except Exception as error:
        raise ModelError(f"the encoder in {folder} cannot be loaded: {reason_of(error)}") from None
    missing = sorted(
        str(name) for name in info["missing_keys"] if not str(name).startswith(NEVER_USED)
    )
    if missing:
        held = f"{len(missing)} tensors are missing, such as {missing[0]}"
        raise ModelError(f"the weights in {folder} do not belong to its config.json: {held}")
    return _without_pooler(model)


def from_config(config: dict[str, object]) -> LibraryModel:
    """The same model with random weights, whatever the config says: it may come from anybody."""
    library = transformers()
    with quiet(), offline():
        return _without_pooler(
            library.AutoModel.from_config(_made(config), trust_remote_code=False)
        )


def _made(config: dict[str, object]) -> LibraryConfig:
    read = {key: value for key, value in config.items() if key not in NEVER_READ}
    _require_bounded(read)
    # a copy: it may be changed
    made = transformers().AutoConfig.for_model(**json.loads(json.dumps(read)))
    # the library's own: never one from the hub
    made._attn_implementation = made._experts_implementation = None
    for name in POSITIVE:  # whatever its family calls them
        if not getattr(made, name, 1):
            raise ModelError(f"the encoder's config has {name} 0; it must be at least 1")
    config_made: LibraryConfig = made
    return config_made


def _require_bounded(config: dict[str, object]) -> None:
    """Refuse numbers that transformers would count to before it makes anything, and fewer than
    none.
    """
    for name, number in _numbers(config, ""):
        if number < 0 and COUNTED.search(name):
            raise ModelError(f"the encoder's config has {name} {number:,}; it must not be negative")
        counted = "layer" in name or "label" in name
        if (
            number > (MOST_COUNTED if counted else MOST) and "theta" not in name
        ):  # that is a base of rotations
            raise ModelError(f"the encoder's config has {name} {number:,}, which is too large")


def _numbers(value: object, name: str) -> Iterator[tuple[str, int]]:
    """All whole numbers at any depth, each with the name that it stands under."""
    if isinstance(value, int):
        yield name, value
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from _numbers(inner, str(key))
    for inner in value if isinstance(value, list) else ():
        yield from _numbers(inner, name)


def _without_pooler(model: LibraryModel) -> LibraryModel:
    """A head of the pretraining, whose output nobody reads and whose gradient never comes."""
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


def width_in(folder: Path) -> int:
    """The width that a folder's config.json states; 0 where it cannot be read."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return int(config.get("hidden_size") or config.get("dim") or 0)
    except (OSError, ValueError, AttributeError):
        return 0

"""A pretrained model by `transformers`: from its folder with weights, or from its config alone. Never remote code."""

import json
from pathlib import Path
from typing import Any

from tagwright.embed._source import quiet, transformers
from tagwright.errors import ModelError

NEVER_USED = ("pooler", "lm_head", "cls")  # parts that a checkpoint may lack or bring


def read_config(folder: Path) -> dict[str, Any]:
    """The folder's config.json with all defaults written out."""
    library = transformers()
    try:
        with quiet():
            config = library.AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # whatever the library trips over, the folder is no encoder for us
        raise ModelError(f"{folder} holds no encoder that transformers can load: {_reason(error)}") from None
    found: dict[str, Any] = {**config.to_dict(), "model_type": config.model_type}
    if found.get("is_encoder_decoder") or not isinstance(getattr(config, "hidden_size", None), int):
        raise ModelError(f"{folder} holds a {config.model_type} model; an encoder such as BERT or RoBERTa is wanted")
    return found


def with_attention_dropout(config: dict[str, Any], dropout: float) -> dict[str, Any]:
    """The config with another dropout of attention, whatever its family calls it."""
    named = [name for name in ("attention_probs_dropout_prob", "attention_dropout") if name in config]
    return config | dict.fromkeys(named, dropout)


def with_weights(folder: Path, config: dict[str, Any]) -> Any:
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
        raise ModelError(f"the encoder in {folder} cannot be loaded: {_reason(error)}") from None
    missing = sorted(str(name) for name in info["missing_keys"] if not str(name).startswith(NEVER_USED))
    if missing:
        held = f"{len(missing)} tensors are missing, such as {missing[0]}"
        raise ModelError(f"the weights in {folder} do not belong to its config.json: {held}")
    return _without_pooler(model)


def from_config(config: dict[str, Any]) -> Any:
    """The same model with random weights."""
    library = transformers()
    with quiet():
        return _without_pooler(library.AutoModel.from_config(_made(config), trust_remote_code=False))


def _made(config: dict[str, Any]) -> Any:
    return transformers().AutoConfig.for_model(**json.loads(json.dumps(config)))  # a copy: it may be changed


def _without_pooler(model: Any) -> Any:
    """A head of the pretraining, whose output nobody reads and whose gradient never comes."""
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


def _reason(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def width_in(folder: Path) -> int:
    """The width that a folder's config.json states; 0 where it cannot be read."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return int(config.get("hidden_size") or config.get("dim") or 0)
    except (OSError, ValueError, AttributeError):
        return 0

"""The head of masked-language modelling for an encoder: whether there can be one, and where it
starts.
"""

import json
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
from torch import Tensor, nn

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.encoders import Encoder
from tagwright.models.heads.mlm import MASKED, MaskedPieces
from tagwright.models.heads.mlm_weights import activation_in, epsilon_in, form_in, weights_in
from tagwright.settings.schema import Choice, Settings
from tagwright.tokenizers.pretrained import OwnPieces
from tagwright.tokenizers.source import find_source, transformers
from tagwright.training.prepare import source_of
from tagwright.training.prepared import Prepared
from tagwright.training.regularizers.mlm import require_sound

if TYPE_CHECKING:
    from tagwright.models.encoders.pretrained import Pretrained

NAME = "mlm"


class Source(NamedTuple):
    """Where a pretrained encoder comes from, and its tokenizer with the mask that hides a piece."""

    path: str
    tokenizer: OwnPieces
    mask: int


def check_mlm(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """Refuse masked-language modelling where it cannot be; a sentence on a head that has to start
    anew comes back.
    """
    choice = _choice(settings)
    if choice is None:
        return ()
    require_sound(
        **{**registry.options(registry.find(registry.REGULARIZERS, NAME).factory), **choice.options}
    )
    source = _source(prepared, settings)
    if any(settings.of(name).head.options.get("chunk") for name in prepared.heads):
        raise SettingsError("mlm does not go with labels in chunks; leave --head-chunk or mlm out")
    if form_in(find_source(source.path), _config(prepared)) is None:
        said = "brings no head for masked pieces, so one starts from its word vectors"
        return (f"mlm: {source.path} {said}",)
    return ()


def mlm_heads(prepared: Prepared, settings: Settings, encoder: Encoder) -> dict[str, MaskedPieces]:
    """The head, by its name, with the weights that the encoder's folder has for it; nothing where
    none is asked for.
    """
    if _choice(settings) is None:
        return {}
    source, config = _source(prepared, settings), _config(prepared)
    folder, model = find_source(source.path), cast("Pretrained", encoder).model
    form, vectors = form_in(folder, config), encoder.words.weight
    pieces = sorted(set(source.tokenizer.vocabulary.values()) - set(source.tokenizer.marks))
    head = MaskedPieces(
        encoder.width_out,
        vectors,
        torch.tensor(pieces),
        mask=source.mask,
        back=_back(model, vectors.shape[1], encoder.width_out),
        activation=transformers().activations.ACT2FN[activation_in(config, form)],
        epsilon=epsilon_in(config),
    )
    if form is not None:
        head.load_state_dict(weights_in(folder, form, head.state_dict()))
    return {MASKED: head}


def _choice(settings: Settings) -> Choice | None:
    return next((choice for choice in settings.regularize if choice.name == NAME), None)


def _source(prepared: Prepared, settings: Settings) -> Source:
    """That of the encoder; one that has no mask to hide pieces behind is refused."""
    path, tokenizer = source_of(settings), prepared.tokenizer
    if path is None or not isinstance(tokenizer, OwnPieces):
        raise SettingsError(
            f"mlm needs a pretrained encoder, got {settings.encoder.name}; take --encoder minilm,"
            " or leave mlm out"
        )
    if tokenizer.mask is None:
        raise SettingsError(
            f"mlm hides pieces behind a mask token, and the tokenizer of {path} has none"
        )
    return Source(path, tokenizer, tokenizer.mask)


def _config(prepared: Prepared) -> dict[str, object]:
    found: dict[str, object] = json.loads(bytes(prepared.learned["config.json"]))
    return found


def _back(model: nn.Module, own: int, width: int) -> Tensor | None:
    """What leads from states (D) back to word vectors (E), (E, D): the inverse of how the model
    widens them.
    """
    if own == width:
        return None
    wider = (
        part
        for part in model.modules()
        if isinstance(part, nn.Linear) and part.weight.shape == (width, own)
    )
    found = next(wider, None)
    return None if found is None else torch.linalg.pinv(found.weight.detach())

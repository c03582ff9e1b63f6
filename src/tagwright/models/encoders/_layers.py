"""The layers of a pretrained model, from the embeddings up: their parameters, what is frozen, how
far it reads.
"""

from collections.abc import Mapping

from torch import Tensor, nn

from tagwright.errors import SettingsError


def layers_of(model: nn.Module) -> list[list[str]]:
    """Names of parameters: the embeddings, each layer, and what comes after the last, if anything
    does.

    Layers that share their weights (ALBERT) count as one. Tables of relative positions count as
    embeddings.
    """
    lists = {name: part for name, part in model.named_modules() if isinstance(part, nn.ModuleList)}
    stack = max(lists, key=lambda name: sum(p.numel() for p in lists[name].parameters()))
    layers: list[list[str]] = [[] for _ in range(len(lists[stack]) + 2)]
    for name, _ in model.named_parameters():
        if name.startswith(f"{stack}."):
            layers[1 + int(name[len(stack) + 1 :].partition(".")[0])].append(name)
        else:
            layers[-1 if "final" in name else 0].append(name)
    return layers if layers[-1] else layers[:-1]


def depths_of(model: nn.Module) -> dict[Tensor, int]:
    """How many layers lie above each parameter: 0 for the last."""
    own, layers = dict(model.named_parameters()), layers_of(model)
    return {
        own[name]: len(layers) - 1 - level for level, names in enumerate(layers) for name in names
    }


def freeze_layers(model: nn.Module, wanted: int | str | None) -> list[nn.Module]:
    """Hold the lowest `wanted` layers as they are, the embeddings first; "all" holds all. Gives
    what is now frozen.

    Only modules all of whose parameters are frozen are given: these need no dropout.
    """
    layers = layers_of(model)
    if wanted is None:
        return []
    whole = isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted <= len(layers)
    if wanted != "all" and not whole:
        raise SettingsError(
            f'encoder.freeze must be "all" or a whole number from 0 to {len(layers)} '
            f"(embeddings, then {len(layers) - 1} layers), got {wanted!r}"
        )
    held = {
        name for names in (layers if wanted == "all" else layers[: int(wanted)]) for name in names
    }
    for name, parameter in model.named_parameters():
        if name in held:
            parameter.requires_grad_(False)
    parts = [part for part in model.modules() if next(part.parameters(), None) is not None]
    return [part for part in parts if not any(p.requires_grad for p in part.parameters())]


def longest_text(model: nn.Module, config: Mapping[str, object]) -> int | None:
    """Tokens that the model has positions for; None where positions are relative and no table
    ends.
    """
    table = _positions(model)
    if table is not None:
        return table.num_embeddings - first_position(model)
    stated = config.get("max_position_embeddings")
    relative = config.get("relative_attention") or not isinstance(stated, int)
    return None if relative else int(stated)  # type: ignore[call-overload]


def first_position(model: nn.Module) -> int:
    """The position of a text's first token: RoBERTa's kind counts from behind the padding's own."""
    table = _positions(model)
    return 0 if table is None or table.padding_idx is None else table.padding_idx + 1


def _positions(model: nn.Module) -> nn.Embedding | None:
    """The table of absolute positions, if there is one."""
    named = (part for name, part in model.named_modules() if name.endswith("position_embeddings"))
    return next((part for part in named if isinstance(part, nn.Embedding)), None)

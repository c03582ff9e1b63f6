"""Low-rank adapters (LoRA, arxiv.org/abs/2106.09685) by `peft`: trained beside frozen weights, then
added to them.
"""

from torch import nn

from tagwright.errors import SettingsError


def add_adapters(model: nn.Module, *, rank: int, alpha: float, dropout: float) -> None:
    """Freeze the model and put an adapter of this rank beside each of its linear layers, in
    place.
    """
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as error:
        raise SettingsError(
            f"encoder.lora needs peft ({error}); pip install 'tagwright[lora]'"
        ) from None
    choice = LoraConfig(
        r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules="all-linear", bias="none"
    )
    inject_adapter_in_model(choice, model)


def merge_adapters(model: nn.Module) -> None:
    """Add every adapter to its weights and take it away, in place: the model has the form it had
    before.
    """
    from peft.tuners.tuners_utils import BaseTunerLayer

    adapted = {
        name: part for name, part in model.named_modules() if isinstance(part, BaseTunerLayer)
    }
    for name, part in adapted.items():
        part.merge()
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, part.get_base_layer())

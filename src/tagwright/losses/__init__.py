"""Losses: logits and target in, one value an example out. One file, one loss."""

from importlib import import_module
from pkgutil import iter_modules

from tagwright.loss_math.sparse import SparseMask, SparseTarget
from tagwright.losses._divergence import kl, symmetric_kl
from tagwright.losses._module import LossModule
from tagwright.registry import Kind


def _presets() -> frozenset[str]:
    from tagwright.settings.presets import PRESETS

    return frozenset(PRESETS)


KIND = Kind(
    title="loss",
    facts={
        "reduction": "what becomes of the rows' values: none, sum or mean",
        "label_counts": "how many texts of train have each label, (L,)",
        "row_count": "how many texts train has; tokens, where these are tagged",
    },
    always=("reduction",),
    base=LossModule,
    reserved=_presets,  # a loss is an objective of its own
)

__all__ = ["LossModule", "SparseMask", "SparseTarget", "kl", "symmetric_kl"]
for _found in iter_modules(__path__):
    if not _found.name.startswith("_"):
        _module = import_module(f"{__name__}.{_found.name}")
        # the function takes the name of its submodule: `tagwright.losses.zlpr` is callable
        for _value in (getattr(_module, _found.name), _module.PART):
            globals()[_value.__name__] = _value
            __all__ += [_value.__name__]
__all__.sort()

"""Tagwright trains text taggers with the objective that fits their labels, and tells you honestly
whether it helped.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tagwright import losses
    from tagwright.integrations.tagger import Tagger, load
    from tagwright.integrations.token_tagger import TokenTagger
    from tagwright.loss_math.sparse import SparseMask, SparseTarget
    from tagwright.models.label_matrix.linear_objective import LinearObjective

__version__ = "0.1.0"
__all__ = [
    "LinearObjective",
    "SparseMask",
    "SparseTarget",
    "Tagger",
    "TokenTagger",
    "__version__",
    "load",
    "losses",
]
_HOMES = {
    "LinearObjective": "tagwright.models.label_matrix.linear_objective",
    "SparseMask": "tagwright.loss_math.sparse",
    "SparseTarget": "tagwright.loss_math.sparse",
    "Tagger": "tagwright.integrations.tagger",
    "TokenTagger": "tagwright.integrations.token_tagger",
    "load": "tagwright.integrations.tagger",
}


def __getattr__(name: str) -> object:
    """Torch is loaded with the first name that needs it, not with the package."""
    if name == "losses":
        return import_module("tagwright.losses")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tagwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

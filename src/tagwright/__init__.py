"""Tagwright trains text taggers on the objective that fits their labels, and says honestly whether
it helped.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagwright.integrations.tagger import Tagger, load
    from tagwright.integrations.token_tagger import TokenTagger

__version__ = "0.1.0"
__all__ = ["Tagger", "TokenTagger", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """Torch is loaded with the first name that needs it, not with the package."""
    if name in ("Tagger", "TokenTagger", "load"):
        from tagwright.integrations import tagger

        return getattr(tagger, name)
    raise AttributeError(f"module 'tagwright' has no attribute {name!r}")

"""Writes `losses/__init__.pyi`, so that editors and type checkers see every loss (`make stubs`)."""

from pathlib import Path

from tagwright import losses, registry

HEADER = "# made by `make stubs`; a test holds it current\n"


def losses_stub() -> str:
    """The text of losses/__init__.pyi: each loss's function and module, and what stands beside
    them.
    """
    lines = [
        "from tagwright.losses._divergence import kl as kl, symmetric_kl as symmetric_kl\n",
        "from tagwright.losses._module import LossModule as LossModule\n",
        (
            "from tagwright.loss_math.sparse import SparseMask as SparseMask, SparseTarget as"
            " SparseTarget\n"
        ),
    ]
    for name in registry.built_in("losses"):
        module = registry.find(registry.LOSSES, name).factory.__name__
        lines.append(
            f"from tagwright.losses.{name} import {module} as {module}, {name} as {name}\n"
        )
    return HEADER + "".join(lines)


if __name__ == "__main__":
    Path(str(losses.__file__)).with_suffix(".pyi").write_text(losses_stub(), encoding="utf-8")

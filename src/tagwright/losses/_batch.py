"""What losses over a whole batch share."""

from torch import Tensor

from tagwright.losses._call import Cells


def cell_weights(cells: Cells, example_weight: Tensor | None) -> Cells:
    """The weights of cells with an example's weight (B,) multiplied into both: it counts that
    often.
    """
    if example_weight is None:
        return cells
    own = example_weight[:, None]
    return {
        **cells,
        "positive_weight": _times(own, cells.get("positive_weight")),
        "negative_weight": _times(own, cells.get("negative_weight")),
    }


def _times(own: Tensor, weight: Tensor | None) -> Tensor:
    return own if weight is None else own * weight

"""Label slots: which are masked in a step, how labels are spread over passes, and how slots are
filled.
"""

from collections.abc import Callable

import torch
from torch import Tensor

NO, YES, MASK = range(3)
MASKINGS = ("full", "part", "p")


def drawn(
    target: Tensor,
    known: Tensor | None,
    generator: torch.Generator | None,
    *,
    masking: str,
    share: float,
    wrong: float,
) -> Tensor:
    """What slots show, (B, L): MASK where the answer is asked for, else YES or NO, `wrong` of them
    the other one.

    "part" masks a number drawn from 1 to L, evenly; "p" masks each with probability `share`. A
    label that nobody judged has no answer to show.
    """
    rows, labels = target.shape
    # row by row, so that rows which only fill up a batch change nothing for those before them
    draws = torch.rand((rows, 2 * labels + 1), device=target.device, generator=generator)
    keys, flips, amount = draws.split([labels, labels, 1], -1)
    if masking == "part":
        hidden = keys.argsort(-1).argsort(-1) < 1 + (amount * labels).floor()
    else:
        hidden = keys < share
    answer = (target > 0.5) ^ (flips < wrong)
    if known is not None:
        hidden = hidden | ~known
    return torch.where(hidden, MASK, torch.where(answer, YES, NO))


def spread(labels: int, chunks: int) -> tuple[Tensor, Tensor]:
    """Labels of each chunk (C, n), all of one size, the last repeating some; and each label's place
    (L,) in them.

    No more chunks are made than labels of that size fill.

    >>> spread(5, 2)[0].tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    size = -(-labels // chunks)
    chunks = -(-labels // size)
    starts = torch.arange(chunks).mul(size).clamp(max=labels - size)
    order = starts[:, None] + torch.arange(size)
    first = torch.arange(labels)
    chunk = first // size
    return order, chunk * size + first - starts[chunk]


def too_many(labels: int, size: int, room: int, *, way: str, chunked: bool) -> str:
    """What to do about labels that do not fit before the text; not `chunked`, they must stand in
    one pass.
    """
    fit, taken = max(room, 0) // size, size if way == "shared" else labels * size
    said = (
        f"{labels} labels take {taken} positions before a text, and this encoder has {max(room, 0)}"
        " left: "
    )
    ways = [f"head.chunks={-(-labels // fit)}"] if fit and chunked else []
    ways += ["head.template=short (one position a label)"] if size > 1 else []
    return f"{said}room for {fit} labels; set {', '.join([*ways, 'a smaller fit.limit'])}"


def filled(
    run: Callable[[Tensor | None], Tensor], rounds: int, of_labels: Callable[[Tensor], Tensor]
) -> Tensor:
    """Logits (B, L) of several passes: after each, the surest labels keep theirs, and their slots
    show them.

    `run(shown)` gives the logits of a pass. An even share of the labels is settled in each round.
    """
    result = run(None)
    shown = torch.full_like(result, MASK, dtype=torch.int64)
    for number in range(1, rounds):
        scores = of_labels(result)
        sure = torch.where(shown == MASK, scores.abs(), torch.inf)  # what is settled stays so
        rank = sure.argsort(-1, descending=True).argsort(-1)
        settled = (rank < round(number * result.shape[-1] / rounds)) & (shown == MASK)
        shown = torch.where(settled, torch.where(scores > 0, YES, NO), shown)
        result = torch.where(shown == MASK, run(shown), result)
    return result

"""Slow references of the losses that pool a batch: (B, L) lists as in reference.py, and (B,)
example weights.
"""

from .reference import exp, log, mpf, present, sigmoid, softplus, split


def columns(scores, target, mask, positive, negative, example):
    """Every label's cells that take part, down the batch, their weights multiplied by their
    example's.
    """
    cells_of = []
    for index in range(len(scores[0])):
        gain = [mpf(e) * mpf(row[index]) for e, row in zip(example, positive, strict=True)]
        cost = [mpf(e) * mpf(row[index]) for e, row in zip(example, negative, strict=True)]
        score, y, takes_part = ([row[index] for row in array] for array in (scores, target, mask))
        cells_of.append(present(score, y, takes_part, gain, cost))
    return cells_of


def batch_dice(scores, target, mask, positive, negative, example, *, smooth=1):
    """Dice of every label over the batch, (L,) [ZLPR 21]."""
    values = []
    for cells in columns(scores, target, mask, positive, negative, example):
        hits, squares, gold = mpf(0), mpf(0), mpf(0)
        for cell in cells:
            hits += cell.y * cell.positive * sigmoid(cell.score)
            squares += (cell.y * cell.positive + (1 - cell.y) * cell.negative) * sigmoid(
                cell.score
            ) ** 2
            gold += cell.y * cell.positive
        values.append(float(1 - (2 * hits + smooth) / (squares + gold + smooth)))
    return values


def sigmoid_f1(scores, target, mask, positive, negative, example, *, slope=1, offset=0):
    """One minus a smooth F1 of every label over the batch, (L,) (arXiv 2108.10566); nothing to
    count: 1.
    """
    values = []
    for cells in columns(scores, target, mask, positive, negative, example):
        true_positive, false_positive, false_negative = mpf(0), mpf(0), mpf(0)
        for cell in cells:
            logit = slope * (cell.score + offset)
            true_positive += cell.y * cell.positive * sigmoid(logit)
            false_positive += (1 - cell.y) * cell.negative * sigmoid(logit)
            false_negative += cell.y * cell.positive * sigmoid(-logit)
        whole = 2 * true_positive + false_negative + false_positive
        values.append(float(1 - 2 * true_positive / whole) if whole else 1.0)
    return values


def two_way(
    scores,
    target,
    mask,
    positive,
    negative,
    example,
    *,
    positive_temperature=4,
    negative_temperature=1,
):
    """Two-way loss, (1,) (Kobayashi, CVPR 2023): a mean over rows and one over columns, of those
    with a gold cell.
    """

    def value(cells):
        gold, others = split(cells)
        low = log(sum((i.positive * exp(-i.score / positive_temperature) for i in gold), mpf(0)))
        # no others: log 0 = -inf, so the value is 0
        high = log(sum((j.negative * exp(j.score / negative_temperature) for j in others), mpf(0)))
        return softplus(negative_temperature * high + positive_temperature * low)

    def has_gold(cells):
        return any(cell.y * cell.positive for cell in cells)

    rows = [present(*row) for row in zip(scores, target, mask, positive, negative, strict=True)]
    rows = [
        (mpf(weight), cells) for weight, cells in zip(example, rows, strict=True) if has_gold(cells)
    ]
    mass = sum(weight for weight, _ in rows)
    row_part = sum(weight * value(cells) for weight, cells in rows) / mass if mass else mpf(0)
    labels = [
        cells
        for cells in columns(scores, target, mask, positive, negative, example)
        if has_gold(cells)
    ]
    column_part = sum(value(cells) for cells in labels) / len(labels) if labels else mpf(0)
    return [float(row_part + column_part)]

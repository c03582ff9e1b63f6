"""Every label's logistic regression, solved to its optimum by scikit-learn's `LogisticRegression`:
a label is a step.

A linear head of its own for each label is binary relevance. A head with `links` is a chain
(`models/heads/chain.py`): its labels are learnt from the features and the true labels before them.
No label waits for another, so all cores work.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csc_array, csr_array, hstack

from tagwright.arrays import Bools, Floats, Ints
from tagwright.batches.rows import Rows
from tagwright.models.heads import Head
from tagwright.models.heads.chain import Chain
from tagwright.training.loop import Step

# scikit-learn's, of the largest gradient of the mean loss: logits are then off by some 1e-5, those
# of rare labels too
TOLERANCE = 1e-8
ITERATIONS = 1000  # of Newton's method; a dozen are enough where features have length 1


class Solved(NamedTuple):
    """One label's regression: weights (d,) of the features and its bias; the mean loss at the
    optimum.
    """

    weights: Floats
    bias: float
    loss: float


def logistic(features: csr_array, target: Bools, weight: Floats, *, cost: float = 1.0) -> Solved:
    """The w and b that make cost · Σ weight · log loss + ½|w|² smallest.

    Shapes: features (n, d), target bool (n,), weight (n,). A row of weight 0 has no say. Where all
    others agree there is no optimum: the logit is the log odds of what they say, with half a row
    more on either side; without rows 0.
    """
    # most runs do without, and it takes a second to import
    from sklearn.linear_model import LogisticRegression

    seen = target[weight > 0]
    weights, bias = (
        np.zeros(features.shape[1]),
        float(np.log((seen.sum() + 0.5) / ((~seen).sum() + 0.5))),
    )
    if 0 < seen.sum() < len(seen):
        # newton-cg leaves the bias free, and reaches the optimum whatever the cost, where lbfgs
        # crawls
        made = LogisticRegression(C=cost, solver="newton-cg", tol=TOLERANCE, max_iter=ITERATIONS)
        made.fit(features, target, sample_weight=weight)
        weights, bias = made.coef_[0], float(made.intercept_[0])
    logits = features @ weights + bias
    loss = np.logaddexp(0, np.where(target, -logits, logits)) @ weight / max(weight.sum(), 1e-12)
    return Solved(weights, bias, float(loss))


def label_steps(
    head: Head, rows: Rows, *, cost: float = 1.0, start: int = 0, workers: int = 1
) -> Iterator[Step]:
    """Solves the labels of the only head from `start` on and yields after each one, its weights in
    the head.

    Where nobody judged a label, the text has no say in it; for the labels after it in a chain it
    counts as not there.
    """
    features = rows.inputs.matrix.astype(np.float64)  # type: ignore[attr-defined]
    own = next(iter(rows.heads.values()))
    truth = csc_array(own.target > 0).astype(np.float64)
    unknown = None if own.unknown is None else csc_array(own.unknown)
    weight = np.ones(truth.shape[0]) if rows.weight is None else rows.weight.astype(np.float64)

    def solved(label: int) -> tuple[Ints, Solved]:
        before = head.before(label)  # none but in a chain
        known = hstack([features, truth[:, before]], format="csr") if len(before) else features
        judged = weight if unknown is None else weight * (unknown[:, [label]].toarray()[:, 0] == 0)
        return before, logistic(known, truth[:, [label]].toarray()[:, 0] > 0, judged, cost=cost)

    pool = ThreadPoolExecutor(workers)
    try:
        for label, (before, found) in enumerate(
            pool.map(solved, range(start, head.label_count)), start
        ):
            _put(head, label, before, found)
            done = label + 1
            yield Step(
                number=done, epoch=done / head.label_count, loss=found.loss, rate=0.0, unit="label"
            )
    finally:
        pool.shutdown(cancel_futures=True)


@torch.no_grad()
def _put(head: Head, label: int, before: Ints, found: Solved) -> None:
    weight = head.linear.weight  # (d, L)
    made = torch.from_numpy(found.weights).to(weight)
    weight[:, label], head.linear.bias[label] = made[: len(weight)], found.bias
    if isinstance(head, Chain) and len(before):
        head.links[torch.from_numpy(before).to(weight.device), label] = made[len(weight) :]

"""Slow references of the losses of one row: plain loops over the papers' formulas at 60 digits, no
code of the library.

Every loss takes five (L,) lists and returns a float: scores, target in [0, 1] (y), mask (True takes
part), and the weights of the positive and of the negative terms (w⁺, w⁻). A masked label is absent
everywhere; an empty sum adds 0. Numbers in brackets are equations of ZLPR (arXiv 2208.02955), BAT
and KWLS.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mpmath

# a context of our own: torch's symbolic shapes calculate with the global one
exact = mpmath.mp.clone()
exact.dps = 60
mpf, exp, log, log1p = exact.mpf, exact.exp, exact.log, exact.log1p


class Label(NamedTuple):
    """One label that takes part: its score, its target and the weights of its two terms."""

    score: mpmath.mpf
    y: mpmath.mpf
    positive: mpmath.mpf
    negative: mpmath.mpf


def present(scores, target, mask, positive, negative):
    """The labels that take part, in their order."""
    every = zip(scores, target, mask, positive, negative, strict=True)
    return [
        Label(mpf(s), mpf(y), mpf(gain), mpf(cost))
        for s, y, takes_part, gain, cost in every
        if takes_part
    ]


def split(labels):
    """The gold labels and the others, of a hard target."""
    if any(label.y not in (0, 1) for label in labels):
        raise ValueError("this loss is defined for targets of 0 and 1 only")
    return [label for label in labels if label.y == 1], [label for label in labels if label.y == 0]


def rescaled(labels, target):
    """The labels, their target mass brought back to the sum of the unmasked row; no mass left:
    unchanged.
    """
    whole, kept = sum(map(mpf, target)), sum(label.y for label in labels)
    return [label._replace(y=label.y * whole / kept) for label in labels] if kept else labels


def mix(labels, positive_terms, negative_terms):
    """The sum over labels of y·w⁺·(positive term) + (1-y)·w⁻·(negative term)."""
    total = mpf(0)
    for label, gold, other in zip(labels, positive_terms, negative_terms, strict=True):
        # a weight of 0 wins over an infinite term
        if label.y * label.positive:
            total += label.y * label.positive * gold
        if (1 - label.y) * label.negative:
            total += (1 - label.y) * label.negative * other
    return float(total)


def mix_of(labels, positive_term, negative_term):
    """The mix of two functions of the score."""
    scores = [label.score for label in labels]
    return mix(labels, map(positive_term, scores), map(negative_term, scores))


def sigmoid(score):
    """e^s / (1 + e^s); 1 - sigmoid(s) is written sigmoid(-s), which keeps its digits."""
    return 1 / (1 + exp(-score))


def softplus(score):
    """log(1 + e^s), which is -log(1 - sigmoid(s)); softplus(-s) is -log sigmoid(s)."""
    return log1p(exp(score))


def log_odds(scores, link):
    """Every score's log p/(1-p), so that p = sigmoid of it; in a softmax it is s - log Σ e^s over
    the other labels.
    """
    if link == "softmax":
        others = [scores[:index] + scores[index + 1 :] for index in range(len(scores))]
        # a lone label: log 0 = -inf, so p = 1
        return [score - log(sum(map(exp, rest), mpf(0))) for score, rest in zip(scores, others)]
    return [{"sigmoid": 1, "sigmoid2": 2}[link] * score for score in scores]


# ---- one label at a time


def bce(scores, target, mask, positive, negative):
    """Binary cross-entropy, summed [ZLPR 14]."""
    return mix_of(
        present(scores, target, mask, positive, negative), lambda s: softplus(-s), softplus
    )


def focal(scores, target, mask, positive, negative, *, gamma=2):
    """Focal loss [ZLPR 19]."""
    labels = present(scores, target, mask, positive, negative)
    return mix_of(
        labels,
        lambda s: sigmoid(-s) ** gamma * softplus(-s),
        lambda s: sigmoid(s) ** gamma * softplus(s),
    )


def dice(scores, target, mask, positive, negative, *, smooth=1):
    """Dice of every label alone [ZLPR 20]."""
    return mix_of(
        present(scores, target, mask, positive, negative),
        lambda s: 1 - (2 * sigmoid(s) + smooth) / (sigmoid(s) ** 2 + 1 + smooth),
        lambda s: 1 - smooth / (sigmoid(s) ** 2 + smooth),
    )


def asymmetric(
    scores, target, mask, positive, negative, *, gamma_positive=1, gamma_negative=4, clip=0.05
):
    """Asymmetric loss (arXiv 2009.14119), without an epsilon."""
    return mix_of(
        present(scores, target, mask, positive, negative),
        lambda s: sigmoid(-s) ** gamma_positive * softplus(-s),
        # 1 - p_m = min(1 - p + clip, 1): p itself rounds to 1 at a score of 1e4
        lambda s: (
            -(max(sigmoid(s) - clip, mpf(0)) ** gamma_negative)
            * log(min(sigmoid(-s) + clip, mpf(1)))
        ),
    )


def squared_hinge(scores, target, mask, positive, negative, *, margin=1):
    """Squared hinge of every label alone."""
    labels = present(scores, target, mask, positive, negative)
    return mix_of(
        labels, lambda s: max(mpf(0), margin - s) ** 2, lambda s: max(mpf(0), margin + s) ** 2
    )


def distribution_balanced(
    scores,
    target,
    mask,
    positive,
    negative,
    *,
    counts,
    rows,
    alpha=0.1,
    beta=10,
    mu=0.2,
    kappa=0.05,
    scale=2,
):
    """Distribution-balanced loss (arXiv 2007.09654); counts are held in [1, rows - 1] wherever they
    enter.
    """
    labels = present(scores, target, mask, positive, negative)
    held = [min(max(mpf(count), mpf(1)), mpf(rows) - 1) for count in counts]
    held = [count for count, takes_part in zip(held, mask, strict=True) if takes_part]
    whole = sum(label.y / count for label, count in zip(labels, held))
    gold_terms, other_terms = [], []
    for label, count in zip(labels, held):
        share = (1 / count) / whole if whole else mpf(0)
        balance = alpha + sigmoid(beta * (share - mu))
        shifted = label.score - kappa * log(rows / count - 1)
        gold_terms.append(balance * softplus(-shifted))
        other_terms.append(balance * softplus(scale * shifted) / scale)
    return mix(labels, gold_terms, other_terms)


# ---- pairs of a gold label and another


def ranking(scores, target, mask, positive, negative, *, margin=1):
    """Pairwise hinge [ZLPR 22]."""
    gold, others = split(present(scores, target, mask, positive, negative))
    total = mpf(0)
    for i in gold:
        for j in others:
            total += i.positive * j.negative * max(mpf(0), margin + j.score - i.score)
    return float(total)


def warp(scores, target, mask, positive, negative, *, margin=1, weighting="linear"):
    """Pairwise hinge weighed by the rank of the gold label [ZLPR 23]."""
    labels = present(scores, target, mask, positive, negative)
    gold, others = split(labels)
    total = mpf(0)
    for i in gold:
        rank = 1 + sum(label.score > i.score for label in labels)
        weight = {"linear": mpf(rank), "harmonic": sum(1 / mpf(k) for k in range(1, rank + 1))}[
            weighting
        ]
        for j in others:
            total += weight * i.positive * j.negative * max(mpf(0), margin + j.score - i.score)
    return float(total)


def pair_sum(labels):
    """ΣΣ w⁺_i w⁻_j e^(s_j - s_i) over gold i and other j."""
    gold, others = split(labels)
    return sum(
        (i.positive * j.negative * exp(j.score - i.score) for i in gold for j in others), mpf(0)
    )


def bpmll(scores, target, mask, positive, negative):
    """BP-MLL in its log form [ZLPR 24]; 0 without a pair."""
    pairs = pair_sum(present(scores, target, mask, positive, negative))
    return float(log(pairs)) if pairs else 0.0


def lsep(scores, target, mask, positive, negative):
    """Log-sum-exp pairwise loss [ZLPR 12]."""
    return float(log1p(pair_sum(present(scores, target, mask, positive, negative))))


# ---- labels against a threshold


def zlpr(scores, target, mask, positive, negative, *, threshold=0):
    """ZLPR [1], with a threshold for all or for each label [6] and soft targets [31]."""
    thresholds = threshold if isinstance(threshold, Sequence) else [threshold] * len(scores)
    shifted = [mpf(score) - mpf(zero) for score, zero in zip(scores, thresholds, strict=True)]
    labels = present(shifted, target, mask, positive, negative)
    gold = sum((label.positive * label.y * exp(-label.score) for label in labels), mpf(0))
    others = sum((label.negative * (1 - label.y) * exp(label.score) for label in labels), mpf(0))
    return float(log1p(gold) + log1p(others))


def adaptive_threshold(scores, target, mask, positive, negative):
    """ATLOP's loss (arXiv 2010.11304); scores alone is (L + 1,), its last entry the threshold
    class.
    """
    gold, others = split(present(scores[:-1], target, mask, positive, negative))
    threshold = exp(mpf(scores[-1]))
    above = threshold + sum(exp(i.score) for i in gold)
    below = threshold + sum(j.negative * exp(j.score) for j in others)
    return float(
        -sum(i.positive * log(exp(i.score) / above) for i in gold) - log(threshold / below)
    )


# ---- a softmax over the labels


def cross_entropy(scores, target, mask, positive, negative):
    """Softmax cross-entropy, w⁻ weighing the others in the sum below the line; no target mass left:
    0.
    """
    labels = rescaled(present(scores, target, mask, positive, negative), target)
    below = sum((label.y + (1 - label.y) * label.negative) * exp(label.score) for label in labels)
    gold = [label for label in labels if label.positive * label.y]
    return float(-sum(label.positive * label.y * log(exp(label.score) / below) for label in gold))


def logit_adjusted(scores, target, mask, positive, negative, *, prior, tau=1):
    """Cross-entropy of scores raised by the log of each label's share (arXiv 2007.07314)."""
    raised = [
        mpf(score) + tau * log(mpf(share)) for score, share in zip(scores, prior, strict=True)
    ]
    return cross_entropy(raised, target, mask, positive, negative)


def squared_error(scores, target, mask, positive, negative, *, link="softmax"):
    """Weighted squared error of the probabilities, a mean over all L labels: KWLS 9's second term
    without its α.
    """
    labels = present(scores, target, mask, positive, negative)
    if link == "softmax":
        labels = rescaled(labels, target)
    total = mpf(0)
    for label, logit in zip(labels, log_odds([label.score for label in labels], link)):
        weight = label.y * label.positive + (1 - label.y) * label.negative
        total += weight * (label.y - sigmoid(logit)) ** 2
    return float(total / len(scores))


def cecl(scores, target, mask, positive, negative, *, gamma=0, positive_scale=1):
    """Cross-entropy with a term for every other label [BAT 5, 7]."""
    labels = rescaled(present(scores, target, mask, positive, negative), target)
    labels = [label._replace(positive=label.positive * positive_scale) for label in labels]
    logits = log_odds([label.score for label in labels], "softmax")
    gold_terms = [sigmoid(-logit) ** gamma * softplus(-logit) for logit in logits]
    other_terms = [sigmoid(logit) ** gamma * softplus(logit) for logit in logits]
    return mix(labels, gold_terms, other_terms)


def pbp(scores, target, mask, positive, negative, *, gamma=0, positive_scale=1):
    """CECL whose negative term stands at the predicted label only, the first one on ties [BAT 6,
    9].
    """
    taking_part = [index for index in range(len(scores)) if mask[index]]
    best = max(taking_part, key=lambda index: scores[index], default=None)
    negative = [weight if index == best else 0 for index, weight in enumerate(negative)]
    return cecl(
        scores, target, mask, positive, negative, gamma=gamma, positive_scale=positive_scale
    )


# ---- how far two score lists lie apart


def kl(scores, other, mask, link):
    """Kullback-Leibler divergence: of one softmax, or summed over Bernoulli labels [ZLPR 36]; TH is
    the last score.
    """
    if link == "threshold_class":
        scores, other = (
            [mpf(score) - mpf(row[-1]) for score in row[:-1]] for row in (scores, other)
        )
        return kl(scores, other, mask, "sigmoid")
    kept = [
        (mpf(s), mpf(o)) for s, o, takes_part in zip(scores, other, mask, strict=True) if takes_part
    ]
    total = mpf(0)
    for a, b in zip(log_odds([s for s, _ in kept], link), log_odds([o for _, o in kept], link)):
        total += sigmoid(a) * (softplus(-b) - softplus(-a))
        if link != "softmax":
            total += sigmoid(-a) * (softplus(b) - softplus(a))
    return float(total)


def symmetric_kl(scores, other, mask, link):
    """The divergence one way plus the other way [ZLPR 37]."""
    return kl(scores, other, mask, link) + kl(other, scores, mask, link)

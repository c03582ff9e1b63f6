"""Solved labels against scikit-learn's own: one regression a label, one against the rest, and a
chain.
"""

import threading
import warnings

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain

from tagwright.batches.inputs import FeatureInputs
from tagwright.batches.rows import HeadRows, Rows
from tagwright.batches.sparse import SparseRows
from tagwright.links import probabilities
from tagwright.models.heads.chain import Chain
from tagwright.models.heads.document import Document
from tagwright.models.hidden import Hidden
from tagwright.training.optimizers import label_by_label
from tagwright.training.optimizers.label_by_label import label_steps, logistic

COUNT, WIDTH, LABELS = 211, 41, 7
NAMES = tuple("abcdefg")
ORDER = tuple("cgafbed")


def matrix(seed=0):
    made = random_array(
        (COUNT, WIDTH), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(seed)
    )
    return csr_array(made)


def labels(features, seed=1):
    """Labels (n, L) that depend on features and on each other, some frequent and some rare."""
    draw = np.random.default_rng(seed)
    scores = (
        features @ draw.normal(size=(WIDTH, LABELS))
        + draw.normal(size=(COUNT, LABELS))
        - np.linspace(0, 2, LABELS)
    )
    scores[:, 1] += 2 * (scores[:, 0] > 0)
    return scores > 0


def rows_of(features, truth, *, weight=None, **more):
    own = HeadRows(target=csr_array(truth.astype(np.float32)), **more)
    return Rows(inputs=FeatureInputs(features), heads={"main": own}, weight=weight)


def head_of(kind, count=LABELS):
    if kind == "chain":
        return Chain(WIDTH, count, True, torch.zeros(count), NAMES[:count], order=ORDER)
    return Document(WIDTH, count, True, torch.zeros(count), 0, 0.0)


def solved(kind, features, truth, *, cost=2.0, workers=1, **more):
    head = head_of(kind, truth.shape[1])
    steps = list(label_steps(head, rows_of(features, truth, **more), cost=cost, workers=workers))
    return head, steps


@torch.no_grad()
def logits_of(head, features):
    return (
        head(Hidden(None, SparseRows.of(features, np.arange(features.shape[0])))).double().numpy()
    )


def regression(cost=2.0, **more):
    return LogisticRegression(C=cost, tol=1e-9, max_iter=10_000, **more)


def test_binary_relevance_is_one_regression_a_label():
    features = matrix()
    truth, unseen = labels(features), matrix(seed=9)
    head, _ = solved("document", features, truth)
    for label in range(LABELS):
        made = regression().fit(features.astype(np.float64), truth[:, label])
        expected = made.predict_proba(unseen.astype(np.float64))[:, 1]
        np.testing.assert_allclose(expit(logits_of(head, unseen)[:, label]), expected, atol=1e-6)


def test_a_chain_is_that_of_scikit_learn():
    features = matrix()
    truth, unseen = labels(features), matrix(seed=9)
    head, _ = solved("chain", features, truth)
    order = [NAMES.index(name) for name in ORDER]
    made = ClassifierChain(regression(), order=order).fit(
        features.astype(np.float64), truth.astype(int)
    )
    found, unseen64 = logits_of(head, unseen), unseen.astype(np.float64)
    np.testing.assert_allclose(expit(found), made.predict_proba(unseen64), atol=1e-6)
    np.testing.assert_array_equal(found > 0, made.predict(unseen64) > 0)
    plain, _ = solved("document", features, truth)
    assert abs(expit(found) - expit(logits_of(plain, unseen))).max() > 0.05


def test_one_label_a_text_is_one_against_the_rest():
    features = matrix()
    one = (features @ np.random.default_rng(1).normal(size=(WIDTH, LABELS))).argmax(1)
    head, _ = solved("document", features, np.eye(LABELS, dtype=bool)[one])
    made = OneVsRestClassifier(regression()).fit(features.astype(np.float64), one)
    found = probabilities(logits_of(head, features), "sigmoid", exclusive=True)
    np.testing.assert_allclose(found, made.predict_proba(features.astype(np.float64)), atol=1e-6)


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_at_the_optimum_no_weight_wants_to_move(cost):
    features = matrix()
    target, weight = labels(features)[:, 2], np.random.default_rng(4).uniform(0.1, 3, COUNT)
    found = logistic(features.astype(np.float64), target, weight, cost=cost)
    logits = features @ found.weights + found.bias
    slope = cost * weight * (expit(logits) - target)
    assert abs(features.T @ slope + found.weights).max() < 1e-5 * cost * weight.sum()
    assert abs(slope.sum()) < 1e-5 * cost * weight.sum()
    terms = np.where(target, -np.log(expit(logits)), -np.log(expit(-logits)))
    assert found.loss == pytest.approx((terms * weight).sum() / weight.sum())


@pytest.mark.parametrize("kind", ["document", "chain"])
@pytest.mark.parametrize("value", [False, True])
def test_a_label_with_one_value_everywhere_has_a_constant_logit(kind, value):
    features = matrix()
    truth = labels(features)
    truth[:, 3] = value
    head, _ = solved(kind, features, truth)
    found = logits_of(head, matrix(seed=9))[:, 3]
    np.testing.assert_allclose(found, (1 if value else -1) * np.log((COUNT + 0.5) / 0.5), rtol=1e-6)
    assert np.isfinite(logits_of(head, features)).all()


def test_a_text_has_no_say_in_a_label_that_nobody_judged():
    features = matrix()
    truth, unseen = labels(features), matrix(seed=9).astype(np.float64)
    unknown = np.random.default_rng(2).random((COUNT, LABELS)) < 0.3
    head, _ = solved(
        "document", features, truth & ~unknown, unknown=csr_array(unknown.astype(np.float32))
    )
    for label in range(LABELS):
        kept = ~unknown[:, label]
        made = regression().fit(features[kept].astype(np.float64), truth[kept, label])
        found = expit(logits_of(head, csr_array(unseen.astype(np.float32)))[:, label])
        np.testing.assert_allclose(found, made.predict_proba(unseen)[:, 1], atol=1e-6)


def test_a_label_that_nobody_judged_anywhere_has_logit_zero():
    features = matrix()
    truth = labels(features)
    truth[:, 2], unknown = False, np.zeros((COUNT, LABELS), np.float32)
    unknown[:, 2] = 1
    head, steps = solved("chain", features, truth, unknown=csr_array(unknown))
    assert (logits_of(head, features)[:, 2] == 0).all()
    assert steps[2].loss == 0


def test_a_weight_counts_as_that_many_texts():
    features = matrix()
    truth, times = labels(features), np.random.default_rng(3).integers(0, 4, COUNT)
    for kind in ("document", "chain"):
        weighed, _ = solved(kind, features, truth, weight=times.astype(np.float32))
        again = np.repeat(np.arange(COUNT), times)
        repeated, _ = solved(kind, features[again], truth[again])
        np.testing.assert_allclose(
            logits_of(weighed, features), logits_of(repeated, features), atol=1e-4
        )


@pytest.mark.parametrize("kind", ["document", "chain"])
def test_threads_change_no_bit_and_every_label_is_a_step(kind):
    features = matrix()
    truth = labels(features)
    alone, steps = solved(kind, features, truth)
    together, _ = solved(kind, features, truth, workers=3)
    for name, tensor in alone.state_dict().items():
        assert torch.equal(tensor, together.state_dict()[name]), name
    assert [(step.number, step.unit, step.epoch) for step in steps] == [
        (n, "label", n / 7) for n in range(1, 8)
    ]


def test_labels_before_the_start_stay_as_they_are():
    features = matrix()
    truth, head = labels(features), head_of("chain")
    list(label_steps(head, rows_of(features, truth), start=4))
    assert (head.linear.weight[:, :4] == 0).all()
    whole, _ = solved("chain", features, truth, cost=1.0)
    assert torch.equal(head.linear.weight[:, 4:], whole.linear.weight[:, 4:])
    assert torch.equal(head.links[:, 4:], whole.links[:, 4:])


def test_a_stream_that_is_left_solves_no_further(monkeypatch):
    features, solved_labels, lock = matrix(), [], threading.Lock()
    plain = label_by_label.logistic

    def counted(*arguments, **options):
        with lock:
            solved_labels.append(1)
        return plain(*arguments, **options)

    monkeypatch.setattr(label_by_label, "logistic", counted)
    truth = np.tile(labels(features), 30)
    stream = label_steps(
        Document(WIDTH, 210, True, torch.zeros(210), 0, 0.0), rows_of(features, truth), workers=2
    )
    next(stream)
    stream.close()
    assert len(solved_labels) < 100


def test_nothing_is_warned_of():
    features = matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cost in (0.01, 1.0, 1000.0):
            solved("chain", features, labels(features), cost=cost)

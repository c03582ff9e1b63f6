"""History: what happened, and what follows from it."""

import json

import pytest

from tagwright.training.history import History
from tagwright.training.loop import Step


def filled(scores, *, sign=1, losses=None):
    history = History(sign=sign)
    for number, score in enumerate(scores, 1):
        loss = losses[number - 1] if losses else 1.0
        history.add(Step(number=number, epoch=number / 2, loss=loss, rate=0.1, score=score))
    return history


def test_without_an_evaluation_there_is_no_best_and_nothing_is_stale():
    history = filled([None, None])
    assert history.best is None
    assert history.stale == 0
    assert history.rows == []


def test_the_last_of_equals_is_best():
    """On a small dev set the score reaches its top at once; the model is not done then."""
    assert filled([0.1, 0.5, 0.5, 0.4]).best["step"] == 3
    assert filled([0.1, 0.5, 0.5, 0.4], sign=-1).best["step"] == 1


def test_the_same_score_again_is_no_improvement_to_patience():
    assert filled([0.1, 0.5, 0.5, 0.4]).stale == 2
    assert filled([0.5, 0.5, 0.5]).stale == 2


def test_lower_is_better_with_the_other_sign():
    history = filled([0.5, 0.2, 0.3], sign=-1)
    assert history.best["step"] == 2
    assert history.stale == 1


def test_add_says_whether_the_score_is_the_best_so_far_or_the_same_again():
    history = History()
    answers = [
        history.add(Step(number=n, epoch=n, loss=0.0, rate=0.1, score=s))
        for n, s in [(1, 0.5), (2, None), (3, 0.5), (4, 0.4), (5, 0.6)]
    ]
    assert answers == [True, False, True, False, True]


def test_the_loss_of_a_row_is_the_mean_since_the_last_row():
    history = filled([None, None, 0.5, None, 0.6], losses=[1.0, 2.0, 6.0, 1.0, 3.0])
    assert [row["loss"] for row in history.rows] == [3.0, 2.0]


@pytest.mark.parametrize("cut", range(6))
def test_a_history_restored_at_any_step_goes_on_the_same(cut):
    scores, losses = [None, 0.4, None, None, 0.2, 0.4], [0.1, 0.2, 0.3, 0.4, 0.7, 0.6]
    whole = filled(scores, losses=losses)
    first, second = filled(scores[:cut], losses=losses), History()
    second.restore(json.loads(json.dumps(first.state())))
    for number in range(cut, 6):
        second.add(
            Step(
                number=number + 1,
                epoch=(number + 1) / 2,
                loss=losses[number],
                rate=0.1,
                score=scores[number],
            )
        )
    assert second.rows == whole.rows
    assert second.best == whole.best
    assert second.stale == whole.stale


def test_a_score_that_is_no_number_never_stays_best():
    history = filled([float("nan"), 0.1, 0.2])
    assert history.best["score"] == 0.2

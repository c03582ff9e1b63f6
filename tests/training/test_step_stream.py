"""Pipes around the loop."""

from collections import deque
from functools import partial
from types import SimpleNamespace

import pytest

from tagwright.training import step_stream
from tagwright.training.history import History
from tagwright.training.loop import Step


def plain(count, start=1):
    return (Step(number=n, epoch=n / 4, loss=1.0, rate=0.1) for n in range(start, count + 1))


def scored(values, start=1):
    return (
        Step(number=n, epoch=n, loss=1.0, rate=0.1, score=v) for n, v in enumerate(values, start)
    )


def numbers_with_score(every, total, start=1):
    due = partial(step_stream.due, every=every, total=total)
    found = step_stream.evaluated(plain(total, start), lambda: step_stream.Evaluation(0.5), due)
    return [step.number for step in found if step.score is not None]


def test_evaluation_comes_after_every_so_many_steps():
    assert numbers_with_score(3, 9) == [3, 6, 9]


def test_the_last_step_is_evaluated_whatever_the_interval():
    assert numbers_with_score(3, 10) == [3, 6, 9, 10]
    assert numbers_with_score(100, 4) == [4]


def test_a_fraction_of_a_step_count_spreads_evenly():
    assert numbers_with_score(2.5, 10) == [3, 5, 8, 10]


def test_an_interval_below_one_evaluates_every_step():
    assert numbers_with_score(0.5, 3) == [1, 2, 3]


@pytest.mark.parametrize("every", [2.5, 10 / 3, 7 / 3])
def test_a_resumed_run_evaluates_at_the_same_steps(every):
    whole = numbers_with_score(every, 20)
    assert numbers_with_score(every, 20, start=8) == [n for n in whole if n >= 8]


def test_every_epoch_is_evaluated_exactly_once_however_many_steps_it_has():
    for per_epoch in (3, 7, 49, 107, 1001):
        assert numbers_with_score(per_epoch / 1.0, per_epoch * 3) == [
            per_epoch,
            per_epoch * 2,
            per_epoch * 3,
        ]


@pytest.mark.parametrize("evaluations", [3.0, 5.0, 7.0])
def test_evaluations_an_epoch_are_as_many_as_asked(evaluations):
    for per_epoch in (11, 49, 98, 100, 113):
        found = numbers_with_score(per_epoch / evaluations, per_epoch * 4)
        assert len(found) == evaluations * 4


def test_the_best_is_kept_at_every_score_that_is_no_worse_and_only_there():
    history, kept = History(), []
    for _ in step_stream.recorded(
        scored([0.2, 0.1, 0.3, 0.3, 0.4]), history, lambda: kept.append(len(history.rows))
    ):
        pass
    assert kept == [1, 3, 4, 5]


def test_the_run_ends_after_so_many_evaluations_without_a_better_one():
    history = History()
    recorded = step_stream.recorded(scored([0.2, 0.3, 0.1, 0.3, 0.9]), history, lambda: None)
    assert [s.number for s in step_stream.stopped(recorded, history, patience=2)] == [1, 2, 3, 4]


def test_patience_of_zero_never_stops():
    history = History()
    recorded = step_stream.recorded(scored([0.9, 0.1, 0.1, 0.1, 0.1]), history, lambda: None)
    assert len(list(step_stream.stopped(recorded, history, patience=0))) == 5


def test_a_run_that_was_stopped_stays_stopped_when_resumed():
    history = History()
    history.restore(
        {"rows": [{"score": 0.9}, {"score": 0.1}, {"score": 0.1}], "loss": 0.0, "steps": 0}
    )
    assert list(step_stream.stopped(scored([0.99]), history, patience=2)) == []


def test_saving_at_every_step_when_no_seconds_are_asked_for():
    saved = []
    list(step_stream.saved(plain(3), saved.append, seconds=0))
    assert saved == [1, 2, 3]


def test_saving_waits_its_seconds_and_comes_at_the_end(monkeypatch):
    clock = iter([0.0, *(x for n in range(1, 8) for x in ((n * 10.0,) * (2 if n % 3 == 0 else 1)))])
    monkeypatch.setattr(step_stream, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    saved = []
    list(step_stream.saved(plain(7), saved.append, seconds=30))
    assert saved == [3, 6, 7]


def test_a_save_that_takes_long_comes_seldom(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(step_stream, "time", SimpleNamespace(monotonic=lambda: now[0]))
    saved = []

    def save(number):
        saved.append(number)
        now[0] += 10.0

    def ticking(steps):
        for step in steps:
            now[0] += 10.0
            yield step

    list(step_stream.saved(ticking(plain(25)), save, seconds=30))
    assert saved == [3, 12, 21, 25]


def test_nothing_is_saved_without_steps():
    saved = []
    list(step_stream.saved(iter(()), saved.append, seconds=0))
    assert saved == []


def test_an_interruption_finishes_the_step_saves_and_says_how_to_go_on():
    seen, saved, answers = [], [], iter([False, False, True])
    stream = step_stream.interruptible(plain(9), lambda: next(answers), saved.append)
    with pytest.raises(step_stream.Interrupted, match=r"after step 3.*--resume"):
        deque(map(seen.append, (step.number for step in stream)), maxlen=0)
    assert seen == [1, 2, 3]
    assert saved == [3]


def test_nobody_asked_nothing_is_interrupted():
    saved = []
    assert len(list(step_stream.interruptible(plain(4), lambda: False, saved.append))) == 4
    assert saved == []


def test_only_settled_steps_are_saved_and_interrupted():
    ahead = [Step(number=n, epoch=n, loss=1.0, rate=0.1, settled=n in (3, 5)) for n in range(1, 6)]
    saves = []
    assert [s.number for s in step_stream.saved(iter(ahead), saves.append, seconds=0)] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert saves == [3, 5]
    saves.clear()
    with pytest.raises(step_stream.Interrupted, match="after step 3"):
        deque(step_stream.interruptible(iter(ahead), lambda: True, saves.append))
    assert saves == [3]


def test_an_interrupted_run_says_what_it_counts():
    done = iter([Step(number=3, epoch=0.5, loss=1.0, rate=0.0, unit="label")])
    with pytest.raises(step_stream.Interrupted, match="stopped after label 3"):
        list(step_stream.interruptible(done, lambda: True, lambda number: None))

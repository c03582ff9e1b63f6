"""Work that several processes share. What they run stands here: it travels by name."""

import os
import signal
import time

import pytest

from tagwright.assemble.crew import Lost, cores, shared


def squares(number):
    return lambda task, tell: (task * task, number)


def telling(number):
    def work(task, tell):
        tell(f"{task} begun")
        return task

    return work


def dying(number):
    """The task 2 ends its process, as a machine out of memory does."""

    def work(task, tell):
        if task == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    return work


def counting(number):
    """How many tasks this process has had before."""
    had = []

    def work(task, tell):
        had.append(task)
        return os.getpid(), len(had)

    return work


def slow(number):
    def work(task, tell):
        tell("begun")
        time.sleep(60)

    return work


def nothing(number, content):
    pass


def test_every_task_comes_back_under_its_number():
    found = dict(shared([3, 1, 2], squares, jobs=2, told=nothing))
    assert {number: value for number, (value, _) in found.items()} == {0: 9, 1: 1, 2: 4}
    assert {worker for _, worker in found.values()} <= {0, 1}


def test_a_process_gets_ready_once():
    found = [content for _, content in shared(range(5), counting, jobs=1, told=nothing)]
    assert len({process for process, _ in found}) == 1
    assert [had for _, had in found] == [1, 2, 3, 4, 5]


def test_what_a_task_tells_is_heard_with_its_number():
    heard = []
    list(shared(["a", "b"], telling, jobs=1, told=lambda number, content: heard.append((number, content))))
    assert heard == [(0, "a begun"), (1, "b begun")]


def test_a_process_that_dies_costs_its_task_alone():
    found = dict(shared([1, 2, 3, 4], dying, jobs=2, told=nothing))
    assert isinstance(found[1], Lost)
    assert "code -9; the machine may have run out of memory" in found[1].reason
    assert (found[0], found[2], found[3]) == (1, 3, 4)


def test_giving_up_ends_the_processes():
    def stop(number, content):
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(shared([1], slow, jobs=1, told=stop))
    assert time.monotonic() - started < 50


def test_there_is_a_processor():
    assert cores() >= 1

"""Work that several processes share. What they run stands here: it travels by name."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tagwright.errors import WriteError
from tagwright.experiments.worker_pool import Lost, cores, shared


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


def refused(number):
    def work(task, tell):
        raise WriteError(f"cannot write {task}")

    return work


def telling_without_end(number):
    """Tells of itself, so that a parent that is gone shows as a broken pipe."""

    def work(task, tell):
        tell(os.getpid())
        while True:
            time.sleep(0.05)
            tell(None)

    return work


def busy_without_end(number):
    """Tells of itself once, and then of nothing."""

    def work(task, tell):
        tell(os.getpid())
        time.sleep(600)

    return work


def slow_to_get_ready(number):
    sys.stdout.write(f"{os.getpid()}\n")
    sys.stdout.flush()
    time.sleep(0.5)
    return lambda task, tell: task


def nothing(number, content):
    pass


def print_processes(number, content):
    if content is not None:
        sys.stdout.write(f"{content}\n")
        sys.stdout.flush()


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
    list(
        shared(
            ["a", "b"],
            telling,
            jobs=1,
            told=lambda number, content: heard.append((number, content)),
        )
    )
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


def test_an_error_of_the_project_is_raised_to_who_shares_the_work_out():
    with pytest.raises(WriteError, match=r"cannot write report\.html"):
        list(shared(["report.html"], refused, jobs=1, told=nothing))


@pytest.mark.parametrize("start", [telling_without_end, busy_without_end, slow_to_get_ready])
def test_processes_end_in_silence_with_a_parent_that_is_killed(start):
    """They went on to work for nobody, and ended with a traceback when they told of it."""
    folder, module = os.path.split(os.path.splitext(__file__)[0])
    code = f"""
import sys
sys.path.insert(0, {folder!r})
import {module} as tests
if __name__ == "__main__":
    list(tests.shared([1, 2], tests.{start.__name__}, jobs=2, told=tests.print_processes))
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    parent.kill()
    try:
        # they have both pipes open until they end
        assert parent.communicate(timeout=10) == (
            "",
            "",
        )
    except subprocess.TimeoutExpired:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        raise


def test_there_is_a_processor():
    assert cores() >= 1

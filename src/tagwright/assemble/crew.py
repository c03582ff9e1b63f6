"""Work that several processes share: each gets ready once, and one that dies costs the task at hand alone."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

Tell = Callable[[Any], None]
Work = Callable[[Any, Tell], Any]  # a task, and how to tell of it under way -> what it came to


class Lost(NamedTuple):
    """What a task came to whose process died."""

    reason: str


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection
    number: int


def shared(
    tasks: Sequence[Any], start: Callable[[int], Work], *, jobs: int, told: Callable[[int, Any], None]
) -> Iterator[tuple[int, Any]]:
    """(number of a task, what it came to) as they end. `start` runs once in each of `jobs` processes, told its number.

    Tasks begin in order. `told` hears what a task under way tells. `start` and tasks travel by pickle.
    """
    waiting = iter(enumerate(tasks))
    busy: dict[Any, tuple[_Worker, int]] = {}  # by the pipe

    def next_task(worker: _Worker) -> None:
        found = next(waiting, None)
        if found is None:
            worker.pipe.send(None)
            worker.process.join()
            return
        number, task = found
        worker.pipe.send((task,))
        busy[worker.pipe] = (worker, number)

    try:
        for number in range(min(jobs, len(tasks))):
            next_task(_hired(start, number))
        while busy:
            for pipe in wait(list(busy)):
                worker, number = busy[pipe]
                try:
                    kind, content = worker.pipe.recv()
                except (EOFError, OSError):  # it died
                    kind, content = "done", Lost(_reason(worker.process))
                if kind == "told":
                    told(number, content)
                    continue
                busy.pop(pipe)
                yield number, content
                next_task(_hired(start, worker.number) if isinstance(content, Lost) else worker)
    finally:
        for worker, _ in busy.values():
            worker.process.kill()  # given up: nobody would keep what it makes


def _hired(start: Callable[[int], Work], number: int) -> _Worker:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads that hold locks
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, start, number), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process ends the pipe
    return _Worker(process, ours, number)


def _serve(pipe: Connection, start: Callable[[int], Work], number: int) -> None:
    """A process's life: get ready, then a task after the other until there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; who shares the work out decides
    work = start(number)
    while (found := pipe.recv()) is not None:
        pipe.send(("done", work(found[0], lambda content: pipe.send(("told", content)))))
    pipe.close()


def _reason(process: BaseProcess) -> str:
    process.join(10)
    code = process.exitcode
    killed = code is not None and code == -signal.SIGKILL
    return f"its process ended with code {code}" + ("; the machine may have run out of memory" if killed else "")


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

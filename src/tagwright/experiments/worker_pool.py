"""Work that several processes share: each gets ready once, and one that dies costs the task at hand
alone.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

from tagwright.errors import TagwrightError

Task = TypeVar("Task")
News = TypeVar("News")  # what is told of a task under way
Result = TypeVar("Result")  # what a task came to
Tell: TypeAlias = Callable[[News], None]
Work: TypeAlias = Callable[[Task, Tell[News]], Result]
_Message: TypeAlias = (
    tuple[Literal["told"], News]
    | tuple[Literal["done"], Result]
    | tuple[Literal["raised"], TagwrightError]
)


class Lost(NamedTuple):
    """What a task came to whose process died."""

    reason: str


class _Worker(NamedTuple, Generic[News, Result]):
    process: BaseProcess
    pipe: "Connection[object, _Message[News, Result]]"
    number: int


def shared(
    tasks: Sequence[Task],
    start: Callable[[int], Work[Task, News, Result]],
    *,
    jobs: int,
    told: Callable[[int, News], None],
) -> Iterator[tuple[int, Result | Lost]]:
    """(number of a task, what it came to) as they end. `start` runs once in each of `jobs`
    processes, told its number.

    Tasks begin in order. `told` hears what a task under way tells. `start` and tasks travel by
    pickle. An error of the project that a task raises is raised here, and ends the other processes.
    """
    waiting = iter(enumerate(tasks))
    busy: dict[object, tuple[_Worker[News, Result], int]] = {}  # by the pipe

    def next_task(worker: _Worker[News, Result]) -> None:
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
            for pipe in wait([worker.pipe for worker, _ in busy.values()]):
                worker, number = busy[pipe]
                try:
                    message: _Message[News, Result | Lost] = worker.pipe.recv()
                except (EOFError, OSError):  # it died
                    message = "done", Lost(_reason(worker.process))
                if message[0] == "told":
                    told(number, message[1])
                    continue
                if message[0] == "raised":
                    raise message[1]
                busy.pop(pipe)
                yield number, message[1]
                dead = isinstance(message[1], Lost)
                next_task(_hired(start, worker.number) if dead else worker)
    finally:
        for worker, _ in busy.values():
            worker.process.kill()  # given up: nobody would keep what it makes


def _hired(start: Callable[[int], Work[Task, News, Result]], number: int) -> _Worker[News, Result]:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads that hold locks
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, number), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process ends the pipe
    # may be large; among `args`, a parent killed half way would leave the process with a traceback
    ours.send(start)
    return _Worker(process, ours, number)


def _serve(pipe: "Connection[_Message[object, object], object]", number: int) -> None:
    """A process's life: get ready, then a task after the other until there is none, or until the
    parent is gone.
    """
    # Ctrl-C reaches all; who shares the work out decides
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watcher = Thread(target=_end_with_parent, daemon=True)
    watcher.start()
    try:
        start = cast("Callable[[int], Work[object, object, object]]", pipe.recv())
        work = start(number)
        while isinstance(found := pipe.recv(), tuple):
            pipe.send(_ended(work, found[0], lambda content: pipe.send(("told", content))))
        pipe.close()
    except (EOFError, OSError):
        # a pipe that broke because the parent is gone: the watcher ends this process, in silence
        watcher.join(1)
        raise


def _end_with_parent() -> None:
    """Wait until the parent is gone, however it ended, and end this process at once: nobody keeps
    what it makes.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ended(work: Work[Task, News, Result], task: Task, tell: Tell[News]) -> _Message[News, Result]:
    """How a task ended, and what it came to."""
    try:
        return "done", work(task, tell)
    except TagwrightError as error:
        return "raised", error


def _reason(process: BaseProcess) -> str:
    process.join(10)
    code = process.exitcode
    killed = code is not None and code == -signal.SIGKILL
    return f"its process ended with code {code}" + (
        "; the machine may have run out of memory" if killed else ""
    )


def cores() -> int:
    """Processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""A process imports Tagwright once and forks for each case, with a clock, a memory gauge and a list
of what the case reached out for: sockets, other programs, pickles, files elsewhere."""

import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from campaign.command import Ran

# bytes of memory at which a case is ended: a computer without memory would tell nothing
ROOM = 6 << 30
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
QUIET = {**dict.fromkeys(THREADS, "1"), "TOKENIZERS_PARALLELISM": "false", "COLUMNS": "5000"}
# not set: nothing but Tagwright itself keeps a case from the hub, and a panic from a long trace
UNSET = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "RUST_BACKTRACE")
REACHED = (
    *(
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.sendto",
        "urllib.Request",
    ),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pickle.find_class"),
)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A case that has ended: what its function returned, how it went, and how much memory it took
    on top.
    """

    value: Any
    ran: Ran
    grown: int  # bytes
    reached: tuple[str, ...]  # events of `REACHED`, and files written outside of the home

    @property
    def said(self) -> list[str]:
        """What it said on stderr, line by line."""
        return self.ran.err.strip().splitlines()


class Forks:
    """Runs functions of modules, each call in a fork of its own; `home` is where they may write."""

    def __init__(
        self, home: Path, prepare: Callable[..., object] | None = None, *arguments: Any
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        with environment(home):
            self._process = context.Process(
                target=_serve, args=(there, home, prepare, arguments), daemon=True
            )
            self._process.start()
        there.close()
        self._here.recv()  # it is ready

    def call(self, work: Callable[..., Any], *arguments: Any, patience: float = 60.0) -> Ended:
        """What came of `work(*arguments)`, whose value must be plain."""
        self._here.send((work, arguments, patience))
        ended: Ended = self._here.recv()
        return ended

    def __enter__(self) -> "Forks":
        return self

    def __exit__(self, *_: object) -> None:
        self._here.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()


@contextmanager
def environment(home: Path) -> Iterator[None]:
    """Inside the block new processes have one thread, an empty cache of the hub, and may ask the
    hub.
    """
    before = dict(os.environ)
    os.environ.update(QUIET | {"HF_HOME": str(home / "hub")})
    for name in UNSET:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def command(*words: str) -> None:
    """The command line `tagwright WORDS`, in this process."""
    from tagwright.cli import main

    sys.argv = ["tagwright", *words]
    main()


def _serve(
    pipe: Connection, home: Path, prepare: Callable[..., object] | None, arguments: tuple[Any, ...]
) -> None:
    if prepare is not None:
        prepare(*arguments)
    pipe.send("ready")
    while True:
        try:
            work, given, patience = pipe.recv()
        except EOFError:
            os._exit(0)  # without what libraries say of themselves at the end
        pipe.send(_forked(work, given, home, patience))


def _forked(
    work: Callable[..., Any], arguments: tuple[Any, ...], home: Path, patience: float
) -> Ended:
    """Fork, wait for the end, and gather what the fork has left."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as own:
        place, began = Path(own), time.monotonic()
        pid = os.fork()
        if not pid:
            _run(work, arguments, home, place)
        status, usage, hung = _waited(pid, began + patience)
        seconds = time.monotonic() - began
        out, err = ((place / name).read_text("utf-8", errors="replace") for name in ("out", "err"))
        told = json.loads((place / "told.json").read_text("utf-8"))
    peak, code = usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)
    named = (work.__name__, *(str(word) for word in arguments))
    ran = Ran(args=named, code=code, out=out, err=err, seconds=seconds, peak=peak, hung=hung)
    grown = max(peak - told["base"], 0)
    return Ended(value=told["value"], ran=ran, grown=grown, reached=tuple(told["reached"]))


def _waited(pid: int, deadline: float) -> tuple[int, resource.struct_rusage, bool]:
    while time.monotonic() < deadline:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            return status, usage, False
        if _resident(pid) > ROOM:
            break
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return status, usage, True


def _resident(pid: int) -> int:
    """Bytes of memory of a process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _run(work: Callable[..., Any], arguments: tuple[Any, ...], home: Path, place: Path) -> NoReturn:
    """What the fork does."""
    code, value, reached = 1, None, list[str]()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in enumerate(("out", "err"), 1):
        os.dup2(os.open(place / name, os.O_WRONLY | os.O_CREAT), number)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    _tell(place, value, base, reached)
    sys.addaudithook(lambda event, given: _heard(event, given, home, reached))
    try:
        value, code = work(*arguments), 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    _tell(place, value, base, reached)
    os._exit(code)


def _tell(place: Path, value: Any, base: int, reached: list[str]) -> None:
    content = {"value": value, "base": base, "reached": reached[:20]}
    (place / "told.json").write_text(json.dumps(content), encoding="utf-8")


def _heard(event: str, given: tuple[Any, ...], home: Path, reached: list[str]) -> None:
    if event in REACHED:
        reached.append(f"{event} {str(given)[:200]}")
    elif event == "open" and isinstance(given[0], str | bytes) and isinstance(given[2], int):
        path = os.path.abspath(os.fsdecode(given[0]))
        writing = given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writing and not path.startswith(
            (str(home), f"{tempfile.gettempdir()}/campaign-", "/dev/")
        ):
            reached.append(f"wrote {path}")

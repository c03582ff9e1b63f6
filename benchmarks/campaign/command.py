"""Runs the command line as a user would, with a clock, a memory gauge and, if asked, a signal on
the way.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120.0  # seconds until a command counts as hung
TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A command that has ended."""

    args: tuple[str, ...]
    code: int  # minus the signal, if one ended it
    out: str
    err: str
    seconds: float
    peak: int  # bytes of memory
    hung: bool

    @property
    def faults(self) -> tuple[str, ...]:
        """What no command may do, whatever it was given."""
        found = []
        if self.hung:
            found.append(f"hung for {self.seconds:.0f} s")
        if TRACEBACK in self.err or TRACEBACK in self.out:
            found.append(f"traceback: {self.err.strip().splitlines()[-1][:200]}")
        if self.code in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            found.append(f"crashed with signal {-self.code}")
        return tuple(f"{' '.join(self.args)[:200]}: {fault}" for fault in found)


def tagwright(
    *args: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
    send: tuple[float, int] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Ran:
    """Run `tagwright ARGS` to its end; `send` is a signal and the seconds after which it is sent.

    `prepare` is called in the new process before the command starts.
    """
    started = start(*args, cwd=cwd, env=env, prepare=prepare)
    return started.ended(patience=patience, send=send)


@dataclass(frozen=True, kw_only=True)
class Started:
    """A command that may still run."""

    args: tuple[str, ...]
    process: "subprocess.Popen[bytes]"
    out: Path
    err: Path
    began: float

    def ended(self, *, patience: float = PATIENCE, send: tuple[float, int] | None = None) -> Ran:
        """Wait for the end."""
        wait, number = send or (patience, 0)
        found = self._wait(wait)
        if found is None and number:
            self.process.send_signal(number)
            found = self._wait(patience)
        hung = found is None
        if found is None:
            self.process.kill()
            found = self._wait(patience)
        status, peak = found or (0, 0)
        code = os.waitstatus_to_exitcode(status)
        self.process.returncode = code
        said = [path.read_text(encoding="utf-8", errors="replace") for path in (self.out, self.err)]
        for path in (self.out, self.err):
            path.unlink()
        seconds = time.monotonic() - self.began
        return Ran(
            args=self.args,
            code=code,
            out=said[0],
            err=said[1],
            seconds=seconds,
            peak=peak,
            hung=hung,
        )

    def _wait(self, seconds: float) -> tuple[int, int] | None:
        deadline = time.monotonic() + seconds
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                return status, usage.ru_maxrss * 1024
            if time.monotonic() > deadline:
                return None
            time.sleep(0.01)


def start(
    *args: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Started:
    """Start `tagwright ARGS`. What it says goes to files, because a pipe that nobody reads would
    stop it.
    """
    words = tuple(map(str, args))
    paths = []
    for _ in range(2):
        handle, name = tempfile.mkstemp(prefix="campaign-")
        os.close(handle)
        paths.append(Path(name))
    with paths[0].open("wb") as out, paths[1].open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "tagwright", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            preexec_fn=prepare,
        )
    return Started(args=words, process=process, out=paths[0], err=paths[1], began=time.monotonic())


def said(ran: Ran) -> Sequence[str]:
    """The last lines of what a command said, for a report."""
    return (ran.err or ran.out).strip().splitlines()[-3:]

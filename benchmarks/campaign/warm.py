"""Starts commands in copies of a process that has made its imports: a case takes half as long.

A copy runs `tagwright.cli.main` as `python -m tagwright` does. Only the start and the end of the
interpreter are missing. Cases that need those use `campaign.command.start`.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn, cast

from campaign.command import Started
from campaign.tally import Tally

ONE_THREAD = {"OMP_NUM_THREADS": "1"}
IMPORTS = (
    *("torch", "torch._dynamo", "torch.optim", "altair", "vl_convert", "jinja2", "pydantic"),
    *("rich.progress", "rich.table", "narwhals.stable.v1", "torch.profiler", "tokenizers"),
    *(
        f"tagwright.pipelines.{name}"
        for name in ("fit", "tag", "compare", "reproduce", "report", "decide")
    ),
    *("tagwright.inference.tag", "tagwright.inference.model_folder"),
    *("tagwright.cli", "tagwright.cli._show"),
)


@dataclass
class Copy:
    """What `Started` uses of a process."""

    pid: int
    returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.pid, 9)


def apart(work: Callable[[Tally], None], tally: Tally) -> None:
    """Make the cases in a process of their own: its imports and mounts end with it."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as counts:
        pid = os.fork()
        if pid == 0:
            _leave(lambda: counts.write(_counted(work, tally)), counts.flush)
        status = os.waitpid(pid, 0)[1]
        counts.seek(0)
        content = counts.read()
    if status or not content:
        raise SystemExit(f"{tally.name}: the part itself failed")
    vars(tally).update(json.loads(content))


def start(*args: str | Path, prepare: Callable[[], None] | None = None) -> Started:
    """Start `tagwright ARGS` in a copy of this process; `prepare` is called there first."""
    words = tuple(map(str, args))
    made = [tempfile.mkstemp(prefix="campaign-") for _ in range(2)]
    pid = os.fork()
    if pid == 0:
        _leave(lambda: _command(words, [handle for handle, _ in made], prepare))
    for handle, _ in made:
        os.close(handle)
    out, err = (Path(name) for _, name in made)
    process = cast(subprocess.Popen[bytes], Copy(pid))
    return Started(args=words, process=process, out=out, err=err, began=time.monotonic())


def loads(folder: Path) -> bool:
    """Whether a model folder loads, all digests right; in a copy, for loading starts threads."""
    from tagwright.inference import model_folder
    from tagwright.storage.folder import verified

    pid = os.fork()
    if pid == 0:
        _leave(lambda: verified(folder), lambda: model_folder.load(folder, device="cpu"))
    return os.waitpid(pid, 0)[1] == 0


def _counted(work: Callable[[Tally], None], tally: Tally) -> bytes:
    os.environ.update(ONE_THREAD)
    for name in IMPORTS:
        importlib.import_module(name)
    work(tally)
    return json.dumps(asdict(tally)).encode()


def _command(words: tuple[str, ...], to: list[int], prepare: Callable[[], None] | None) -> None:
    """The command line, with its output in two files."""
    from tagwright.cli import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, handle in enumerate(to, start=1):
        os.dup2(handle, number)
    if prepare:
        prepare()
    sys.argv = ["tagwright", *words]
    main()


def _leave(*steps: Callable[[], object]) -> NoReturn:
    """End this copy with the exit code that the steps come to."""
    code = 1
    try:
        for step in steps:
            step()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

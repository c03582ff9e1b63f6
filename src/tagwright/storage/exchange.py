"""Two folders swap their places in one step, where the system can do that: there is no moment
without either.

Linux has `renameat2` with RENAME_EXCHANGE, macOS `renamex_np` with RENAME_SWAP. Not every file
system serves them.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

HERE = -100  # AT_FDCWD: a relative path starts in the working folder
EXCHANGE = 2  # RENAME_EXCHANGE in linux/fs.h, RENAME_SWAP in sys/stdio.h


def exchanged(one: Path, other: Path) -> bool:
    """Swap two folders; False if nothing happened, because system or file system cannot."""
    call = _call()
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _call() -> Callable[[bytes, bytes], int] | None:
    """What swaps two paths and returns 0."""
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    made = getattr(ctypes.CDLL(None), name, None) if name is not None else None
    if made is None:
        return None
    if sys.platform == "darwin":
        return lambda one, other: int(made(one, other, EXCHANGE))
    return lambda one, other: int(made(HERE, one, HERE, other, EXCHANGE))

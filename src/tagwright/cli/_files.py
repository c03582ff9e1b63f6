"""What failed where the system refuses a file: reading or writing, which file, and why."""

from traceback import walk_tb
from types import FrameType

from tagwright.storage.files import NO_ROOM

READING = frozenset({"read", "load", "stat", "iterdir", "listdir", "scandir", "glob", "rglob"})
WRITING = frozenset(
    {
        "write",
        "save",
        "mkdir",
        "makedirs",
        "touch",
        "rename",
        "replace",
        "unlink",
        "rmdir",
        "rmtree",
        "fsync",
    }
)


def told(error: OSError) -> str:
    """One sentence about an error of the system.

    >>> import errno
    >>> told(OSError(errno.ENOSPC, "No space left on device", "model/weights"))
    'cannot write model/weights: No space left on device'
    >>> told(TimeoutError("the server did not answer"))
    'the server did not answer'
    """
    done, reason = _operation(error), error.strerror or str(error) or type(error).__name__
    if error.filename is None and not done:  # of a connection, for example
        return reason
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"cannot {done or 'open'} {' as '.join(names) or 'a file'}: {reason}"


def _operation(error: OSError) -> str:
    """ "read" or "write"; "" where nobody knows. The functions that were called tell: of them the
    last that does.
    """
    if error.errno in NO_ROOM:
        return "write"
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    found = next(filter(None, map(_of_call, reversed(frames))), "")
    return found or ("read" if isinstance(error, FileNotFoundError) else "")


def _of_call(frame: FrameType) -> str:
    """What a function does with files, by its name (`write_text`) or by the mode of its `open`."""
    name = frame.f_code.co_name.rpartition(".")[2].lstrip("_")
    mode = frame.f_locals.get("mode")
    if name == "open" and isinstance(mode, str):
        return "write" if set(mode) & set("wax+") else "read"
    word = name.partition("_")[0]
    if word in READING:
        return "read"
    return "write" if word in WRITING else ""

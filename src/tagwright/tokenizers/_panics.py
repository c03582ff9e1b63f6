"""Panics of the tokenizers library, which are no `Exception` and write on stderr by themselves.

A tokenizer file that comes from anybody can make the library panic when it is read, or when some
text is encoded.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tagwright.errors import ModelError

_ALONE = threading.Lock()  # there is one stderr


@contextmanager
def panics_told() -> Iterator[None]:
    """A panic inside the block is a ValueError, and what the library writes of it is not seen."""
    with _ALONE, _muted() as forget:
        try:
            yield
        except BaseException as error:
            if not _is_panic(error):
                raise
            forget()
            raise ValueError(f"the tokenizers library cannot work with it: {error}") from error


@contextmanager
def encoding() -> Iterator[None]:
    """Whatever the library cannot do with a text inside the block is a ModelError."""
    try:
        yield
    except BaseException as error:
        # the library raises no other kinds; those of Python are mistakes of the caller
        if type(error) is not Exception and not _is_panic(error):
            raise
        raise ModelError(
            f"the tokenizer cannot encode one of these texts ({error}); take another tokenizer"
        ) from error


def _is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


@contextmanager
def _muted() -> Iterator[Callable[[], None]]:
    """Nothing is written on stderr inside the block; what would have been comes after it, unless it
    is to be forgotten.
    """
    try:
        kept = os.dup(2)
    except OSError:  # there is no stderr
        yield lambda: None
        return
    linux = sys.platform == "linux"
    aside = os.memfd_create("stderr") if linux else os.open(os.devnull, os.O_RDWR)
    os.dup2(aside, 2)
    wanted = [True]
    try:
        yield wanted.clear
    finally:
        os.dup2(kept, 2)
        os.lseek(aside, 0, os.SEEK_SET)
        with suppress(OSError):
            os.write(2, os.read(aside, os.fstat(aside).st_size) if wanted else b"")
        os.close(aside)
        os.close(kept)

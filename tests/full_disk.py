"""A disk that takes only so many bytes of a file, by a limit of the system that needs no root."""

import resource
from contextlib import contextmanager


@contextmanager
def room(size):
    """Inside the block no file can grow beyond `size` bytes; what fits is written first, as on a
    full disk.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

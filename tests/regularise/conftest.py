"""Networks this small are quicker on one thread."""

from ..assemble.conftest import one_thread  # noqa: F401

"""The rows that a run learns from, with all that a teacher adds to them."""

from collections.abc import Sequence
from functools import partial

from tagwright.assemble.teacher import Teaching
from tagwright.batches.rows import Rows
from tagwright.network import Network


def lessons(teaching: Teaching, names: Sequence[str], network: Network) -> Rows:
    """The rows of some tables; a teacher is asked only where the settings' targets want one."""
    scores = partial(teaching.scores, names)
    return teaching.prepared.training_rows(names, network, teaching.settings, teacher=scores)

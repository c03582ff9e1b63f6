"""One result that fails does not take the others with it."""

import pytest

from tagwright.errors import WriteError
from tagwright.experiments.attempts import Attempts


def test_a_result_that_fails_is_said_and_replaced_and_the_next_is_made():
    told: list[str] = []
    attempts = Attempts(told.append)
    assert attempts.of("the mean", lambda: 1 / 0, None) is None
    assert attempts.of("the sum", lambda: 3, None) == 3
    assert told == attempts.failed
    assert len(told) == 1
    assert told[0].startswith("the mean could not be made (ZeroDivisionError: division by zero)")


def test_a_full_disk_is_raised_and_no_result_is_left_out():
    def write():
        raise WriteError("cannot write report.html")

    attempts = Attempts()
    with pytest.raises(WriteError, match=r"report\.html"):
        attempts.of("the report", write, None)
    assert attempts.failed == []

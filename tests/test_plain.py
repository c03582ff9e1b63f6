"""Values become what JSON can hold."""

import json

import numpy as np
import pytest

from tagwright.plain import plain


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), np.float32("nan")])
def test_numbers_that_are_not_finite_become_null(number):
    assert plain({"a": [number, (number,)]}) == {"a": [None, [None]]}


def test_numpy_numbers_become_python_numbers():
    found = plain([np.int64(3), np.float32(0.5), np.bool_(True)])
    assert json.dumps(found) == "[3, 0.5, true]"

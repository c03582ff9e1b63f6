"""Values become what JSON can hold."""

import json

import numpy as np
import pytest

from tagwright.storage.plain import plain, value_of


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), np.float32("nan")])
def test_numbers_that_are_not_finite_become_null(number):
    assert plain({"a": [number, (number,)]}) == {"a": [None, [None]]}


def test_numpy_numbers_become_python_numbers():
    found = plain([np.int64(3), np.float32(0.5), np.bool_(True)])
    assert json.dumps(found) == "[3, 0.5, true]"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (1.0, int),
        ("1", int),
        (float("nan"), float),
        (float("inf"), float),
        (None, str),
    ],
)
def test_a_value_of_another_type_is_refused(value, kind):
    with pytest.raises(ValueError, match=f"width must be of type {kind.__name__}"):
        value_of({"width": value}, "width", kind)


def test_a_value_that_is_missing_is_named():
    with pytest.raises(KeyError, match="width"):
        value_of({}, "width", int)

"""Errors: one family, and messages that help."""

import pytest

from tagwright import errors
from tagwright.errors import TagwrightError, unknown


@pytest.mark.parametrize("name", ["DataError", "SettingsError", "ShapeError", "ModelError"])
def test_every_error_is_of_one_family(name):
    assert issubclass(getattr(errors, name), TagwrightError)


def test_an_unknown_name_far_from_all_lists_them_without_a_guess():
    assert unknown("loss", "qqqq", ["zlpr", "bce"]) == "unknown loss 'qqqq'. Choices: bce, zlpr"


def test_no_choices_are_said():
    assert unknown("part", "x", []).endswith("Choices: none")


def test_a_name_that_is_only_a_little_like_another_gets_no_guess():
    # half of the letters
    assert "did you mean" not in unknown("encoder", "bert", ["bow", "best_of"])

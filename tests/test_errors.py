"""Errors: one family, and messages that help."""

import pytest

from tagwright import errors
from tagwright.errors import ModelError, TagwrightError, unknown


@pytest.mark.parametrize("name", ["DataError", "SettingsError", "ShapeError", "ModelError"])
def test_every_error_is_of_one_family(name):
    assert issubclass(getattr(errors, name), TagwrightError)


@pytest.mark.parametrize("letter", ["\n", "\r", "\0", "\x1b", "\x7f", "\x85", "\u2028"])
def test_a_fault_of_a_model_is_one_line_whatever_its_files_are_called(letter):
    said = str(ModelError(f"a{letter}b is missing"))
    assert said == f"a{repr(letter)[1:-1]}b is missing"
    assert str(ModelError(said)) == said


def test_an_unknown_name_far_from_all_lists_them_without_a_guess():
    assert unknown("loss", "qqqq", ["zlpr", "bce"]) == "unknown loss 'qqqq'. Choices: bce, zlpr"


def test_no_choices_are_said():
    assert unknown("part", "x", []).endswith("Choices: none")


def test_a_name_that_is_only_a_little_like_another_gets_no_guess():
    # half of the letters
    assert "did you mean" not in unknown("encoder", "bert", ["bow", "best_of"])

"""Plain sections: values that do not fit are told, each with its section and key."""

import pytest

from tagwright.settings.sections import PLAIN_SECTIONS, FitSettings, SplitSettings, read_section


def test_given_values_stand_and_the_rest_is_default():
    faults: list[str] = []
    made = read_section("fit", FitSettings, {"epochs": 3, "batch": 8}, faults)
    assert (made.epochs, made.batch, made.learning_rate) == (3.0, 8, FitSettings().learning_rate)
    assert isinstance(made.epochs, float)
    assert not faults


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"batch": 0}, "fit.batch must be at least 1, got 0"),
        ({"batch": 2.5}, "fit.batch must be of type int, got 2.5"),
        ({"refit": 1}, "fit.refit must be of type bool, got 1"),
        ({"clip": float("nan")}, "fit.clip must be at least 0.0, got nan"),
    ],
)
def test_what_is_wrong_is_told(given, told):
    faults: list[str] = []
    read_section("fit", FitSettings, given, faults)
    assert len(faults) == 1
    assert told in faults[0]


def test_a_table_is_asked_for_where_one_belongs():
    faults: list[str] = []
    read_section("split", SplitSettings, {"keep": 3}, faults)
    assert faults == ["split.keep must be a table, got 3"]


@pytest.mark.parametrize("section", PLAIN_SECTIONS)
def test_every_section_stands_on_its_defaults(section):
    faults: list[str] = []
    assert read_section(section, PLAIN_SECTIONS[section], {}, faults) == PLAIN_SECTIONS[section]()
    assert not faults

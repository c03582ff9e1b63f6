"""Parameters of the estimators become settings; what is given wins."""

from types import SimpleNamespace

import numpy as np
import pytest

from tagwright.errors import DataError, SettingsError
from tagwright.integrations.parameters import PARAMETERS, given_settings, text_list

NONE = dict.fromkeys((*PARAMETERS["fit"], *PARAMETERS["split"], "encoder", "objective", "settings"))


def estimator(**given):
    return SimpleNamespace(**{**NONE, **given})


def test_nothing_given_leaves_all_to_the_defaults():
    assert given_settings(estimator()) == {}


def test_a_parameter_wins_over_the_settings_and_these_stay_as_they_were():
    settings = {"fit": {"epochs": 3, "batch": 4}, "encoder": "lstm"}
    made = given_settings(estimator(settings=settings, epochs=5, dev_share=0.3, objective="zlpr"))
    assert made == {
        "fit": {"epochs": 5, "batch": 4},
        "split": {"dev_share": 0.3},
        "encoder": {"name": "lstm"},
        "objective": "zlpr",
    }
    assert settings == {"fit": {"epochs": 3, "batch": 4}, "encoder": "lstm"}


@pytest.mark.parametrize(
    ("table", "made"),
    [
        ({"name": "cnn", "filters": 8}, {"name": "cnn", "filters": 8}),
        ({"filters": 8}, {"name": "cnn", "filters": 8}),
        ({"name": "lstm", "hidden": 8}, {"name": "cnn"}),
        ("lstm", {"name": "cnn"}),
    ],
)
def test_settings_of_another_part_do_not_follow_a_named_one(table, made):
    assert given_settings(estimator(encoder="cnn", settings={"encoder": table}))["encoder"] == made


def test_settings_that_are_no_table_are_refused():
    with pytest.raises(SettingsError, match="settings must be nested values"):
        given_settings(estimator(settings="a.toml"))


def test_texts_of_any_kind_of_list_are_taken():
    assert text_list(np.array(["a", "b"])) == text_list(("a", "b")) == ["a", "b"]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ("a", "put it in a list"),
        (["a", None], "text 1 .* is missing"),
        (["a", 3], "got int at place 1"),
    ],
)
def test_what_is_no_text_is_told_with_its_place(texts, told):
    with pytest.raises(DataError, match=told):
        text_list(texts)

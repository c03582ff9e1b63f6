"""Objectives with a setting that goes through several values."""

import pytest

from tagwright.errors import SettingsError
from tagwright.experiments.sweeps import swept_variants


def test_without_a_sweep_every_objective_is_itself():
    variants, swept = swept_variants(["bce", "zlpr"], [])
    assert [(one.name, one.settings) for one in variants] == [
        ("bce", {"objective": "bce"}),
        ("zlpr", {"objective": "zlpr"}),
    ]
    assert swept == {}


def test_values_stand_in_the_place_of_their_objective():
    variants, swept = swept_variants(["bce", "focal", "zlpr"], ["focal:loss.gamma=0.5, 2"])
    assert [one.name for one in variants] == ["bce", "focal gamma 0.5", "focal gamma 2", "zlpr"]
    assert [one.family for one in variants] == ["bce", "focal", "focal", "zlpr"]
    assert [one.settings.get("loss") for one in variants[1:3]] == [{"gamma": 0.5}, {"gamma": 2}]
    assert swept["focal"].setting == "loss.gamma"
    assert dict(swept["focal"].values) == {"focal gamma 0.5": 0.5, "focal gamma 2": 2.0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gamma=1,2", "objective:section.key=value"),
        ("focal:gamma=1,2", "objective:section.key=value"),
        ("focal:loss.gamma=", "objective:section.key=value"),
        ("fokal:loss.gamma=1", "focal"),
        ("bce:loss.gamma=1", "baseline"),
        ("focal:loss.gamma=few,many", "numbers"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(text, reason):
    with pytest.raises(SettingsError, match=reason):
        swept_variants(["bce", "focal"], [text])


def test_one_setting_of_an_objective_is_swept():
    with pytest.raises(SettingsError, match="swept already"):
        swept_variants(["bce", "focal"], ["focal:loss.gamma=1,2", "focal:loss.alpha=1,2"])

"""Presets: a name for a row of choices."""

import pytest

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.settings import presets
from tagwright.settings.schema import PART_SECTIONS, resolve


@pytest.mark.parametrize("name", registry.names("losses"))
def test_preset_named_like_a_loss_is_that_loss_alone(name: str):
    assert name in presets.names()
    assert presets.preset(name) == {
        "loss": name,
        "targets": "hard",
        "mask": "none",
        "weights": "none",
    }


def test_maskloss_is_mean_bce_with_groups():
    choices = presets.preset("maskloss-label")
    assert choices["loss"] == {"name": "bce", "labels": "mean"}
    assert choices["mask"] == "groups"
    assert (choices["targets"], choices["weights"]) == ("hard", "none")


def test_maskloss_by_elements_is_the_same_with_words():
    choices = presets.preset("maskloss-elem")
    assert choices == {**presets.preset("maskloss-label"), "mask": "elements"}


def test_distilled_soft_labels_stand_beside_as_their_rivals_do():
    assert presets.preset("ls-distil") == {**presets.preset("ls-tfidf"), "targets": "distil"}


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_resolves_to_parts_that_exist(name: str):
    settings = resolve({"objective": name})
    assert settings.objective == name
    for section in ("loss", "targets"):
        assert getattr(settings, section).name in registry.names(PART_SECTIONS[section])


def test_given_choice_goes_over_the_preset():
    settings = resolve(
        {
            "objective": "maskloss-label",
            "mask": {"plain_share": 0.2},
            "weights": {"name": "inverse"},
        }
    )
    assert settings.mask.options["plain_share"] == 0.2
    assert (settings.mask.name, settings.weights.name) == ("groups", "inverse")
    assert settings.loss.options == {"labels": "mean"}


def test_another_loss_drops_the_settings_of_the_preset():
    settings = resolve({"objective": "maskloss-label", "loss": {"name": "zlpr"}})
    assert settings.loss == resolve({"objective": "zlpr"}).loss
    assert settings.mask.name == "groups"


def test_names_are_in_order_and_without_repeats():
    assert list(presets.names()) == sorted(set(presets.names()))


def test_changing_a_preset_in_hand_leaves_the_next_one_whole():
    presets.preset("maskloss-label")["loss"] = "zlpr"
    assert presets.preset("maskloss-label")["loss"] == {"name": "bce", "labels": "mean"}


def test_unknown_name_is_met_with_the_nearest():
    with pytest.raises(
        SettingsError, match=r"unknown objective 'zlprr'; did you mean 'zlpr'.*maskloss-label"
    ):
        presets.preset("zlprr")


def test_baselines_of_a_label_each_are_solved_and_a_chain_has_its_head():
    plain, chain = (
        resolve({"objective": name, "encoder": "bow"})
        for name in ("binary-relevance", "classifier-chain")
    )
    assert (plain.loss.name, plain.fit.optimizer, plain.head.name) == ("bce", "exact", "document")
    assert (chain.loss.name, chain.fit.optimizer, chain.head.name) == ("bce", "exact", "chain")

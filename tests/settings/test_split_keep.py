"""`split.keep` as it is given."""

import pytest

from tagwright.cli._options import given
from tagwright.errors import SettingsError
from tagwright.settings.merge import read_settings
from tagwright.settings.schema import resolve
from tagwright.settings.split_keep import kept_faults, kept_of


def test_a_label_may_have_an_equals_sign():
    assert kept_of(["a=b=12", " spaced label=3"]) == {"a=b": 12, " spaced label": 3}


def test_nothing_given_leaves_the_choice_to_the_settings():
    assert kept_of(None) is None
    assert kept_of([]) is None


@pytest.mark.parametrize(
    "given", ["Sports", "Sports=", "=3", "Sports=1:100", "Sports=0.5", "Sports=many", "Sports=-"]
)
def test_anything_but_a_label_and_a_whole_number_is_refused(given):
    with pytest.raises(SettingsError, match="--keep takes LABEL=N, N a whole number"):
        kept_of([given])


def test_a_label_twice_is_refused():
    with pytest.raises(SettingsError, match="'a' twice"):
        kept_of(["a=1", "a=2"])


@pytest.mark.parametrize("number", [0, -3])
def test_no_text_at_all_is_refused(number):
    with pytest.raises(SettingsError, match=f"'a' must be at least 1, got {number}"):
        resolve({"split": {"keep": {"a": number}}})


@pytest.mark.parametrize("number", [1.5, True, "12", {}])
def test_a_number_that_is_not_whole_is_refused(number):
    assert "whole number" in kept_faults({"a": number})[0]


def test_all_faults_come_at_once():
    assert len(kept_faults({"a": 0, "b": 1.5, "c": 3})) == 2


def test_it_must_be_a_table():
    with pytest.raises(SettingsError, match=r"split.keep must be a table, got 3"):
        resolve({"split": {"keep": 3}})


def test_settings_with_it_read_back_in_order(tmp_path):
    settings = resolve({"split": {"keep": {'odd "=.] label': 3, "a": 2}}})
    (tmp_path / "s.toml").write_text(settings.to_toml(), encoding="utf-8")
    again = resolve(read_settings(tmp_path / "s.toml"))
    assert again.split == settings.split
    assert list(again.split.keep) == ['odd "=.] label', "a"]


def test_settings_without_it_are_written_as_ever():
    assert "keep" not in resolve({}).to_toml()


def test_a_refit_which_would_learn_from_what_is_not_cut_is_off():
    keep = {"split": {"keep": {"a": 3}}}
    assert resolve({"encoder": {"name": "bow"}}).fit.refit
    assert not resolve({"encoder": {"name": "bow"}, **keep}).fit.refit
    with pytest.raises(
        SettingsError, match=r"fit\.refit would learn from dev, which split\.keep does not cut"
    ):
        resolve({"fit": {"refit": True}, **keep})


def test_labels_of_the_command_line_join_those_of_the_file(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[split.keep]\na = 10\nb = 4\n")
    assert given(path, None, {"split.keep": kept_of(["b=2", "c=1"])})["split"]["keep"] == {
        "a": 10,
        "b": 2,
        "c": 1,
    }
    assert given(None, None, {"split.keep": kept_of(["b=2"])})["split"]["keep"] == {"b": 2}

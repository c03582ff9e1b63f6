"""An old public name works, and says where the new one is."""

import sys
import types
import warnings

import pytest

from tagwright import load
from tagwright.deprecation import moved


@pytest.fixture
def module(monkeypatch):
    made = types.ModuleType("old_place")
    names = {"load_model": "tagwright.integrations.tagger:load"}
    made.__getattr__ = moved("old_place", names, removed_in="0.3")
    monkeypatch.setitem(sys.modules, "old_place", made)
    return made


def test_the_old_name_gives_the_new_object_and_warns_once_per_use(module):
    said = r"old_place\.load_model is now tagwright\.integrations\.tagger\.load; .* version 0\.3"
    with pytest.warns(FutureWarning, match=said) as caught:
        assert module.load_model is load
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_importing_the_old_name_works():
    names = {"load_model": "tagwright.integrations.tagger:load"}
    made = types.ModuleType("other_place")
    made.__getattr__ = moved("other_place", names, removed_in="0.3")
    sys.modules["other_place"] = made
    try:
        with pytest.warns(FutureWarning, match="other_place"):
            from other_place import load_model
    finally:
        del sys.modules["other_place"]
    assert load_model is load


def test_an_unknown_name_is_an_attribute_error_without_a_warning(module):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AttributeError, match="'old_place' has no attribute 'nonsense'"):
            module.nonsense  # noqa: B018

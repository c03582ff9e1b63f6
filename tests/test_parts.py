"""The registry: a folder's files are its parts, a signature is the schema of its settings."""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tagwright import parts
from tagwright.errors import SettingsError
from tagwright.losses import BinaryCrossEntropyLoss, ZLPRLoss
from tagwright.masks.groups import GroupMask, group_mask

EVERY = [(kind, name) for kind in parts.KINDS for name in parts.names(kind)]


@pytest.fixture
def extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files count as schedules for the length of a test."""
    package = import_module("tagwright.schedules")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    before = set(vars(package))
    yield tmp_path
    for name in set(vars(package)) - before:
        delattr(package, name)
        sys.modules.pop(f"tagwright.schedules.{name}", None)
    parts.names.cache_clear()
    parts.find.cache_clear()


@pytest.mark.parametrize("kind", parts.KINDS)
def test_every_folder_has_parts_in_order(kind: str):
    assert parts.names(kind)
    assert list(parts.names(kind)) == sorted(set(parts.names(kind)))
    assert not any(name.startswith("_") for name in parts.names(kind))


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_part_can_be_made_and_says_what_it_is(kind: str, name: str):
    part = parts.find(kind, name)
    assert (part.kind, part.name) == (kind, name)
    assert callable(part.factory)
    assert part.summary == (import_module(f"tagwright.{kind}.{name}").__doc__ or "").splitlines()[0].strip()
    assert part.summary


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_setting_accepts_its_own_default(kind: str, name: str):
    assert parts.check(kind, name, parts.options(parts.find(kind, name).factory)) == []


def test_first_losses_are_found_by_the_names_of_their_files():
    assert parts.find("losses", "bce").factory is BinaryCrossEntropyLoss
    assert parts.find("losses", "zlpr").factory is ZLPRLoss


def test_new_file_is_a_new_part_with_no_other_edit(extended: Path):
    source = (
        '"""Half the rate.\n\nMore words."""\ndef halving(step_count, *, share=0.5):\n    return lambda step: share\n'
    )
    (extended / "halving.py").write_text(source, encoding="utf-8")
    (extended / "_private.py").write_text(source, encoding="utf-8")
    (extended / "nothing.py").write_text('"""Neither a part\'s class nor its function."""\n', encoding="utf-8")
    parts.names.cache_clear()
    assert set(parts.names("schedules")) >= {"halving", "linear"}
    assert not {"_private", "nothing"} & set(parts.names("schedules"))
    assert parts.find("schedules", "halving").summary == "Half the rate."
    assert parts.build("schedules", "halving", {"share": 0.25}, step_count=4)(0) == 0.25


def test_unknown_part_is_met_with_the_nearest():
    with pytest.raises(SettingsError, match=r"unknown loss 'zlprr'; did you mean 'zlpr'\?.*bce, .*cross_entropy"):
        parts.find("losses", "zlprr")


def test_options_are_keyword_arguments_with_a_default():
    def ramp(steps, factor=2, *, total, start=0.0, name="x", **rest): ...

    assert parts.options(ramp) == {"start": 0.0, "name": "x"}


def test_options_of_a_class_are_those_of_its_making():
    assert parts.options(GroupMask) == {"plain_share": 0.5, "draw": "step", "said": ()}


def test_facts_reach_only_the_part_that_asks():
    names = ("a/x", "a/y", "b/x", "b/y")
    mask = parts.build("masks", "groups", {"plain_share": 0.0}, label_names=names, label_counts=names, vocab_size=3)
    assert isinstance(mask, GroupMask)
    assert mask.plain_share == 0.0
    assert isinstance(parts.build("losses", "zlpr", {"threshold": 1.0}, label_names=names), ZLPRLoss)


def test_fact_is_not_a_setting():
    assert "label_names" not in parts.options(group_mask)
    with pytest.raises(SettingsError, match="unknown setting of groups 'label_names'"):
        parts.build("masks", "groups", {"label_names": ["a", "b"]}, label_names=("a", "b"))


def test_misspelt_setting_is_met_with_the_nearest():
    with pytest.raises(SettingsError, match=r"unknown setting of groups 'plain_shere'; did you mean 'plain_share'"):
        parts.build("masks", "groups", {"plain_shere": 0.1}, label_names=("a", "b"))


def test_all_faults_are_told_at_once():
    faults = parts.check("masks", "groups", {"plain_share": "much", "drow": "step", "draw": 3})
    assert len(faults) == 3
    assert "groups.plain_share must be of type float, got 'much'" in faults


@pytest.mark.parametrize(
    ("kind", "name", "given", "fits"),
    [
        ("masks", "groups", {"plain_share": 1}, True),  # a whole number is a float
        ("masks", "groups", {"plain_share": True}, False),  # a truth value is no number
        ("masks", "groups", {"plain_share": "0.5"}, False),
        ("masks", "groups", {"draw": "example"}, True),
        ("decide", "topk", {"k": 2}, True),
        ("decide", "topk", {"k": 2.0}, False),
        ("decide", "topk", {"k": True}, False),
    ],
)
def test_values_must_be_of_the_type_of_the_default(kind: str, name: str, given: dict, fits: bool):
    assert (parts.check(kind, name, given) == []) is fits


def test_every_required_argument_is_a_fact_that_comes_first():
    for kind, name in EVERY:
        signature = inspect.signature(parts.find(kind, name).factory)
        for parameter in signature.parameters.values():
            needed = parameter.default is parameter.empty
            assert needed or parameter.kind is parameter.KEYWORD_ONLY, f"{kind}/{name}: {parameter.name}"

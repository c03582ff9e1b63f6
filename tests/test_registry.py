"""The registry: a folder's files are its parts, a signature is the schema of its settings."""

import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.losses import BinaryCrossEntropyLoss, ZLPRLoss
from tagwright.masks.groups import GroupMask, group_mask
from tagwright.objective import build_objective
from tagwright.settings.schema import resolve

EVERY = [(kind, name) for kind in registry.KINDS for name in registry.names(kind)]


@pytest.fixture
def extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files count as schedules for the length of a test."""
    package = import_module("tagwright.training.schedules")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    before = set(vars(package))
    yield tmp_path
    for name in set(vars(package)) - before:
        delattr(package, name)
        sys.modules.pop(f"tagwright.training.schedules.{name}", None)
    registry.refresh()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes packages with entry points, found for the length of a test: `installed("tape",
    group={name: value}, …)`.
    """
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def install(package: str, source: str = "", **groups: dict[str, str]) -> None:
        made.append(package)
        (tmp_path / f"{package}.py").write_text(source, encoding="utf-8")
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
        )
        lines = [
            f"[tagwright.{kind}]\n"
            + "".join(f"{name} = {value}\n" for name, value in points.items())
            for kind, points in groups.items()
        ]
        (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        registry.refresh()

    yield install
    for package in made:
        sys.modules.pop(package, None)
    monkeypatch.undo()
    registry.refresh()


DECORATED = '"""Half."""\nfrom tagwright.training.schedules import schedule\n\n\n@schedule()\n'
HALVING = '''"""Half the rate."""
from tagwright.training.schedules import schedule


@schedule()
def halving(step_count, *, share=0.5):
    """Half the rate, always.

    More words.
    """
    return lambda step: share
'''


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_folder_has_parts_in_order(kind: str):
    assert registry.names(kind)
    assert list(registry.names(kind)) == sorted(set(registry.names(kind)))
    assert not any(name.startswith("_") for name in registry.names(kind))


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_part_can_be_made_and_says_what_it_is(kind: str, name: str):
    part = registry.find(kind, name)
    assert (part.kind, part.name) == (kind, name)
    assert callable(part.factory)
    doc = import_module(f"{registry.package_of(kind)}.{name}").__doc__ or ""
    assert part.summary.split() == doc.partition("\n\n")[0].split()
    assert part.summary


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_setting_accepts_its_own_default(kind: str, name: str):
    assert registry.check(kind, name, registry.find(kind, name).settings) == []


def test_first_losses_are_found_by_the_names_of_their_files():
    assert registry.find("losses", "bce").factory is BinaryCrossEntropyLoss
    assert registry.find("losses", "zlpr").factory is ZLPRLoss


def test_new_file_is_a_new_part_with_no_other_edit(extended: Path):
    source = (
        '"""Half the rate.\n\nMore words."""\nfrom tagwright.training.schedules import'
        " schedule\n\n\n@schedule()\ndef halving(step_count, *, share=0.5):\n    return lambda"
        " step: share\n\n\nPART = halving\n"
    )
    (extended / "halving.py").write_text(source, encoding="utf-8")
    (extended / "_private.py").write_text(source, encoding="utf-8")
    (extended / "nothing.py").write_text(
        '"""Names no part."""\ndef nothing(): ...\n', encoding="utf-8"
    )
    registry.refresh()
    assert set(registry.names("schedules")) >= {"halving", "linear"}
    assert not {"_private", "nothing"} & set(registry.names("schedules"))
    assert registry.find("schedules", "halving").summary == "Half the rate."
    assert registry.find("schedules", "halving").package == "tagwright"
    assert registry.build("schedules", "halving", {"share": 0.25}, step_count=4)(0) == 0.25


def test_unknown_part_is_met_with_the_nearest():
    with pytest.raises(
        SettingsError, match=r"unknown loss 'zlprr'; did you mean 'zlpr'\?.*bce, .*cross_entropy"
    ):
        registry.find("losses", "zlprr")


def test_options_are_keyword_arguments_with_a_default():
    def ramp(steps, factor=2, *, total, start=0.0, name="x", **rest): ...

    assert registry.options(ramp) == {"start": 0.0, "name": "x"}


def test_options_of_a_class_are_those_of_its_making():
    assert registry.options(GroupMask) == {"plain_share": 0.5, "draw": "step", "said": ()}


def test_facts_reach_only_the_part_that_asks():
    names = ("a/x", "a/y", "b/x", "b/y")
    mask = registry.build("masks", "groups", {"plain_share": 0.0}, label_names=names)
    assert isinstance(mask, GroupMask)
    assert mask.plain_share == 0.0
    assert isinstance(
        registry.build("losses", "zlpr", {"threshold": 1.0}, label_counts=[1], row_count=2),
        ZLPRLoss,
    )


def test_a_fact_that_the_kind_does_not_declare_is_refused():
    with pytest.raises(
        TypeError, match=r"a schedule is told nothing of 'step_coumt'; did you mean 'step_count'\?"
    ):
        registry.build("schedules", "linear", {}, step_coumt=4)
    with pytest.raises(TypeError, match="a loss is told nothing of 'label_names'"):
        registry.build("losses", "zlpr", {}, label_names=("a", "b"))


@pytest.mark.parametrize(
    "asked", ["step_count, widht", "step_count, widht=None", "step_count, *, widht"]
)
def test_a_part_that_misspells_a_fact_is_refused_wherever_it_is_used(extended: Path, asked: str):
    source = DECORATED + f"def halving({asked}):\n    return lambda step: 0.5\n\n\nPART = halving\n"
    (extended / "halving.py").write_text(source, encoding="utf-8")
    registry.refresh()
    said = (
        r"schedule 'halving' asks for 'widht', which it is not told; did you mean 'width'\? There"
        r" are: step_count"
    )
    with pytest.raises(SettingsError, match=said):
        registry.build("schedules", "halving", {}, step_count=4, width=3)
    with pytest.raises(SettingsError, match=said):
        resolve({"schedule": "halving"})


def test_an_optional_fact_is_given_where_it_is_known(extended: Path):
    source = (
        DECORATED
        + "def halving(step_count, width=7):\n    return lambda step: width\n\n\nPART = halving\n"
    )
    (extended / "halving.py").write_text(source, encoding="utf-8")
    registry.refresh()
    assert registry.build("schedules", "halving", {}, step_count=4)(0) == 7
    assert registry.build("schedules", "halving", {}, step_count=4, width=3)(0) == 3


def test_fact_is_not_a_setting():
    assert "label_names" not in registry.options(group_mask)
    with pytest.raises(SettingsError, match="unknown setting of groups 'label_names'"):
        registry.build("masks", "groups", {"label_names": ["a", "b"]}, label_names=("a", "b"))


def test_misspelt_setting_is_met_with_the_nearest():
    with pytest.raises(
        SettingsError, match=r"unknown setting of groups 'plain_shere'; did you mean 'plain_share'"
    ):
        registry.build("masks", "groups", {"plain_shere": 0.1}, label_names=("a", "b"))


def test_all_faults_are_told_at_once():
    faults = registry.check("masks", "groups", {"plain_share": "much", "drow": "step", "draw": 3})
    assert len(faults) == 3
    assert "groups.plain_share must be of type float, got 'much'" in faults


@pytest.mark.parametrize(
    ("kind", "name", "given", "fits"),
    [
        ("masks", "groups", {"plain_share": 1}, True),  # a whole number is a float
        ("masks", "groups", {"plain_share": True}, False),  # a truth value is no number
        ("masks", "groups", {"plain_share": "0.5"}, False),
        ("masks", "groups", {"draw": "example"}, True),
        ("decisions", "topk", {"k": 2}, True),
        ("decisions", "topk", {"k": 2.0}, False),
        ("decisions", "topk", {"k": True}, False),
    ],
)
def test_values_must_be_of_the_type_of_the_default(kind: str, name: str, given: dict, fits: bool):
    assert (registry.check(kind, name, given) == []) is fits


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_facts_are_declared_and_come_before_the_settings(kind: str, name: str):
    if registry.kind_of(kind).facts is None:
        return
    declared = registry.declared_facts(kind, registry.find(kind, name).factory)
    assert set(registry.asked(registry.find(kind, name).factory)) <= {*declared}
    signature = inspect.signature(registry.find(kind, name).factory)
    for parameter in signature.parameters.values():
        fact = parameter.name in declared
        settable = parameter.kind is parameter.KEYWORD_ONLY
        assert fact or settable, f"{kind}/{name}: {parameter.name}"


@pytest.mark.parametrize("value", ["tape:halving", "tape"])
def test_another_package_adds_parts(installed: Callable[..., None], value: str):
    installed("tape", HALVING + "PART = halving\n", schedules={"halving": value})
    assert "halving" in registry.names("schedules")
    assert registry.third_party("schedules", "halving") == "tape"
    assert "tape" not in sys.modules  # nothing of it is imported before it is used
    part = registry.find("schedules", "halving")
    assert (part.package, part.settings) == ("tape", {"share": 0.5})
    assert part.summary.startswith("Half the rate")
    assert registry.build("schedules", "halving", {"share": 0.25}, step_count=4)(0) == 0.25
    assert resolve({"schedule": {"name": "halving", "share": 0.1}}).schedule.options == {
        "share": 0.1
    }


def test_the_programs_own_parts_belong_to_no_other_package():
    assert {part.package for kind in registry.KINDS for part in registry.usable(kind)} == {
        "tagwright"
    }
    assert registry.third_party("losses", "bce") is None
    assert registry.third_party("losses", "no_such_loss") is None


def test_a_name_that_two_packages_claim_is_refused_with_both(installed: Callable[..., None]):
    installed("tape", HALVING, schedules={"linear": "tape:halving", "halving": "tape:halving"})
    installed("reel", HALVING, schedules={"halving": "reel:halving"})
    with pytest.raises(
        SettingsError, match="more than one schedule 'linear': of the packages tagwright and tape"
    ):
        registry.find("schedules", "linear")
    with pytest.raises(
        SettingsError, match=r"more than one schedule 'halving': .*(tape and reel|reel and tape)"
    ):
        registry.find("schedules", "halving")
    # the others are as they were
    assert registry.build("schedules", "cosine", {}, step_count=4)(0) > 0
    assert set(registry.broken("schedules")) == {"linear", "halving"}


@pytest.mark.parametrize(
    ("source", "value", "said"),
    [
        (
            "import no_such_module",
            "tape:halving",
            "cannot be imported.*ModuleNotFoundError.*no_such_module",
        ),
        (HALVING, "tape:halvign", "cannot be imported.*AttributeError"),
        (HALVING, "tape", "neither a part nor a module with PART"),
        (
            HALVING.replace("step_count", "count"),
            "tape:halving",
            "asks for 'count'.*did you mean 'step_count'",
        ),
        ("1 / 0", "tape", "cannot be imported.*ZeroDivisionError"),
    ],
)
def test_a_broken_part_is_an_error_only_where_it_is_used(
    installed: Callable[..., None], source: str, value: str, said: str
):
    installed("tape", source, schedules={"halving": value})
    assert registry.build("schedules", "linear", {}, step_count=4)(0) > 0
    assert "halving" not in [part.name for part in registry.usable("schedules")]
    with pytest.raises(SettingsError, match=rf"schedule 'halving' of the package tape.*{said}"):
        registry.find("schedules", "halving")
    assert "halving" in registry.broken("schedules")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("losses", "lm-mtc"), ("losses", "cloze"), ("regularizers", "fit"), ("masks", "none")],
)
def test_a_name_with_another_meaning_is_no_name_of_a_part(
    installed: Callable[..., None], kind: str, name: str
):
    installed("tape", HALVING, **{kind: {name: "tape:halving"}})
    with pytest.raises(
        SettingsError,
        match=f"the package tape calls a .* '{name}', which cannot be the name of one",
    ):
        registry.find(kind, name)


def test_a_message_about_losses_passes_over_a_broken_one(installed: Callable[..., None]):
    installed("tape", "import no_such_module", losses={"odd": "tape:Odd"})
    space = LabelSpace(names=("a", "b"), counts=(1, 1))
    with pytest.raises(SettingsError, match=r"losses that do: .*bce") as caught:
        build_objective(resolve({"loss": "cross_entropy"}), space, row_count=2)
    assert "odd" not in str(caught.value)

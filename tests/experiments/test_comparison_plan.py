"""What a comparison is made of; what cannot be compared is refused before anything is written."""

import pytest

from tagwright.errors import (
    SettingsError,
)
from tagwright.experiments.comparison_plan import named_variants, planned
from tagwright.pipelines.compare import compare_folder


@pytest.fixture(scope="module")
def quick(tiny):
    return tiny(fit={"epochs": 1}, decide={"name": "zero"})


@pytest.mark.parametrize("objectives", [[], ["bce"], ["bce", "bce"], ["bce", "bcee"]])
def test_fewer_than_two_known_objectives_are_refused_and_nothing_written(
    source, quick, tmp_path, objectives
):
    with pytest.raises(SettingsError):
        compare_folder(str(source), quick, objectives=objectives, seeds=1, out=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"loss": {"name": "bce"}}, "bce on cnn and zlpr on cnn have the same settings"),
        ({"objective": "focal"}, "--objectives names the objectives"),
    ],
)
def test_runs_that_would_be_the_same_are_refused(split_source, quick, tmp_path, chosen, message):
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "out": tmp_path / "c"}
    with pytest.raises(SettingsError, match=message):
        compare_folder(str(split_source), quick, chosen=chosen, **options)
    assert not (tmp_path / "c").exists()


def test_an_encoder_beside_encoders_is_refused(split_source, quick, tmp_path):
    options = {
        "objectives": ["bce", "zlpr"],
        "encoders": ["cnn", "lstm"],
        "seeds": 1,
        "out": tmp_path / "c",
    }
    with pytest.raises(SettingsError, match="--encoders names the encoders"):
        compare_folder(str(split_source), quick, chosen={"encoder": {"name": "bow"}}, **options)


def plan_of(source, given, **options):
    """The plan of bce against zlpr with two seeds, and what is said on the way."""
    said = []
    chosen = {"objectives": ["bce", "zlpr"], "chosen": {}, "encoders": [], "sweep": []}
    chosen |= {name: options.pop(name) for name in [*options] if name in chosen}
    named = named_variants(given, chosen.pop("objectives"), **chosen, say=said.append)
    more = {"title": "A title", "seeds": 2, "metric": None, "split": None, **options}
    return planned(str(source), named, encoders=chosen["encoders"], **more), said


def test_every_run_is_planned_on_the_same_data(split_source, quick):
    made, said = plan_of(split_source, quick, encoders=["cnn", "bow"])
    runs = {(run.variant, run.encoder, run.seed) for run in made.runs}
    assert runs == {(v, e, s) for v in ("bce", "zlpr") for e in ("cnn", "bow") for s in (0, 1)}
    assert len(made.runs) == 8
    assert {run.settings.split.seed for run in made.runs} == {0}
    assert (made.recipe.baseline, made.recipe.encoders) == ("bce", ("cnn", "bow"))
    assert made.source.on == "test"
    assert [one.partition(": ")[2] for one in said] == ["encoder.width, encoder.filters"]


@pytest.mark.parametrize(("named", "on"), [(None, "dev"), ("dev", "dev"), ("test", None)])
def test_without_a_test_table_dev_is_measured_and_no_other(source, quick, named, on):
    if on is None:
        with pytest.raises(SettingsError, match=r"split must be one of dev, .*got 'test'"):
            plan_of(source, quick, split=named)
    else:
        assert plan_of(source, quick, split=named)[0].source.on == on


def test_the_metric_is_the_usual_one_of_the_data_where_none_is_named(
    source, single_source, tagged_sets, quick
):
    tags = {"objectives": ["cross_entropy", "pbp-ee"]}
    found = [
        plan_of(source, quick)[0],
        plan_of(single_source, {}, objectives=["cross_entropy", "squared_hinge"])[0],
        plan_of(tagged_sets / "places", {}, **tags)[0],
        plan_of(source, quick, metric="lrap")[0],
    ]
    assert [one.recipe.metric for one in found] == ["macro_f1", "accuracy", "entity_f1", "lrap"]


def test_a_fault_of_several_runs_is_told_once(source, quick):
    with pytest.raises(SettingsError) as caught:
        plan_of(source, quick, encoders=["bow", "cmm"])
    assert len(str(caught.value).splitlines()) == 1
    assert "unknown encoder 'cmm'" in str(caught.value)


def test_what_a_file_says_of_the_objectives_is_left_out_and_said(source, quick):
    made, (said,) = plan_of(source, {**quick, "objective": "focal", "loss": {"gamma": 3.0}})
    assert said.startswith("not taken from the settings file")
    assert "loss.gamma" in said
    assert {run.settings.objective for run in made.runs} == {"bce", "zlpr"}

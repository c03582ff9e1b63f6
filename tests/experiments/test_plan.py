"""Every run before the first: keys tell runs apart, and only by what moves their result."""

import pytest

from tagwright.experiments.plan import plan, read_sources, said_settings
from tagwright.experiments.recipe import read_recipe

RECIPE = """
title = "A table"
paper = "A paper"
note = "Its numbers"
metric = "accuracy"
seeds = 2
data = ["things"]
encoders = ["cnn"]
baseline = "plain"

[[variants]]
name = "plain"
objective = "cross_entropy"

[[variants]]
name = "other"
objective = "kwls"
data = ["things"]

[[cuts]]
name = "whole"

[[cuts]]
name = "in turn"
each = 10
labels = ["city", "tool"]
"""


@pytest.fixture
def recipe(tmp_path, rows_of, write_csv):
    """A recipe with its data beside it."""
    for seed, (name, count) in enumerate([("train", 90), ("test", 41)]):
        write_csv(tmp_path / "things" / f"{name}.csv", rows_of(count, seed=seed, many=False))
    (tmp_path / "mine.toml").write_text(RECIPE)
    return read_recipe(str(tmp_path / "mine.toml"))


@pytest.fixture
def planned(recipe):
    """The runs with some options."""

    def made(*, seeds=2, device=None, more=(), only=()):
        sources = read_sources(recipe, ["things"], recipe.folder, more)
        return plan(recipe, sources, only=only, seeds=seeds, device=device, more=more)

    return made


def test_every_run_has_a_key_of_its_own(planned, recipe):
    runs = planned()
    assert len({run.key for run in runs}) == len(runs) == recipe.runs == 12


def test_runs_that_share_data_come_together_and_seeds_are_whole_early(planned):
    places = [(run.cut.name, run.part, run.seed, run.variant) for run in planned()]
    assert [place[2:] for place in places[:4]] == [
        (0, "plain"),
        (0, "other"),
        (1, "plain"),
        (1, "other"),
    ]
    assert [part for _, part, *_ in places] == [""] * 4 + ["city"] * 4 + ["tool"] * 4


def test_keys_do_not_depend_on_the_device_and_do_on_settings(planned):
    keys = [run.key for run in planned()]
    assert [run.key for run in planned(device="cpu")] == keys
    assert not {run.key for run in planned(more=["fit.epochs=3"])} & set(keys)


def test_keys_depend_on_the_texts_of_test(planned, recipe, rows_of, write_csv):
    keys = [run.key for run in planned()]
    write_csv(recipe.folder / "things" / "test.csv", rows_of(41, seed=9, many=False))
    assert not {run.key for run in planned()} & set(keys)


def test_a_cut_is_in_the_settings_and_counted_in_train_alone(planned, recipe):
    runs = [run for run in planned(seeds=1) if run.part == "city"]
    counts = read_sources(recipe, ["things"], recipe.folder, ())["things"].counts
    assert [dict(run.settings.split.keep) for run in runs] == [
        {"city": round(counts["city"] / 10)}
    ] * 2
    assert sum(counts.values()) < 90


def test_settings_of_a_variant_are_said_with_where_they_hold(recipe):
    assert list(said_settings(recipe, [])) == ["plain", "other (things)"]

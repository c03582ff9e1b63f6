"""Recipes: what they hold, how a grid unfolds, what is wrong with one."""

import tomllib

import pytest

from tagwright.errors import SettingsError
from tagwright.experiments.recipe import TrainCut, narrowed, read_recipe
from tagwright.storage import toml

TOP = """
title = "A table"
paper = "A paper"
note = "Its numbers"
metric = "accuracy"
seeds = 2
data = ["one", "two"]
encoders = ["cnn", "bow"]
baseline = "plain"

[settings.fit]
epochs = 3

[settings_of.two]
fit = { batch = 7 }

[[variants]]
name = "plain"
objective = "bce"
settings.loss.labels = "mean"

[[variants]]
name = "masked"
objective = "maskloss-label"
data = ["one"]
encoders = ["cnn"]
settings.mask.draw = "example"
grid."mask.plain_share" = [0.0, 0.5]
grid."fit.batch" = [8, 16, 32]
"""
CUTS = """
[[cuts]]
name = "whole"

[[cuts]]
name = "rare"
data = ["one"]
each = 100
labels = ["a", "b", "c"]
"""


@pytest.fixture
def recipe_of(tmp_path):
    """A recipe from its text."""

    def made(text=TOP + CUTS):
        (tmp_path / "mine.toml").write_text(text)
        return read_recipe(str(tmp_path / "mine.toml"))

    return made


def test_metrics_beside_and_amounts_may_be_asked_for(recipe_of):
    assert (recipe_of().also, recipe_of().amounts) == ((), False)
    asked = recipe_of(
        TOP.replace("seeds = 2", 'seeds = 2\nalso = ["macro_f2", "lrap"]\namounts = true')
    )
    assert (asked.also, asked.amounts) == (("macro_f2", "lrap"), True)


def test_a_grid_is_a_variant_for_every_point(recipe_of):
    found = {variant.name: variant.settings for variant in recipe_of().of("one", "cnn")}
    assert len(found) == 1 + 2 * 3
    assert found["masked plain_share 0.5 batch 16"] == {
        "objective": "maskloss-label",
        "mask": {"draw": "example", "plain_share": 0.5},
        "fit": {"batch": 16},
    }


def test_a_variant_runs_where_it_says(recipe_of):
    recipe = recipe_of()
    assert [variant.name for variant in recipe.of("one", "bow")] == ["plain"]
    assert [variant.name for variant in recipe.of("two", "cnn")] == ["plain"]


def test_the_baseline_comes_first(recipe_of):
    text = TOP.replace('baseline = "plain"', 'baseline = "last"')
    text += '[[variants]]\nname = "last"\nobjective = "zlpr"\n'
    assert [variant.name for variant in recipe_of(text).of("two", "cnn")] == ["last", "plain"]


def test_runs_are_counted_over_variants_parts_and_seeds(recipe_of):
    whole, rare = (7 + 1 + 1 + 1) * 2, (7 + 1) * 3 * 2
    assert recipe_of().runs == whole + rare
    assert recipe_of(TOP).runs == whole


def test_settings_come_over_each_other(recipe_of):
    recipe = recipe_of()
    masked = next(
        variant for variant in recipe.variants if variant.name == "masked plain_share 0.0 batch 32"
    )
    plain = recipe.variants[0]
    assert recipe.given("two", "bow", plain) == {
        "encoder": {"name": "bow"},
        "fit": {"epochs": 3, "batch": 7},
        "objective": "bce",
        "loss": {"labels": "mean"},
    }
    assert recipe.given("two", "cnn", masked)["fit"] == {"epochs": 3, "batch": 32}


def test_each_cuts_in_turn_and_together_at_once():
    counts = {"a": 1234, "b": 40, "c": 7}
    assert TrainCut(each=100, labels=("a", "b")).parts(counts) == {"a": {"a": 12}, "b": {"b": 1}}
    assert TrainCut(together=10, labels=("a", "b")).parts(counts) == {"": {"a": 123, "b": 4}}
    assert TrainCut(keep={"c": 3}).parts(counts) == {"": {"c": 3}}
    assert TrainCut().parts(counts) == {"": {}}


def test_a_label_that_the_data_do_not_have_is_an_error():
    with pytest.raises(SettingsError, match="label of the cut 'x' 'sport'; did you mean 'sports'"):
        TrainCut(name="x", each=100, labels=("sport",)).parts({"sports": 12})


def test_only_narrows_each_kind_by_itself_and_keeps_the_baseline(recipe_of):
    recipe = recipe_of()
    found = narrowed(recipe, ["one", "whole", "masked plain_share 0.0 batch 8", "cnn"])
    assert [(data, encoder, cut.name) for data, encoder, cut, _ in found] == [
        ("one", "cnn", "whole")
    ]
    assert [variant.name for variant in found[0][3]] == ["plain", "masked plain_share 0.0 batch 8"]
    assert len(narrowed(recipe, ["masked", "cnn", "one", "rare"])[0][3]) == 7
    assert len(narrowed(recipe, [])) == 6


def test_an_unknown_only_is_an_error_with_the_nearest(recipe_of):
    with pytest.raises(SettingsError, match="'mask'; did you mean 'masked'"):
        narrowed(recipe_of(), ["mask"])


def test_an_unknown_recipe_is_an_error_with_the_nearest():
    with pytest.raises(
        SettingsError, match=r"'masklos'; did you mean 'maskloss'\?.*or the path of a .toml file"
    ):
        read_recipe("masklos")


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(SettingsError, match="no settings file"):
        read_recipe(str(tmp_path / "nowhere.toml"))


FAULTS = {
    "no title": ('title = "A table"\n', "", "the recipe has no title"),
    "a wrong key": (
        "seeds = 2",
        "seeds = 2\nsede = 1",
        "unknown key of the recipe 'sede'; did you mean 'seeds'",
    ),
    "a wrong type": (
        "seeds = 2",
        'seeds = "2"',
        "seeds of the recipe must be of type int, got '2'",
    ),
    "no seeds": ("seeds = 2", "seeds = 0", "seeds of the recipe must be at least 1, got 0"),
    "a variant without a name": ('name = "plain"\n', "", r"\[\[variants\]\] 1 has no name"),
    "a cut two ways": (
        "each = 100",
        "each = 100\ntogether = 3",
        r"\[\[cuts\]\] 2 takes keep, or labels with",
    ),
    "a cut of no labels": (
        'labels = ["a", "b", "c"]',
        "",
        r"\[\[cuts\]\] 2 takes keep, or labels with",
    ),
    "another data set": (
        'data = ["one"]\nenc',
        'data = ["on"]\nenc',
        "unknown one of data 'on'; did you mean 'one'",
    ),
    "settings of nobody": (
        "settings_of.two",
        "settings_of.twoo",
        "settings_of 'twoo'; did you mean 'two'",
    ),
    "no baseline": (
        'baseline = "plain"',
        'baseline = "p"',
        "baseline 'p' is no variant on one, cnn; there are plain",
    ),
    "a metric twice": (
        "seeds = 2",
        'seeds = 2\nalso = ["accuracy"]',
        "mine: each metric is shown once",
    ),
    "another metric beside": (
        "seeds = 2",
        'seeds = 2\nalso = ["macro_f3"]',
        "'macro_f3'; did you mean 'macro_f",
    ),
    "a number for yes": (
        "seeds = 2",
        "seeds = 2\namounts = 1",
        "amounts of the recipe must be of type bool, got 1",
    ),
    "yes for a number": (
        "seeds = 2",
        "seeds = true",
        "seeds of the recipe must be of type int, got True",
    ),
    "another metric": (
        'metric = "accuracy"',
        'metric = "acuracy"',
        "'acuracy'; did you mean 'accuracy'",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told(recipe_of, name):
    before, after, message = FAULTS[name]
    assert before in TOP + CUTS
    with pytest.raises(SettingsError, match=message):
        recipe_of((TOP + CUTS).replace(before, after, 1))


def test_all_faults_come_at_once(recipe_of):
    with pytest.raises(SettingsError) as caught:
        recipe_of(TOP.replace("seeds = 2", "").replace('title = "A table"', "titel = 3"))
    assert len(str(caught.value).splitlines()) == 3


def test_two_rows_of_one_name_are_refused(recipe_of):
    text = TOP + '[[variants]]\nname = "plain"\nobjective = "zlpr"\n'
    with pytest.raises(SettingsError, match="several variants on one, cnn are named plain"):
        recipe_of(text)


def test_settings_of_a_recipe_can_be_written_again(recipe_of):
    assert tomllib.loads(toml.dumps(recipe_of().settings)) == {"fit": {"epochs": 3}}

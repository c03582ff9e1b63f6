"""Every recipe that comes with the package is whole: it parses, its settings resolve, it is as large as it says."""

from pathlib import Path

import pytest

from tagwright.assemble.planned import _placed
from tagwright.assemble.recipes import names, read_recipe
from tagwright.settings import resolve

RUNS = {
    "kwls": 4 * 3 * 6 * 3,
    "kwls-few": 10 * 2 * 6 * 3,
    "kwls-late": 2 * 5 * 3,
    "kwls-unbalanced": (4 + 3) * 2 * 6 * 3,
    "maskloss": 2 * 2 * 9 * 5,
    "maskloss-tau": 2 * 2 * 10 * 3,
}


def variants():
    for name in names():
        recipe = read_recipe(name)
        for data, encoder in dict.fromkeys((data, encoder) for data, encoder, _ in recipe.cells()):
            for variant in recipe.of(data, encoder):
                yield pytest.param(recipe, data, encoder, variant, id=f"{name}-{data}-{encoder}-{variant.name}")


def test_every_recipe_is_known_here():
    assert sorted(RUNS) == names()


@pytest.mark.parametrize("name", RUNS)
def test_a_recipe_has_as_many_runs_as_its_table(name):
    assert read_recipe(name).runs == RUNS[name]


@pytest.mark.parametrize("name", RUNS)
def test_a_recipe_says_where_it_comes_from_and_what_to_expect(name):
    recipe = read_recipe(name)
    assert all(len(text) > 10 for text in (recipe.title, recipe.paper, recipe.note))


@pytest.mark.parametrize(("recipe", "data", "encoder", "variant"), list(variants()))
def test_the_settings_of_every_variant_resolve(recipe, data, encoder, variant):
    given = _placed(recipe.given(data, encoder, variant), recipe.folder)
    settings = resolve(given, "one", 5000)
    assert (settings.objective, settings.encoder.name) == (variant.settings["objective"], encoder)


@pytest.mark.parametrize("name", RUNS)
def test_the_labels_of_cuts_and_groups_are_those_of_the_data(name, real_data):
    from tagwright.labels.group_files import read_groups
    from tagwright.labels.space import LabelSpace
    from tagwright.read import read_data

    recipe = read_recipe(name)
    spaces = {data: LabelSpace.of(read_data(real_data / data).first["labels"]) for data in recipe.data}
    for data, _, cut in recipe.cells():
        assert {*cut.labels, *cut.keep} <= set(spaces[data].names)
    for variant in recipe.variants:
        groups = str(variant.settings.get("mask", {}).get("groups", ""))
        for data in variant.data if groups else ():
            listed = {label for labels in read_groups(recipe.folder / groups).values() for label in labels}
            assert listed == set(spaces[data].names)


def test_the_recipe_of_the_docs_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    recipe = read_recipe(str(tmp_path / "mine.toml"))
    for variant in recipe.variants:
        resolve(recipe.given("news", "minilm", variant), "one", 5000)

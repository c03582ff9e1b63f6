"""Every recipe that comes with the package is whole: it parses, its settings resolve, it is as
large as it says.
"""

from pathlib import Path

import numpy as np
import pytest

from tagwright.data.dataset import Size
from tagwright.experiments.plan import _placed
from tagwright.experiments.recipe import names, read_recipe
from tagwright.settings.schema import resolve

RUNS = {
    "bat": 3 * (7 * 4 + 2) * 3,
    "bat-amounts": 3 * 14 * 3,
    "bat-depth": 3 * 7 * 4 * 3,
    "bat-epochs": 3 * 23 * 3,
    "bat-lambda": 3 * 6 * 3,
    "bat-rate": 3 * 6 * 3,
    "combinations": (2 * (6 + 6 + 5 + 5) + (4 + 4 + 3 + 3)) * 3,
    "combinations-one": (7 + 7 + 6) * 2 * 3,
    "first-choice": 4 * 3 * 3,
    "first-choice-one": 6 * 2 * 3,
    "kwls": 4 * 3 * 6 * 3,
    "kwls-few": 10 * 2 * 6 * 3,
    "kwls-late": 2 * 5 * 3,
    "kwls-unbalanced": (4 + 3 + 2 + 5) * 3 * 6 * 3,
    "lm-mtc": 3 * (6 + 6 + 1 + 3) * 3,
    "lm-mtc-lambda": 2 * 7 * 3,
    "lm-mtc-template": 2 * 2 * 8 * 3,
    "maskloss": 2 * 2 * 9 * 5,
    "objectives": 4 * 3 * 6 * 5,
    "objectives-one": 2 * 3 * 6 * 5,
    "maskloss-many": 2 * 13 * 3,
    "maskloss-tau": 2 * 2 * 10 * 3,
    "zlpr": 4 * 3 * 5 * 3,
    "zlpr-ranking": 4 * 2 * 5 * 3,
}


TAGGED = {"ecommerce_zh", "inspec", "conll2003"}  # data sets with a tag for each token


def variants():
    for name in names():
        recipe = read_recipe(name)
        for data, encoder in dict.fromkeys((data, encoder) for data, encoder, _ in recipe.cells()):
            for variant in recipe.of(data, encoder):
                yield pytest.param(
                    recipe, data, encoder, variant, id=f"{name}-{data}-{encoder}-{variant.name}"
                )


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
    settings = resolve(given, "tokens" if data in TAGGED else "one", Size(5000, 5))
    assert (settings.objective, settings.encoder.name) == (variant.settings["objective"], encoder)


@pytest.mark.parametrize("name", RUNS)
def test_the_labels_of_cuts_and_groups_are_those_of_the_data(name, real_data):
    from tagwright.data import read_data
    from tagwright.labels.group_files import read_groups
    from tagwright.labels.space import LabelSpace

    recipe = read_recipe(name)
    texts = [data for data in recipe.data if data not in TAGGED]
    spaces = {data: LabelSpace.of(read_data(real_data / data).first["labels"]) for data in texts}
    for data, _, cut in recipe.cells():
        assert {*cut.labels, *cut.keep} <= set(spaces[data].names if data in spaces else ())
    for variant in recipe.variants:
        groups = str(variant.settings.get("mask", {}).get("groups", ""))
        for data in variant.data if groups else ():
            listed = {
                label for labels in read_groups(recipe.folder / groups).values() for label in labels
            }
            assert listed == set(spaces[data].names)


@pytest.mark.parametrize("name", RUNS)
def test_the_data_have_the_metrics_of_the_recipe(name):
    from tagwright.metrics.of_tokens import require_measured

    recipe = read_recipe(name)
    for data in recipe.data:
        for metric in (recipe.metric, *recipe.also):
            assert require_measured(metric, tagged=data in TAGGED) == metric


BAT = sorted(name for name in RUNS if name.startswith("bat"))


@pytest.mark.parametrize("name", BAT)
def test_taggers_are_trained_as_the_paper_says(name):
    """BAT 5.2.2 and 5.2.3: Adam with its own numbers, the rate of eq. 10, batches of 8, no dropout;
    nothing beside.
    """
    recipe = read_recipe(name)
    assert len(recipe.variants) == len({(one.name, one.encoders) for one in recipe.variants})
    for encoder, variant in (
        (one, variant) for one in recipe.encoders for variant in recipe.of("inspec", one)
    ):
        settings = resolve(recipe.given("inspec", encoder, variant), "tokens", Size(5000, 3))
        fit, shape = settings.fit, settings.as_dict()["encoder"]
        assert (fit.batch, fit.beta2, fit.epsilon, fit.learning_rate) == (8, 0.98, 1e-9, 1.0)
        assert (fit.weight_decay, fit.clip, fit.patience, fit.refit) == (0.0, 0.0, 0, False)
        if name != "bat-epochs":  # which goes through them
            assert fit.epochs == (100 if name in ("bat-depth", "bat-lambda") else 50)
        assert fit.metric == recipe.metric  # the epoch that is kept is chosen by what is compared
        assert (shape["hidden"], shape["heads"], shape["dropout"]) == (128, 4, 0.0)
        assert settings.schedule.name == "bat"
        if "layers 12" not in variant.name and "layers 24" not in variant.name:
            assert settings.schedule.options["warmup"] == 4000


def test_the_weights_of_bat_have_lambda_on_the_own_tag_alone():
    """Counts 6, 3, 1 of 10 tokens: CLA 1,20 weighs an own tag 20 N / n, another N / ((C - 1) n);
    WCE as N / n.
    """
    from tagwright import registry

    recipe, counts = read_recipe("bat"), np.array([6, 3, 1])
    built = {}
    for variant in recipe.of("inspec", "bat"):
        weights = resolve(recipe.given("inspec", "bat", variant), "tokens", Size(5000, 3)).weights
        if weights.name != "none":
            facts = {"label_counts": counts, "row_count": 10}
            built[variant.name] = registry.build("weights", weights.name, weights.options, **facts)
    assert built["cla-1-20"].positive == pytest.approx([20 * 10 / n for n in counts])
    assert built["cla-1-20"].of_gold == pytest.approx([10 / (2 * n) for n in counts])
    assert built["pbp-0-8"].positive == pytest.approx([8 * 10 / n for n in counts])
    assert built["pbp-0-8"].negative == pytest.approx([10 / (10 - n) for n in counts])
    assert built["wce"].positive / built["wce"].positive[0] == pytest.approx(
        [6 / n for n in counts]
    )
    assert built["wce"].negative is None
    assert sorted(built) == ["cl-1-20", "cla-1-20", "pbp-0-8", "pbpa-0-8", "wce"]


def test_deep_models_have_the_rates_of_the_appendix():
    recipe = read_recipe("bat-depth")
    found = {}
    for encoder in recipe.encoders:
        for variant in recipe.of("inspec", encoder):
            settings = resolve(
                recipe.given("inspec", encoder, variant), "tokens", Size(5000, 3)
            ).as_dict()
            pace = settings["schedule"]
            found[encoder, settings["encoder"]["layers"]] = (
                pace["warmup"],
                round(1 / pace["scale"], 9),
            )
    assert {found[encoder, depth] for encoder in recipe.encoders for depth in (4, 6)} == {(4000, 1)}
    assert {found[encoder, 12] for encoder in recipe.encoders} == {(8000, 3)}
    deepest = {encoder: found[encoder, 24] for encoder in recipe.encoders}
    assert deepest == dict.fromkeys(("admin", "muse", "performer", "informer"), (8000, 3)) | {
        "bat": (8000, 5),
        "switch": (8000, 10),
        "transformer": (12000, 10),
    }


def test_the_rates_of_table_1_are_those_of_the_text():
    recipe = read_recipe("bat-rate")
    found = {
        one.name: tuple(one.settings["schedule"][key] for key in ("decay", "scale"))
        for one in recipe.variants
    }
    v3, v4 = 6 / 13, 7 / 15
    expected = {"v1": (0.5, 1.0), "v2": (6 / 11, 1.0), "v3": (v3, 1.0), "v3.1": (v3, 0.999)}
    assert found == expected | {"v4.1": (v4, 1.001), "v5": (11 / 20, 1.0)}


def test_the_recipe_of_the_docs_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(
        page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8"
    )
    recipe = read_recipe(str(tmp_path / "mine.toml"))
    for variant in recipe.variants:
        resolve(recipe.given("news", "minilm", variant), "one", Size(5000, 5))

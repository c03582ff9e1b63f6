"""A recipe of taggers from its file to its tables: what is counted are tokens and spans."""

import json

import numpy as np
import pytest

from tagwright.data import read_data
from tagwright.data.dataset import Size
from tagwright.errors import SettingsError
from tagwright.inference.score import score
from tagwright.inference.spans import given_tokens, token_scores
from tagwright.pipelines.reproduce import reproduce, write_tables
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.train import fit

ENCODER = {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 2, "feed": 8}
FIT = {"epochs": 4, "batch": 8, "learning_rate": 0.03, "patience": 0}
RECIPE = """
title = "A table of taggers"
paper = "A paper"
note = "Its numbers"
metric = "macro_f1"
also = ["macro_f2", "entity_f1"]
amounts = true
seeds = 2
data = ["places"]
encoders = ["bat", "transformer"]
baseline = "plain"

[settings]
encoder = { width = 8, hidden = 8, layers = 1, heads = 2, feed = 8 }
fit = { epochs = 4, batch = 8, learning_rate = 0.03, patience = 0 }

[[variants]]
name = "plain"
objective = "cross_entropy"

[[variants]]
name = "array"
objective = "cecl-array"
settings.weights.positive_scale = 20.0
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory, tagged_sets):
    """The recipe's folder, and what was made of it."""
    home = tmp_path_factory.mktemp("recipe")
    (home / "mine.toml").write_text(RECIPE)
    return home, reproduce(str(home / "mine.toml"), data=tagged_sets, out=home / "out")


@pytest.fixture(scope="module")
def model(tagged_sets):
    """The first run's model, trained without a recipe."""
    data = read_data(tagged_sets / "places")
    settings = resolve(
        {"objective": "cross_entropy", "encoder": ENCODER, "fit": FIT}, "tokens", Size(60, 0)
    )
    return fit(prepare(data, settings), settings).model, data


def first_row(home):
    return json.loads((home / "out" / "results.jsonl").read_text().splitlines()[0])


def test_every_run_ends_and_the_tables_speak_of_tokens(made):
    home, done = made
    assert (done.facts.finished, done.failed) == (8, 0)
    page = (home / "out" / "results.md").read_text()
    tokens = first_row(home)["tokens"]
    assert page.count(f"31 texts of test with {tokens} tokens.") == 2
    assert (
        "| variant | macro_f1 | macro_f2 | entity_f1 | seeds | difference in macro_f1 | over seeds"
        " | | seconds" in page
    )
    assert "| places | bat | transformer |" in page


def test_scores_are_those_of_fit_and_score(made, model):
    expected = score(*model, split="test").as_dict()["metrics"]
    row = first_row(made[0])
    for name in ("macro_f1", "macro_f2", "entity_f1", "macro_f1_without_o", "accuracy"):
        assert row["scored"][name] == pytest.approx(expected[name]), name
    assert row["scored"]["entity_f1"] > 0
    assert row["right"] is None


def test_amounts_are_tokens_of_each_type_counted_one_by_one(made, model):
    tagger, data = model
    table = data.tables["test"]
    words = given_tokens(table["tokens"])[1]
    names = tagger.heads["main"].space.names
    chosen = [names[n] for n in token_scores(tagger, words.words, words.offsets).chosen.argmax(1)]
    true = [tag for tags in table["tags"].to_pylist() for tag in tags]
    counted = {
        kind: [sum(tag.endswith(kind) for tag in tags) for tags in (chosen, true)]
        for kind in ("CITY", "FRUIT")
    }
    assert first_row(made[0])["amounts"] == counted


def test_tables_alone_are_the_same(made):
    home, done = made
    assert repr(write_tables(str(home / "mine.toml"), out=home / "out").facts.tables) == repr(
        done.facts.tables
    )


def test_words_go_by_seeds_alone(made):
    for line in (line for table in made[1].facts.tables for line in table.lines):
        assert line.over_texts == line.over_seeds
        assert all(
            len(scores) == 2 and np.isfinite(scores).all() for scores in line.beside.values()
        )


def test_a_tag_that_train_does_not_have_is_told_and_counts_as_outside(tagged_sets, tmp_path):
    (tmp_path / "places").mkdir()
    for name in ("train", "dev", "test"):
        text = (tagged_sets / "places" / f"{name}.jsonl").read_text()
        (tmp_path / "places" / f"{name}.jsonl").write_text(text)
    row = {"tokens": ["rare", "pear"], "tags": ["B-RARE", "B-FRUIT"]}
    with (tmp_path / "places" / "test.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    (tmp_path / "mine.toml").write_text(RECIPE)
    done = reproduce(
        str(tmp_path / "mine.toml"),
        data=tmp_path,
        out=tmp_path / "out",
        only=["bat", "plain"],
        seeds=1,
        more=["fit.epochs=1"],
    )
    assert (
        "1 tokens of test have tags that train does not have; they count as O"
        in done.facts.tables[0].notes
    )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('metric = "macro_f1"', 'metric = "lrap"', "lrap is not measured where tokens are tagged"),
        ('"entity_f1"]', '"lrap"]', "lrap is not measured where tokens are tagged"),
    ],
    ids=["compared", "beside"],
)
def test_a_metric_that_tokens_do_not_have_is_refused_before_any_run(
    tagged_sets, tmp_path, before, after, message
):
    (tmp_path / "mine.toml").write_text(RECIPE.replace(before, after))
    with pytest.raises(SettingsError, match=message):
        reproduce(str(tmp_path / "mine.toml"), data=tagged_sets, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_recipe_of_the_package_runs_on_a_small_set(tagged_sets, tmp_path):
    (tmp_path / "inspec").symlink_to(tagged_sets / "places")
    options = {
        "only": ["inspec", "bat", "pbp-0-8"],
        "seeds": 1,
        "more": ["fit.epochs=0.2", "encoder.layers=1"],
    }
    done = reproduce("bat", data=tmp_path, out=tmp_path / "out", **options)
    assert (done.facts.finished, done.failed) == (2, 0)

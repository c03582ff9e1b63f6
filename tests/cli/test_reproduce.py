"""`tagwright reproduce`."""

import csv

import pytest

RECIPE = """
title = "A table"
paper = "A paper"
note = "Its numbers"
metric = "accuracy"
seeds = 2
data = ["things"]
encoders = ["bow"]
baseline = "plain"
settings.fit.epochs = 1

[[variants]]
name = "plain"
objective = "cross_entropy"

[[variants]]
name = "hinge"
objective = "squared_hinge"
"""


@pytest.fixture
def recipe(tmp_path):
    """The path of a recipe, with its data beside it."""
    (tmp_path / "things").mkdir()
    for name, count in (("train", 60), ("dev", 51), ("test", 41)):
        with (tmp_path / "things" / f"{name}.csv").open("w", newline="") as file:
            words = [("paris", "city") if n % 2 else ("hammer", "tool") for n in range(count)]
            rows = [(f"{word} {name}{n}", label) for n, (word, label) in enumerate(words)]
            csv.writer(file).writerows([("text", "label"), *rows])
    path = tmp_path / "mine.toml"
    path.write_text(RECIPE)
    return path


def test_the_list_says_what_every_recipe_needs(call):
    done = call("reproduce", "--list")
    assert done.code == 0
    for words in (
        "maskloss",
        "trec_fine",
        "minilm",
        "53.7 / 54.8 / 54.9",
        "180 runs with 5 seeds each, about 10 minutes",
    ):
        assert words in done.out
    found = {
        entry["name"]: entry for entry in call("reproduce", "--list", "--json").json["recipes"]
    }
    assert found["kwls"]["data"] == ["ag_news_part", "imdb_part", "yelp5_part", "dbpedia_part"]


def test_tables_go_to_stdout_and_a_line_a_run_to_stderr(call, recipe, tmp_path):
    done = call("reproduce", recipe, "--data", tmp_path, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert done.out.startswith("# A table")
    assert "| plain |" in done.out
    assert done.err.count("\nrun ") == 4
    again = call("reproduce", recipe, "--data", tmp_path, "--out", tmp_path / "out", "--json")
    assert "4 runs, 4 of them are there" in again.err
    assert again.json["finished"] == 4
    assert len(again.json["tables"][0]["lines"]) == 2
    shown = call("reproduce", recipe, "--out", tmp_path / "out", "--tables")
    assert shown.code == 0, shown.err
    assert done.out.splitlines()[-3:] == shown.out.splitlines()[-3:]


def test_a_failed_run_is_exit_code_1_after_the_others(call, recipe, tmp_path):
    recipe.write_text(RECIPE.replace("squared_hinge", "squared_hing"))
    done = call("reproduce", recipe, "--data", tmp_path, "--out", tmp_path / "out", "--seeds", 1)
    assert done.code == 1
    assert "1 run failed" in done.err
    assert "did you mean 'squared_hinge'" in done.out


def test_ctrl_c_says_how_to_go_on(call, recipe, tmp_path, monkeypatch):
    from tagwright.experiments import runs as module

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "fit", stop)
    done = call("reproduce", recipe, "--data", tmp_path, "--out", tmp_path / "out")
    assert done.code == 130
    assert "finished runs are kept, go on with the same command" in done.err


def test_without_a_name_the_recipes_are_listed(call):
    done = call("reproduce")
    assert done.code == 2
    assert "name a recipe: bat, " in done.err

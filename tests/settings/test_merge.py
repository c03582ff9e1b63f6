"""Settings from several places: who wins, what a named part discards, and that every route leads to
one result.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given as drawn
from hypothesis import settings as budget
from hypothesis import strategies as st

from tagwright.errors import SettingsError
from tagwright.experiments.recipe import Recipe, Variant
from tagwright.integrations.parameters import given_settings
from tagwright.settings import presets
from tagwright.settings.merge import assigned, dotted, merge, read_settings, side_by_side
from tagwright.settings.schema import resolve
from tagwright.storage import toml


@pytest.mark.parametrize(
    ("assignment", "section", "key", "value"),
    [
        ("fit.epochs=3", "fit", "epochs", 3),
        ("fit.learning_rate = 2e-3", "fit", "learning_rate", 0.002),
        ("fit.refit=true", "fit", "refit", True),
        ("encoder.windows=[2, 3]", "encoder", "windows", [2, 3]),
        ("schedule.warmup=1/8", "schedule", "warmup", 0.125),
        ("data.separator=|", "data", "separator", "|"),
        ("data.separator==", "data", "separator", "="),
        ('data.text="a,b"', "data", "text", "a,b"),
        ("data.text=a,b", "data", "text", "a,b"),
    ],
)
def test_set_takes_toml_fractions_and_bare_words(assignment, section, key, value):
    assert assigned([assignment]) == {section: {key: value}}


def test_set_without_a_key_names_the_part():
    assert assigned(["encoder=lstm"]) == {"encoder": {"name": "lstm"}}


def test_set_adds_an_option_to_a_part_given_by_name():
    assert assigned(["encoder=cnn", "encoder.filters=4"]) == {
        "encoder": {"name": "cnn", "filters": 4}
    }


@pytest.mark.parametrize("assignment", ["fit.epochs", "=3", "fit.=3", ""])
def test_set_without_key_or_value_is_an_error_with_an_example(assignment):
    with pytest.raises(SettingsError, match=r"section\.key=value"):
        assigned([assignment])


def test_a_settings_file_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        read_settings(tmp_path / "nowhere.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[fit]\nepochs = \n")
    with pytest.raises(SettingsError, match=r"broken\.toml.*line 2"):
        read_settings(broken)


def test_a_settings_file_that_is_not_utf8_is_named(tmp_path):
    broken = tmp_path / "latin.toml"
    broken.write_bytes(b'objective = "\xe9"\n')
    with pytest.raises(SettingsError, match=r"latin\.toml"):
        read_settings(broken)


def test_a_folder_as_settings_file_is_a_clear_error(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path)


ENCODERS = {"cnn": {"filters": 5}, "lstm": {"hidden": 6}, "bow": {}}
OBJECTIVES = {
    "focal": {"loss.gamma": 3.0},
    "zlpr": {"mask.name": "groups"},
    "maskloss-label": {"mask.plain_share": 0.25},
    "kwls": {"soft.alpha": 0.5, "targets.b": 0.5},
    "classifier-chain": {"fit.cost": 3.0},
}


@st.composite
def choices(draw):
    """Settings by their dotted names, names of parts before their options."""
    encoder, objective = (
        draw(st.sampled_from(sorted(ENCODERS))),
        draw(st.sampled_from(sorted(OBJECTIVES))),
    )
    named = {"objective": objective, "encoder.name": encoder}
    options = {f"encoder.{key}": value for key, value in ENCODERS[encoder].items()} | OBJECTIVES[
        objective
    ]
    options |= {"fit.epochs": 2.0, "fit.batch": 8, "split.dev_share": 0.2, "schedule.warmup": 0.25}
    kept = draw(st.sets(st.sampled_from(sorted(options))))
    return {**named, **{key: value for key, value in options.items() if key in kept}}


def in_toml(chosen):
    return "\n".join(toml.dumps(dotted({key: value})) for key, value in chosen.items())


@budget(max_examples=60, deadline=None)
@drawn(chosen=choices(), cut=st.integers(0, 12), data=st.data())
def test_every_route_to_the_same_choices_resolves_to_equal_settings(chosen, cut, data):
    wanted = resolve(dotted(chosen))
    pairs = list(chosen.items())
    low, high = dict(pairs[:cut]), dict(pairs[cut:])
    as_strings = [f"{key.removesuffix('.name')}={value}" for key, value in chosen.items()]
    if "objective" in high:  # what an objective governs below its own level is discarded
        low, high = {}, chosen
    routes = {
        "--set": assigned(as_strings),
        "--set in any order": assigned(data.draw(st.permutations(as_strings))),
        "file, then options": merge(dotted(low), dotted(high)),
        "options beside --set": side_by_side(dotted(low), assigned(as_strings[cut:])),
        "a file of anything else below": merge(
            {
                "objective": "bce",
                "loss": {"name": "bce"},
                "encoder": {"name": "hybrid", "depth": 3},
            },
            dotted(chosen),
        ),
        "what was given, again": wanted.given,
        "the resolved settings, again": wanted.as_dict(),
    }
    for route, given in routes.items():
        assert resolve(given) == wanted, route


@budget(max_examples=30, deadline=None)
@drawn(chosen=choices())
def test_python_and_a_recipe_lead_to_the_same_settings_as_a_file(chosen):
    wanted = resolve(dotted(chosen))
    rest = {key: value for key, value in chosen.items() if key not in ("objective", "encoder.name")}
    named = {"objective": chosen["objective"], "encoder": chosen["encoder.name"]}
    python = dict.fromkeys(
        ("epochs", "batch", "learning_rate", "seed", "device", "dev_share", "decide")
    )
    estimator = SimpleNamespace(**{**python, **named, "settings": dotted(rest)})
    variant = Variant(
        name="v", family="v", settings=dotted({**rest, "objective": chosen["objective"]})
    )
    recipe = Recipe(
        **dict.fromkeys(("name", "title", "paper", "note", "metric", "baseline"), "v"),
        folder=Path(),
        seeds=1,
        data=("d",),
        encoders=(chosen["encoder.name"],),
        variants=(variant,),
    )
    assert resolve(given_settings(estimator)) == wanted
    assert resolve(recipe.given("d", chosen["encoder.name"], variant)) == wanted


@pytest.mark.parametrize("objective", presets.names())
def test_an_objective_over_a_file_of_any_other_is_as_if_it_were_chosen_alone(objective):
    alone = resolve({"objective": objective})
    for other in ("focal", "maskloss-label", "kwls", "lm-mtc", "classifier-chain"):
        over = resolve(merge(resolve({"objective": other}).as_dict(), {"objective": objective}))
        parts_of = {
            name: getattr(over, name) for name in ("loss", "targets", "mask", "weights", "soft")
        }
        assert parts_of == {name: getattr(alone, name) for name in parts_of}, other
        assert over.head.name == alone.head.name or other == objective, other


def test_a_loss_in_a_file_does_not_outlive_another_objective():
    """A file with [loss] focal made `--objective zlpr` train focal loss under the name of zlpr."""
    lost: list[str] = []
    made = merge({"loss": {"name": "focal", "gamma": 3.0}}, {"objective": "zlpr"}, discarded=lost)
    assert resolve(made).loss.name == "zlpr"
    assert lost == ["loss.name", "loss.gamma"]


@pytest.mark.parametrize("below", [{"objective": "zlpr"}, {"objective": "focal"}, {}])
def test_an_objective_means_the_same_over_every_file(below):
    """The same objective again kept a file's mask and loss, and was compared with others that did
    not.
    """
    low = {
        **below,
        "mask": {"name": "groups"},
        "loss": {"name": "bce"},
        "soft": {"alpha": 0.5},
        "fit": {"batch": 8},
    }
    lost: list[str] = []
    assert merge(low, {"objective": "zlpr"}, discarded=lost) == {
        "objective": "zlpr",
        "fit": {"batch": 8},
    }
    assert lost == ["loss.name", "mask.name", "soft.alpha"]


def test_an_objective_that_is_solved_is_solved_over_a_file_with_another_optimizer():
    made = merge({"fit": {"optimizer": "sgd", "epochs": 2}}, {"objective": "binary-relevance"})
    assert made == {"objective": "binary-relevance", "fit": {"epochs": 2}}


def test_a_regularizer_that_is_left_out_below_is_said_when_an_objective_brings_it_back():
    lost: list[str] = []
    merge({"objective": "bce", "mlm": "none"}, {"objective": "lm-mtc"}, discarded=lost)
    assert lost == ["mlm"]


def test_what_was_given_names_the_parts_that_its_options_were_meant_for():
    """Given back under another part, options without a name were taken for that part's."""
    given = resolve({"encoder": {"filters": 4}, "loss": {"gamma": 3.0}}).given
    assert given["encoder"] == {"name": "cnn", "filters": 4}
    assert (given["objective"], given["loss"]) == ("focal", {"name": "focal", "gamma": 3.0})
    assert (
        resolve(merge(given, {"encoder": "bow", "loss": "zlpr"})).loss
        == resolve({"loss": "zlpr"}).loss
    )
    assert resolve({"fit": {"epochs": 2}}).given == {"fit": {"epochs": 2}}


def test_in_python_parameters_and_settings_are_one_level_unless_they_name_different_parts():
    none = dict.fromkeys(
        ("epochs", "batch", "learning_rate", "seed", "device", "dev_share", "decide", "encoder")
    )
    beside = SimpleNamespace(**none, objective="zlpr", settings={"mask": "groups"})
    over = SimpleNamespace(
        **none, objective="zlpr", settings={"objective": "focal", "mask": "groups"}
    )
    assert resolve(given_settings(beside)).mask.name == "groups"
    assert resolve(given_settings(over)).mask.name == "none"


def test_another_encoder_discards_the_options_of_the_one_below():
    lost: list[str] = []
    made = merge({"encoder": {"name": "lstm", "hidden": 8}}, {"encoder": "cnn"}, discarded=lost)
    assert resolve(made).encoder == resolve({"encoder": "cnn"}).encoder
    assert lost == ["encoder.hidden"]


def test_a_head_by_its_name_in_a_file_takes_options_from_the_command():
    """`head = "document"` in a file and --head-chunk was a traceback."""
    assert merge({"head": "document"}, {"head": {"chunk": 64}}) == {
        "head": {"name": "document", "chunk": 64}
    }


def test_labels_to_keep_are_merged_label_by_label():
    made = merge({"split": {"keep": {"a": 3, "b": 1}}}, {"split": {"keep": {"b": 2}}})
    assert made == {"split": {"keep": {"a": 3, "b": 2}}}


def test_merging_leaves_its_levels_as_they_were():
    low, high = (
        {"encoder": {"name": "cnn"}, "fit": {"epochs": 1}},
        {"encoder": {"filters": 3}, "fit": {"batch": 2}},
    )
    before = repr((low, high))
    merge(low, high)
    assert repr((low, high)) == before

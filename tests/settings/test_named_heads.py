"""Settings of several heads: what each has of its own, what they share, and what of it is
refused.
"""

import tomllib

import pytest
from hypothesis import given as drawn
from hypothesis import settings as budget
from hypothesis import strategies as st

from tagwright.errors import SettingsError
from tagwright.settings.merge import assigned, merge, side_by_side
from tagwright.settings.named_heads import given_alone, sources
from tagwright.settings.schema import resolve
from tagwright.storage import toml

TASKS = {"topic": "one", "flags": "many", "spans": "tokens"}
OWN = {
    "objective": ["bce", "zlpr", "focal"],
    "weight": [0.5, 2.0],
    "labels": ["a column", "b"],
    "targets.name": ["hard", "smooth"],
    "decide.name": ["zero", "topk"],
}


def resolved(given, **tasks):
    return resolve(given, "many", None, tasks or {name: TASKS[name] for name in given["heads"]})


def test_a_head_has_the_defaults_of_its_task():
    settings = resolved({"heads": {"topic": {}, "flags": {}}})
    assert (settings.of("topic").objective, settings.of("flags").objective) == (
        "cross_entropy",
        "focal",
    )
    assert resolved({"heads": {"topic": {}, "spans": {}}}).of("spans").head.name == "tokens"


def test_a_head_has_its_own_objective_and_shares_encoder_and_run():
    given = {
        "encoder": "lstm",
        "fit": {"epochs": 2},
        "heads": {"topic": {"objective": "bce"}, "flags": {}},
    }
    settings = resolved(given)
    topic, flags = settings.of("topic"), settings.of("flags")
    assert (topic.objective, topic.loss.name, flags.objective) == ("bce", "bce", "focal")
    assert topic.encoder == flags.encoder == settings.encoder
    assert topic.fit == flags.fit == settings.fit


def test_what_stands_outside_holds_for_heads_of_texts_that_say_nothing_else():
    given = {
        "objective": "zlpr",
        "decide": "topk",
        "heads": {"flags": {}, "more": {"decide": "zero"}, "spans": {}},
    }
    settings = resolved(given, flags="many", more="many", spans="tokens")
    assert [settings.of(name).objective for name in given["heads"]] == [
        "zlpr",
        "zlpr",
        "cross_entropy",
    ]
    assert [settings.of(name).decide.name for name in given["heads"]] == ["topk", "zero", "auto"]


def test_an_objective_of_a_head_discards_what_a_lower_level_said_of_that_head_alone():
    below = {
        "heads": {
            "flags": {"objective": "focal", "loss": {"gamma": 3.0}},
            "more": {"loss": {"gamma": 4.0}},
        }
    }
    discarded = []
    merged = merge(
        side_by_side(below), {"heads": {"flags": {"objective": "zlpr"}}}, discarded=discarded
    )
    assert merged["heads"]["flags"] == {"objective": "zlpr"}
    assert merged["heads"]["more"] == {"loss": {"gamma": 4.0}}
    assert "heads.flags.loss.gamma" in discarded


@budget(max_examples=40)
@drawn(
    st.dictionaries(
        st.sampled_from(["topic", "flags"]),
        st.dictionaries(st.sampled_from([*OWN]), st.integers(0, 1)),
    )
)
def test_a_file_and_set_say_the_same_of_heads(chosen):
    lines = [f"heads.{name}.weight=1.0" for name in chosen]
    lines += [
        f"heads.{name}.{key}={toml.scalar(OWN[key][number])}"
        for name, own in chosen.items()
        for key, number in own.items()
    ]
    by_set = assigned(lines)
    by_file = side_by_side(tomllib.loads(toml.dumps(by_set)))
    tasks = {"topic": "one", "flags": "many"}
    assert resolve(by_set, "many", None, tasks) == resolve(by_file, "many", None, tasks)
    again = resolve(by_set, "many", None, tasks)
    assert resolve(tomllib.loads(toml.dumps(again.given)), "many", None, tasks) == again


def test_faults_of_all_heads_are_reported_at_once():
    given = {
        "heads": {
            "topic": {"objectiv": "bce"},
            "flags": {"weight": -1.0, "loss": {"gama": 2}},
            "3x": {},
            "spans": "tags",
            "more": {"objective": "classifier-chain"},
        }
    }
    tasks = dict.fromkeys(given["heads"], "many")
    with pytest.raises(SettingsError) as error:
        resolve(given, "many", None, tasks)
    said = str(error.value)
    for part in (
        "objectiv",
        "heads.flags.weight must be at least 0",
        "gama",
        "[heads.3x]: a head's name is a letter",
        "heads.spans must",
    ):
        assert part in said
    assert "[heads.more] classifier-chain decides how the whole run is trained" in said


def test_a_head_that_the_data_do_not_have_is_named_with_the_nearest():
    with pytest.raises(SettingsError, match="unknown head 'topics'; did you mean 'topic'"):
        resolve({"heads": {"topics": {}}}, "many", None, {"topic": "one"})


def test_regularizers_are_for_all_heads_also_where_one_objective_brings_them():
    settings = resolved(
        {"rdrop": {}, "encoder": {"dropout": 0.1}, "heads": {"topic": {}, "flags": {}}}
    )
    assert [choice.name for choice in settings.of("flags").regularize] == ["rdrop"]
    assert settings.of("flags").regularize == settings.of("topic").regularize


def test_reading_is_told_of_heads_only_where_settings_name_them():
    assert sources({"heads": {"topic": {"labels": "a", "weight": 2.0}}}) == {
        "topic": {"labels": "a"}
    }
    assert sources({"data": {"task": "both"}, "heads": {"tags": {"weight": 2.0}}}) == {}
    assert sources({}) == {}


def test_what_was_given_for_one_head_trains_it_alone():
    given = {
        "objective": "bce",
        "fit": {"seed": 3},
        "heads": {"spans": {"decide": "spans"}, "flags": {}},
    }
    assert given_alone(given, "spans", tags_tokens=True) == {
        "fit": {"seed": 3},
        "decide": {"name": "spans"},
    }
    assert given_alone(given, "flags", tags_tokens=False) == {
        "objective": "bce",
        "fit": {"seed": 3},
    }
    assert given_alone({"objective": "bce", "data": {"text": "a"}}, "main", tags_tokens=False) == {
        "objective": "bce",
        "data": {"text": "a"},
    }

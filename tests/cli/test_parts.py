"""`tagwright parts`."""

from tagwright.parts import KINDS, names


def test_json_is_one_object_with_every_part(call):
    found = call("parts", "--json").json
    assert set(found) == {*KINDS, "objectives"}
    for kind in KINDS:
        assert set(found[kind]) - {"none"} == set(names(kind))
        assert all(part["summary"] for part in found[kind].values())


def test_one_kind_alone(call):
    assert list(call("parts", "losses", "--json").json) == ["losses"]


def test_the_list_is_shown_with_every_name(call):
    done = call("parts", "encoders")
    assert done.code == 0
    assert all(name in done.out + done.err for name in names("encoders"))


def test_what_may_be_left_out_has_none(call):
    found = call("parts", "--json").json
    assert {kind for kind in KINDS if "none" in found[kind]} == {"masks", "weights"}


def test_an_objective_says_what_it_is_made_of(call):
    done = call("parts", "objectives")
    assert done.err == ""
    assert "loss bce (labels=mean), mask groups" in done.out
    assert "loss pbp, weights array" in done.out

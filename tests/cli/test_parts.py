"""`tagwright parts`."""

from tagwright.parts import KINDS, names


def test_json_is_one_object_with_every_part(call):
    found = call("parts", "--json").json
    assert set(found) == {*KINDS, "objectives"}
    for kind in KINDS:
        assert set(found[kind]) == set(names(kind))
        assert all(part["summary"] for part in found[kind].values())


def test_one_kind_alone(call):
    assert list(call("parts", "losses", "--json").json) == ["losses"]


def test_the_list_is_shown_with_every_name(call):
    done = call("parts", "encoders")
    assert done.code == 0
    assert all(name in done.out + done.err for name in names("encoders"))

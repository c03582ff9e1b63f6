"""`tagwright parts`."""

from tagwright.registry import KINDS, names, refresh


def test_json_is_one_object_with_every_part(call):
    found = call("parts", "--json").json
    assert set(found) == {*KINDS, "objectives"}
    for kind in KINDS:
        assert set(found[kind]) - {"none"} == set(names(kind))
        assert all(part["summary"] for part in found[kind].values())


def test_a_broken_part_of_another_package_is_listed_as_such(call, tmp_path, monkeypatch):
    about = tmp_path / "tape-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tape\nVersion: 1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(
        "[tagwright.losses]\nodd = no_such_module:Odd\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    refresh()
    try:
        found = call("parts", "losses", "--json").json["losses"]
        shown = call("parts", "losses")
    finally:
        monkeypatch.undo()
        refresh()
    assert found["bce"]["package"] == "tagwright"
    assert (found["odd"]["package"], found["odd"]["broken"]) == ("tape", True)
    assert "no_such_module" in found["odd"]["summary"]
    assert "odd (tape)" in shown.out + shown.err


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

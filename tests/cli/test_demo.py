"""`tagwright demo`."""

import pytest


@pytest.mark.slow
def test_the_demo_walks_the_whole_road(call, tmp_path):
    done = call("demo", "--out", tmp_path / "demo")
    assert done.code == 0, done.err
    made = {
        p.relative_to(tmp_path / "demo").as_posix()
        for p in (tmp_path / "demo").rglob("*")
        if p.is_file()
    }
    expected = {
        "check.html",
        "comparison/report.html",
        "model/manifest.json",
        "model.run/report.html",
        "tagged.csv",
    }
    assert expected <= made


@pytest.mark.parametrize("flags", [[], ["--overwrite"]])
def test_a_folder_of_another_kind_is_refused_and_unchanged(call, tmp_path, flags):
    (tmp_path / "mine.txt").write_text("x")
    done = call("demo", "--out", tmp_path, *flags)
    assert done.code == 2
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]

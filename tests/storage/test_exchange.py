"""Two folders swap their places."""

from pathlib import Path

import pytest

from tagwright.storage.exchange import exchanged


def folder(path, text):
    path.mkdir()
    (path / "a.txt").write_text(text)
    return path


def test_two_folders_swap_their_content(tmp_path):
    one, other = folder(tmp_path / "one", "1"), folder(tmp_path / "ü", "2")
    if not exchanged(one, other):
        pytest.skip("this system or file system cannot swap folders")
    assert ((one / "a.txt").read_text(), (other / "a.txt").read_text()) == ("2", "1")


def test_a_relative_path_starts_in_the_working_folder(tmp_path, monkeypatch):
    one, other = folder(tmp_path / "one", "1"), folder(tmp_path / "other", "2")
    monkeypatch.chdir(tmp_path)
    swapped = exchanged(Path("one"), Path("other"))
    assert ((one / "a.txt").read_text(), (other / "a.txt").read_text()) == (
        ("2", "1") if swapped else ("1", "2")
    )


def test_what_cannot_be_swapped_stays(tmp_path):
    one = folder(tmp_path / "one", "1")
    assert not exchanged(one, tmp_path / "nowhere")
    assert [p.name for p in tmp_path.iterdir()] == ["one"]

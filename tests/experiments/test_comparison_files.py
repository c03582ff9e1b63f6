"""The folder of a comparison: whose it is, and what is removed from it."""

import pytest

from tagwright.errors import ModelError
from tagwright.experiments.comparison_files import (
    LEDGER,
    PAGES,
    REPORT,
    SUMMARY,
    clear,
    pages_folder,
    require_free_place,
)


@pytest.fixture
def earlier(tmp_path):
    for name in (LEDGER, SUMMARY, REPORT):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    for name in (PAGES, "teachers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inside").touch()
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    return tmp_path


def test_what_an_earlier_comparison_wrote_is_removed_and_nothing_else(earlier):
    clear(earlier)
    assert [path.name for path in earlier.iterdir()] == ["notes.txt"]


def test_clearing_an_empty_folder_is_no_error(tmp_path):
    clear(tmp_path)


def test_an_earlier_comparison_stands_only_where_it_may(earlier):
    with pytest.raises(ModelError, match=r"exists; go on with --resume.*--overwrite"):
        require_free_place(earlier, may_stand=False)
    require_free_place(earlier, may_stand=True)


def test_a_folder_of_others_is_refused_even_to_overwrite(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ModelError, match="comparison"):
        require_free_place(tmp_path, may_stand=True)


def test_without_plots_there_are_no_pages_of_runs(tmp_path, monkeypatch):
    assert pages_folder(tmp_path) == tmp_path / PAGES
    monkeypatch.setattr("tagwright.experiments.comparison_files.can_report", lambda: False)
    assert pages_folder(tmp_path) is None

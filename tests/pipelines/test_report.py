"""The report of a trained model on labelled data."""

import pytest

from tagwright.errors import DataError, SettingsError
from tagwright.pipelines.report import report_folder


def test_the_page_shows_every_label_and_the_texts_escaped(trained, tmp_path, rows_of, write_csv):
    rows = [
        (i, f"{text} <script>alert({i})</script>", labels)
        for i, text, labels in rows_of(40, seed=6)
    ]
    source = write_csv(tmp_path / "a.csv", rows)
    report_folder(trained, str(source), tmp_path / "r.html", split=None, overwrite=False)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert all(label in page for label in ("city", "fruit", "metal", "sport", "tool"))
    assert "<script>alert(" not in page


def test_an_existing_file_is_refused_and_unchanged(trained, source, tmp_path):
    out = tmp_path / "r.html"
    out.write_text("precious")
    with pytest.raises(SettingsError, match="--overwrite"):
        report_folder(trained, str(source), out, split=None, overwrite=False)
    assert out.read_text() == "precious"
    report_folder(trained, str(source), out, split=None, overwrite=True)
    assert out.read_text() != "precious"


def test_a_mistake_writes_nothing(trained, source, tmp_path):
    with pytest.raises(DataError):
        report_folder(trained, str(source), tmp_path / "r.html", split="nowhere", overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_made(trained, source, tmp_path):
    report_folder(trained, str(source), tmp_path / "deep" / "r.html", split=None, overwrite=False)
    assert (tmp_path / "deep" / "r.html").exists()


def test_tokens_get_a_page_of_their_own(token_trained, token_source, tmp_path):
    report_folder(
        token_trained.model, str(token_source), tmp_path / "r.html", split=None, overwrite=False
    )
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "tokens of 120 texts" in page
    assert "Every type, by whole spans" in page
    assert "Frequent and rare labels" not in page

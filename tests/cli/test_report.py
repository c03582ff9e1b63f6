"""`tagwright report`."""


def test_the_page_is_written(call, model, texts, tmp_path):
    done = call("report", model, texts, "--out", tmp_path / "r.html")
    assert done.code == 0, done.err
    assert done.out == ""
    assert "<html" in (tmp_path / "r.html").read_text().lower()
    again = call("report", model, texts, "--out", tmp_path / "r.html")
    assert again.code == 2
    assert "--overwrite" in again.err

"""`tagwright check`."""


def test_json_is_one_object_with_the_counts(call, texts):
    done = call("check", texts, "--json")
    assert done.code == 0
    assert isinstance(done.json, dict)
    assert "90" in done.out


def test_what_is_shown_goes_to_stderr(call, texts):
    done = call("check", texts)
    assert done.code == 0
    assert done.out == ""
    assert "labels" in done.err


def test_the_report_is_written_where_it_is_asked_for(call, texts, tmp_path):
    assert call("check", texts, "--report", tmp_path / "c.html").code == 0
    assert "<html" in (tmp_path / "c.html").read_text().lower()


def test_the_embedded_set_is_known_by_name(call):
    assert call("check", "shop", "--json").code == 0

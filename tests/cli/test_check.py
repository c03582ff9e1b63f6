"""`tagwright check`."""


def test_json_is_one_object_with_the_counts(call, texts):
    done = call("check", texts, "--json")
    assert done.code == 0
    assert isinstance(done.json, dict)
    assert "90" in done.out


def test_the_result_goes_to_stdout_and_begins_with_how_the_data_were_read(call, texts):
    done = call("check", texts)
    assert done.code == 0
    assert done.err == ""
    assert done.out.startswith("text: column 'text'\nlabels: column 'labels'")
    assert "task: several labels a text" in done.out
    assert call("check", texts, "--json").json["found"][0] == "text: column 'text'"


def test_the_report_is_written_where_it_is_asked_for(call, texts, tmp_path):
    assert call("check", texts, "--report", tmp_path / "c.html").code == 0
    page = (tmp_path / "c.html").read_text()
    assert "<html" in page.lower()
    assert "text: column &#39;text&#39;" in page


def test_the_report_makes_its_folder_and_replaces_no_file(call, texts, tmp_path):
    path = tmp_path / "new" / "c.html"
    assert call("check", texts, "--report", path).code == 0
    path.write_text("mine")
    again = call("check", texts, "--report", path)
    assert again.code == 2
    assert "--overwrite" in again.err
    assert again.out == ""
    assert path.read_text() == "mine"
    assert call("check", texts, "--report", path, "--overwrite").code == 0


def test_the_embedded_set_is_known_by_name(call):
    assert call("check", "shop", "--json").code == 0


def test_tokens_are_checked_as_tokens(call, tokens, tmp_path):
    done = call("check", tokens, "--report", tmp_path / "c.html")
    assert done.code == 0, done.err
    assert "2 tags, O aside, a tag for each token" in done.out
    assert "label" not in done.out
    page = (tmp_path / "c.html").read_text()
    assert "Every tag" in page
    assert "tokens of a text" in page
    assert "Every label" not in page

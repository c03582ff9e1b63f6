"""Data are read as settings ask, and settings say what was found in them."""

import json

import pytest

from tagwright.errors import SettingsError
from tagwright.training.read_data import read_for

from ..pipelines.several import MOODS, SPANS, heads_of, write_heads


def test_what_was_found_is_kept_with_the_settings(source, single_source):
    data, settings = read_for(str(source), {})
    assert (data.task, data.size.rows) == ("many", 120)
    assert (settings.data.text, settings.data.separator) == ("text", ";")
    data, settings = read_for(str(single_source), {})
    assert (data.task, settings.objective) == ("one", "cross_entropy")


def test_columns_that_are_named_are_those_that_are_read(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"body": f"b{n}", "head": f"h{n}", "kind": ["x", "y"][n % 2]} for n in range(6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data, settings = read_for(str(path), {"data": {"text": "head,body", "labels": "kind"}})
    assert data.first["text"].to_pylist()[0] == "h0\nb0"
    assert (settings.data.text, settings.data.labels) == ("head,body", "kind")


def test_of_several_heads_each_keeps_what_was_found_of_it(tmp_path):
    answers = {"mood": MOODS, "span": SPANS}
    heads = {name: {} for name in answers}
    data, settings = read_for(str(write_heads(tmp_path, answers)), {"heads": heads})
    found = {name: (head.own.labels, head.own.task) for name, head in settings.heads.items()}
    assert found == {"mood": ("mood", "one"), "span": ("span", "tokens")}
    assert list(data.heads) == [*answers]


def test_labels_of_all_are_refused_where_heads_have_their_own(tmp_path):
    given = {"heads": heads_of("mood"), "data": {"labels": "mood"}}
    with pytest.raises(SettingsError, match=r"data\.labels .* each has its own labels"):
        read_for(str(write_heads(tmp_path, {"mood": MOODS})), given)

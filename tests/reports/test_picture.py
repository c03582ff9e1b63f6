"""Results of a recipe as a picture."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

from tagwright.reports.picture import picture
from tagwright.reports.reproduce import Line, RecipeFacts, ResultTable

SVG = "{http://www.w3.org/2000/svg}"


def line(variant, mean=0.01, verdict="no difference shown", **changes):
    bounds = (mean, mean - 0.02, mean + 0.02)
    known = {
        "scores": [0.5, 0.6, 0.7],
        "over_seeds": bounds,
        "over_texts": bounds,
        "p_value": 0.2,
        "seconds": 1.0,
    }
    return Line(variant=variant, **{**known, "verdict": verdict, **changes})


BASELINE = line("bce", verdict="baseline", over_seeds=None, over_texts=None)


def table(*lines, data="news", encoder="cnn", cut=""):
    return ResultTable(
        data=data, encoder=encoder, cut=cut, parts=1, texts=500, lines=[BASELINE, *lines]
    )


def facts(*tables):
    about = {
        "title": "Losses & labels",
        "paper": "",
        "note": "",
        "command": "",
        "date": "",
        "versions": {},
    }
    counts = {
        "devices": [],
        "seeds": 3,
        "runs": 1,
        "finished": 1,
        "settings": {},
        "own_settings": {},
    }
    return RecipeFacts(**about, **counts, metric="macro_f1", tables=list(tables))


def words(found):
    """All words of a file that any reader of XML can read."""
    return ["".join(part.itertext()) for part in ElementTree.fromstring(found).iter(f"{SVG}text")]


def test_a_panel_for_each_data_set_and_a_line_for_each_rival():
    found = picture(facts(table(line("focal"), line("zlpr")), table(line("focal"), data="mails")))
    said = words(found)
    assert [said.count(name) for name in ("news", "mails", "focal", "zlpr", "bce")] == [
        1,
        1,
        2,
        1,
        0,
    ]
    assert "difference in macro-F1, points" in said
    assert said[-1].startswith("To the right: more than bce. Bars: 95%, over other seeds and texts")
    assert "var(--" not in found  # a file has no page around it that brings colors


def test_several_encoders_are_headings_of_one_panel():
    said = words(picture(facts(table(line("focal")), table(line("focal"), encoder="minilm"))))
    assert [said.count(name) for name in ("news", "cnn", "minilm", "focal")] == [1, 1, 1, 2]


def test_a_panel_of_one_encoder_names_it_where_the_picture_has_several():
    both = [table(line("focal")), table(line("focal"), encoder="minilm")]
    said = words(picture(facts(*both, table(line("focal"), data="mails", encoder="minilm"))))
    assert [said.count(name) for name in ("news", "mails, minilm", "minilm")] == [1, 1, 1]


def test_cuts_have_panels_of_their_own():
    assert {"news few", "news"} <= set(
        words(picture(facts(table(line("focal")), table(line("focal"), cut="few"))))
    )


def test_differences_are_in_points():
    said = words(picture(facts(table(line("focal", mean=0.05)))))
    assert "+6" in said or "+5" in said


def test_only_what_is_shown_to_differ_is_filled():
    sure, unsure = (
        picture(facts(table(line("focal", verdict=verdict))))
        for verdict in ("better", "no difference shown")
    )
    assert sure != unsure


def test_too_few_seeds_are_left_out():
    few = line("zlpr", scores=[0.5, 0.6])
    assert "zlpr" not in words(picture(facts(table(line("focal"), few))))
    assert picture(facts(table(few))) is None
    assert picture(facts(table())) is None


def test_without_texts_the_bars_speak_of_seeds_alone():
    tags = line("cla", over_texts=None)
    assert "over other seeds;" in words(picture(facts(table(tags))))[-1]


def test_names_are_escaped():
    found = picture(replace(facts(table(line("<b>&"), data="a<b")), title="a < b"))
    assert {"a<b", "<b>&"} <= set(words(found))

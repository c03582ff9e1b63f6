"""Runs while they are made: a table in a terminal, lines elsewhere."""

import io

import pytest

from tagwright.cli import _live, _show
from tagwright.cli._console import PlainConsole
from tagwright.cli._live import LiveTable, looking_on
from tagwright.experiments.plan import Planned
from tagwright.experiments.progress import Lines, Under
from tagwright.experiments.recipe import TrainCut


def planned(variant, seed, encoder="cnn"):
    return Planned(
        data="shop",
        encoder=encoder,
        cut=TrainCut(),
        part="",
        variant=variant,
        seed=seed,
        key=f"{variant}{seed}",
    )


def row(value):
    return {"scored": {"macro_f1": value}, "on": "test", "dev": {"macro_f1": value}, "seconds": 1.0}


def shown(table):
    console = PlainConsole(file=io.StringIO(), width=120)
    console.print(table.table())
    return console.file.getvalue()


@pytest.fixture
def terminal(monkeypatch):
    console = PlainConsole(file=io.StringIO(), width=120, force_terminal=True)
    monkeypatch.setattr(_show, "console", console)
    return console.file


@pytest.fixture
def live(terminal):
    table = LiveTable("macro_f1")
    table.begin(
        [planned("bce", 0), planned("zlpr", 0), planned("bce", 1), planned("zlpr", 1)],
        [row(0.5), *[None] * 3],
    )
    yield table
    table.stop()


def test_a_line_a_variant_with_its_seeds_and_mean(live):
    live.end(2, row(0.7))
    text = shown(live)
    assert "2/2" in text
    assert "0.6000 ± 0.1414" in text
    assert "0/2" in text
    assert "2 of 4 runs" in text
    assert "left" in text


def test_what_is_under_way_is_shown_until_it_ends(live):
    live.under_way(1, Under("fit", 30, 120, 0.4321))
    assert "seed 0  25% 0.4321" in shown(live)
    live.end(1, row(0.9))
    assert "25%" not in shown(live)


def test_a_failure_is_counted_and_told_at_once(live, terminal):
    live.end(1, {"failed": "OSError: no room"})
    assert "0/2, 1 failed" in shown(live)
    assert "run 2 failed: OSError: no room" in terminal.getvalue()


def test_names_that_all_lines_share_are_left_out(live):
    assert "shop" not in shown(live)
    live.begin([planned("bce", 0), planned("bce", 0, encoder="lstm")], [None, None])
    assert "lstm" in shown(live)


def test_of_very_many_lines_those_under_way_are_shown(live):
    live.begin([planned(f"v{n}", 0) for n in range(200)], [None] * 200)
    live.under_way(150, Under("fit", 1, 2, None))
    text = shown(live)
    assert "v150 " in text
    assert "v0 " not in text
    assert text.count("0/1") == _live.MOST_LINES


def test_elsewhere_there_are_lines(monkeypatch):
    monkeypatch.setattr(_show, "console", PlainConsole(file=io.StringIO()))
    with looking_on() as watch:
        assert isinstance(watch("macro_f1"), Lines)


def test_in_a_terminal_the_table_goes_when_the_work_ends(terminal):
    with looking_on() as watch:
        table = watch("macro_f1")
        table.begin([planned("bce", 0)], [None])
        assert table.live.is_started
    assert not table.live.is_started

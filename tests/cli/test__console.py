"""Strings from data on a terminal: shown as they are, and never obeyed."""

import csv
import io
import json
import os
import sys
from contextlib import suppress

import pytest
from rich.cells import cell_len
from rich.table import Table

from tagwright.cli import _show
from tagwright.cli._console import LONGEST, NOBODY_READS, PlainConsole
from tagwright.errors import DataError

HOSTILE = {
    "escape": ("\x1b[2J", r"\x1b[2J"),
    "title": ("\x1b]0;x\x07", r"\x1b]0;x\x07"),
    "one-byte": ("\x9b31m", r"\x9b31m"),
    "return": ("a\rb", r"a\rb"),
    "backspace": ("a\x08b", r"a\x08b"),
    "delete": ("a\x7fb", r"a\x7fb"),
    "null": ("a\0b", r"a\x00b"),
    "right-to-left": ("a\u202eb", r"a\u202eb"),
    "isolate": ("a\u2066b", r"a\u2066b"),
    "line": ("a\u2028b", r"a\u2028b"),
    "not-unicode": ("a\udc9bb", r"a\udc9bb"),
    "markup": ("[bug]", "[bug]"),
    "end-of-markup": ("[/b]", "[/b]"),
    "link": ("[link=https://x.y]z[/link]", "[link=https://x.y]z[/link]"),
    "emoji": (":smile:", ":smile:"),
}
hostile = pytest.mark.parametrize(("text", "seen"), HOSTILE.values(), ids=HOSTILE)


@pytest.fixture(autouse=True)
def own_consoles(monkeypatch):
    """What a console could not write, it keeps and writes with the next line."""
    monkeypatch.setattr(_show, "console", PlainConsole(stderr=True))
    monkeypatch.setattr(_show, "results_console", PlainConsole())


@pytest.fixture
def screen():
    """A console of 80 columns, and what it was sent."""
    console = PlainConsole(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    return console, console.file.getvalue


@hostile
def test_a_line_shows_text_as_it_is(capsys, text, seen):
    _show.say(text)
    _show.result(text)
    assert capsys.readouterr() == (f"{seen}\n", f"{seen}\n")


@hostile
def test_a_message_shows_text_as_it_is(capsys, text, seen):
    with pytest.raises(SystemExit):
        _show.fail(DataError(f"no column {text}"))
    assert capsys.readouterr().err == f"error: no column {seen}\n"


@hostile
def test_a_table_shows_text_as_it_is_and_stays_straight(screen, text, seen):
    console, sent = screen
    table = Table(text, "column", title=text)
    table.add_row(text, "cell")
    console.print(table)
    title, *lines = sent().splitlines()
    assert title.strip() == seen
    assert len({cell_len(line) for line in lines}) == 1
    assert [line.split()[1] for line in lines if seen in line] == [seen, seen]


@hostile
def test_a_rule_shows_text_as_it_is(screen, text, seen):
    console, sent = screen
    console.rule(text)
    assert f" {seen} " in sent()


@hostile
def test_a_page_shows_text_as_it_is(capsys, monkeypatch, screen, text, seen):
    _show.page(f"`{text}`")
    assert capsys.readouterr().out == f"`{seen}`\n"
    monkeypatch.setattr(_show, "results_console", screen[0])
    _show.page(f"`{text}`")
    assert screen[1]().strip() == seen


@hostile
def test_json_is_exact_and_obeyed_by_no_terminal(capsys, text, seen):
    _show.emit({text: [text]})
    out = capsys.readouterr().out
    assert json.loads(out) == {text: [text]}
    assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "text", ["tab\tand\nline", "Zürich 手机", "عربي עברית", "👩‍💻", "a\u200bb", r"a\x1b"]
)
def test_other_text_is_not_touched(capsys, text):
    _show.emit({"text": text})
    assert json.dumps(text, ensure_ascii=False) in capsys.readouterr().out
    _show.say(text)
    assert capsys.readouterr().err == f"{text}\n".expandtabs()


def test_a_very_long_message_keeps_its_beginning_and_its_end(capsys):
    with pytest.raises(SystemExit):
        _show.fail(DataError(f"{'x' * 100_000} is no label; choose another"))
    said = capsys.readouterr().err
    assert len(said) < LONGEST + 100
    assert said.startswith("error: xxx")
    assert "characters left out" in said
    assert said.endswith("is no label; choose another\n")


def test_a_very_long_cell_is_cut(screen):
    console, sent = screen
    table = Table()
    table.add_column(overflow="fold")
    table.add_row("x" * 100_000)
    console.print(table)
    assert sent().count("x") <= LONGEST


def test_a_long_page_is_whole_in_a_file(capsys):
    page = "word " * LONGEST
    _show.page(page)
    assert capsys.readouterr().out == page + "\n"


@pytest.fixture
def narrow(monkeypatch):
    """A stdout that knows no letter beyond ASCII."""
    content = io.BytesIO()
    return content, io.TextIOWrapper(content, encoding="ascii", write_through=True)


def test_letters_that_the_terminal_does_not_know_are_escaped(monkeypatch, narrow):
    from tagwright.cli import main

    monkeypatch.setattr(sys, "stdout", narrow[1])
    monkeypatch.setattr(sys, "argv", ["tagwright", "--version"])
    with pytest.raises(SystemExit):
        main()
    _show.result("Zürich")
    assert narrow[0].getvalue().endswith(b"Z\\xfcrich\n")


def test_json_for_a_terminal_without_such_letters_is_json(monkeypatch, narrow):
    monkeypatch.setattr(sys, "stdout", narrow[1])
    _show.emit({"city": "Zürich"})
    assert json.loads(narrow[0].getvalue()) == {"city": "Zürich"}


@pytest.fixture
def unread():
    """A pipe that nobody reads."""
    reads, writes = os.pipe()
    os.close(reads)
    with suppress(BrokenPipeError), open(writes, "w") as pipe:
        yield pipe


SHOWS = {
    "check": ["check", "{texts}"],
    "check-json": ["check", "{texts}", "--json"],
    "score": ["score", "{model}", "{texts}"],
    "score-json": ["score", "{model}", "{texts}", "--json"],
    "keywords": ["keywords", "{texts}"],
    "keywords-json": ["keywords", "{texts}", "--json"],
    "groups": ["groups", "{texts}", "--by", "cooccurrence", "--share", "0.01"],
    "groups-json": ["groups", "{texts}", "--by", "cooccurrence", "--share", "0.01", "--json"],
    "parts": ["parts", "masks"],
    "parts-json": ["parts", "masks", "--json"],
    "reproduce": ["reproduce", "--list"],
    "reproduce-json": ["reproduce", "--list", "--json"],
    "help": ["--help"],
    "help-of-a-command": ["fit", "--help"],
    "version": ["--version"],
}


@pytest.mark.parametrize("name", SHOWS)
def test_results_that_nobody_reads_end_a_command_without_a_word(
    call, monkeypatch, unread, name, texts, model
):
    monkeypatch.setattr(sys, "stdout", unread)
    done = call(*(word.format(texts=texts, model=model) for word in SHOWS[name]))
    assert done.code == NOBODY_READS
    assert "Traceback" not in done.err
    assert "error" not in done.err


def test_tagged_rows_are_whole_though_nobody_reads_their_count(
    call, monkeypatch, unread, texts, model, tmp_path
):
    monkeypatch.setattr(sys, "stdout", unread)
    assert call("tag", model, texts, "--out", tmp_path / "o.csv", "--json").code == NOBODY_READS
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 91
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]


def test_messages_that_nobody_reads_do_not_end_the_work(
    call, monkeypatch, unread, texts, quick, tmp_path
):
    monkeypatch.setattr(sys, "stderr", unread)
    done = call("fit", texts, "--out", tmp_path / "m", "--encoder", "cnn", *quick)
    assert done.code == 0
    assert "macro f1" in done.out
    assert (tmp_path / "m" / "manifest.json").exists()


def test_a_mistake_has_its_exit_code_though_nobody_reads_the_message(call, monkeypatch, unread):
    monkeypatch.setattr(sys, "stderr", unread)
    assert call("check", "nowhere.csv").code == 2


def test_another_pipe_that_breaks_is_told(call, monkeypatch, tmp_path):
    """Such as that to a process that died: it was taken for the end of stdout."""

    def broken(*arguments, **options):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("tagwright.pipelines.report.report_folder", broken)
    done = call("report", tmp_path / "model", "shop", "--out", tmp_path / "r.html")
    assert done.code == 2
    assert done.err == "error: Broken pipe\n"


NAMES = ("[bug]", "[/b]", ":smile:", "\x1b[2J", "c\x9b31m", "d\u202e")


@pytest.fixture(scope="module")
def hostile_texts(tmp_path_factory):
    """A CSV of 60 texts with two hostile labels each, in columns and a file of such names."""
    path = tmp_path_factory.mktemp("\x1b[2Jfolder") / "[b]\x9b31m.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["[/text]\x1b[2J", "labels\u202e"])
        for number in range(60):
            names = [NAMES[number % 6], NAMES[number // 6 % 6]]
            rows.writerow(
                [
                    " ".join(f"{name} w{ord(name[1])} n{number}" for name in names),
                    "|".join(set(names)),
                ]
            )
    return path


@pytest.fixture(scope="module")
def hostile_pages(tmp_path_factory):
    """A CoNLL file of 60 texts whose spans are of hostile types."""
    path = tmp_path_factory.mktemp("pages") / "pages.conll"
    path.write_text(
        "\n".join(f"w{number % 6} B-{NAMES[number % 6]}\nx{number} O\n" for number in range(60))
    )
    return path


READS = {
    "check": ["check"],
    "keywords": ["keywords"],
    "groups": ["groups", "--by", "cooccurrence", "--share", "0.01"],
}


def obeyed(done):
    """What of the output a terminal would obey."""
    return [
        letter for letter in done.out + done.err if not (letter.isprintable() or letter == "\n")
    ]


@pytest.mark.parametrize("name", READS)
def test_hostile_labels_texts_columns_and_files_are_shown(call, hostile_texts, name):
    columns = ["--text", "[/text]\x1b[2J", "--labels", "labels\u202e", "--separator", "|"]
    command, *options = READS[name]
    done = call(command, hostile_texts, *columns, *options)
    assert done.code == 0
    assert obeyed(done) == []
    for name in ("[bug]", "[/b]", ":smile:", r"\x1b[2J", r"c\x9b31m", r"d\u202e"):
        assert name in done.out


def test_hostile_tags_are_shown(call, hostile_pages, tmp_path):
    tiny = [
        "--epochs",
        1,
        *(
            word
            for name in ("width=8", "hidden=8", "layers=1", "heads=1", "feed=8")
            for word in ("--set", f"encoder.{name}")
        ),
    ]
    assert obeyed(call("fit", hostile_pages, "--out", tmp_path / "m", *tiny)) == []
    for done in (call("check", hostile_pages), call("score", tmp_path / "m", hostile_pages)):
        assert done.code == 0
        assert obeyed(done) == []
        for name in ("[bug]", "[/b]", ":smile:", r"\x1b[2J", r"c\x9b31m", r"d\u202e"):
            assert name in done.out


def test_a_mistake_shows_hostile_names(call, hostile_texts, tmp_path):
    done = call("check", hostile_texts, "--text", "\x1b[2J")
    assert done.code == 2
    assert obeyed(done) == []
    absent = call("check", tmp_path / "[/x]\x1b[2J.csv")
    assert absent.code == 2
    assert r"[/x]\x1b[2J.csv" in absent.err

"""What every command has in common: help with an example, exit codes, one line for a mistake, JSON
alone on stdout.
"""

import os
import subprocess
import sys

import pytest

from tagwright import __version__
from tagwright.cli import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(call, name):
    done = call(name, "--help")
    assert done.code == 0
    assert "Example" in done.out
    assert f"tagwright {name} " in done.out or name == "parts"
    assert done.err == ""


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"report", "demo"}))
def test_every_command_that_has_something_to_say_takes_json(call, name):
    assert "--json" in call(name, "--help").out


def test_the_version_is_one_line(call):
    assert call("--version").out == f"{__version__}\n"


def test_without_a_command_there_is_help(call):
    done = call()
    assert "Usage" in done.out + done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["fitt"],
        ["fit"],
        ["fit", "x.csv", "--nonsense"],
        ["fit", "x.csv", "--out", "m", "--epochs", "three"],
    ],
)
def test_a_wrong_call_exits_with_2_and_prints_nothing(call, arguments):
    done = call(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err


MISTAKES = {
    "check": ["check", "{missing}"],
    "fit": ["fit", "{missing}", "--out", "{tmp}/m"],
    "fit-settings": ["fit", "{texts}", "--out", "{tmp}/m", "--encoder", "cnnn"],
    "fit-set": ["fit", "{texts}", "--out", "{tmp}/m", "--set", "nonsense"],
    "fit-settings-file": ["fit", "{texts}", "--out", "{tmp}/m", "--settings", "{tmp}/nowhere.toml"],
    "compare": ["compare", "{texts}", "--objectives", "bce", "--out", "{tmp}/c"],
    "compare-empty": ["compare", "{texts}", "--objectives", ",", "--out", "{tmp}/c"],
    "score": ["score", "{tmp}/nowhere", "{texts}"],
    "score-choice": ["score", "{model}", "{texts}", "--unseen", "mis"],
    "tag": ["tag", "{model}", "{missing}", "--out", "{tmp}/o.csv"],
    "tag-suffix": ["tag", "{model}", "{texts}", "--out", "{tmp}/o.xlsx"],
    "explain": ["explain", "{tmp}/nowhere", "{texts}", "--attention", "--out", "{tmp}/p.html"],
    "explain-slots": ["explain", "{model}", "{texts}", "--attention", "--out", "{tmp}/p.html"],
    "decide": ["decide", "{tmp}/nowhere"],
    "decide-rule": ["decide", "{model}", "--rule", "treshold"],
    "groups": ["groups", "{missing}", "--out", "{tmp}/g.toml"],
    "groups-way": ["groups", "{texts}", "--by", "confusion", "--out", "{tmp}/g.toml"],
    "groups-none": ["groups", "{texts}", "--out", "{tmp}/g.toml"],
    "reproduce": ["reproduce", "masklos", "--out", "{tmp}/r"],
    "reproduce-data": ["reproduce", "kwls", "--data", "{tmp}", "--out", "{tmp}/r"],
    "reproduce-only": ["reproduce", "kwls", "--data", "{tmp}", "--out", "{tmp}/r", "--only", "cn"],
    "parts": ["parts", "looses"],
    "report": ["report", "{model}", "{missing}", "--out", "{tmp}/r.html"],
    "demo": ["demo", "--out", "{tmp}"],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_exit_code_2_and_nothing_written(call, name, tmp_path, texts, model):
    """The paths of a test are long, so a line that wraps shows."""
    folder = (
        tmp_path / "a-folder-with-a-rather-long-name-so-that-the-message-is-longer-than-a-terminal"
    )
    folder.mkdir()
    names = {"missing": folder / "nowhere.csv", "tmp": folder, "texts": texts, "model": model}
    done = call(*(argument.format(**names) for argument in MISTAKES[name]))
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert "Traceback" not in done.err
    assert list(folder.iterdir()) == []


WRITES = {
    "fit": ["fit", "{texts}", "--out", "{file}/model", "--epochs", 1, "--encoder", "bow"],
    "tag": ["tag", "{model}", "{texts}", "--out", "{file}/o.csv"],
    "report": ["report", "{model}", "{texts}", "--out", "{file}/r.html"],
    "check": ["check", "{texts}", "--report", "{file}/r.html"],
    "groups": [
        "groups",
        "{texts}",
        "--by",
        "cooccurrence",
        "--share",
        0.01,
        "--out",
        "{file}/g.toml",
    ],
}


@pytest.mark.parametrize("name", WRITES)
def test_what_cannot_be_written_is_one_line_and_exit_code_2(call, name, tmp_path, texts, model):
    file = tmp_path / "file"
    file.touch()
    done = call(
        *(str(argument).format(file=file, texts=texts, model=model) for argument in WRITES[name])
    )
    assert done.code == 2
    assert "Traceback" not in done.err
    assert f"error: cannot write {file}" in done.err
    assert done.err.rstrip().endswith(("Not a directory", "File exists"))


def test_what_cannot_be_read_is_not_said_to_be_unwritable(call, tmp_path, texts, model):
    """A ledger or a manifest that cannot be read was "cannot write"."""
    for folder, name in (("comparison", "runs.jsonl"), ("model", "manifest.json")):
        (tmp_path / folder / name).mkdir(parents=True)
    ledger = call(
        "compare", texts, "--objectives", "bce,zlpr", "--out", tmp_path / "comparison", "--resume"
    )
    assert ledger.code == 2
    assert (
        f"error: cannot read {tmp_path / 'comparison' / 'runs.jsonl'}: Is a directory" in ledger.err
    )
    manifest = call("tag", tmp_path / "model", texts, "--out", tmp_path / "tags.csv")
    assert manifest.code == 2
    assert f"error: {tmp_path / 'model' / 'manifest.json'} is not a regular file" in manifest.err


def test_lines_on_a_terminal_break_between_words(monkeypatch, capsys):
    from tagwright.cli import _show
    from tagwright.cli._console import PlainConsole

    monkeypatch.setattr(
        _show, "console", PlainConsole(stderr=True, force_terminal=True, width=20, no_color=True)
    )
    _show.say("several words that are longer than a line")
    lines = capsys.readouterr().err.split("\n")
    assert [line.rstrip() for line in lines if line] == [
        "several words that",
        "are longer than a",
        "line",
    ]


@pytest.mark.parametrize("name", ["fit", "compare"])
def test_help_says_that_token_tags_are_trained(call, name):
    words = " ".join(call(name, "--help").out.replace("│", " ").split())
    assert "Tokens and tags train a tagger of tokens" in words
    assert "fastText" in words


def test_all_faults_of_the_settings_are_listed(call, texts, tmp_path):
    done = call(
        "fit",
        texts,
        "--out",
        tmp_path / "m",
        "--encoder",
        "cnnn",
        "--set",
        "fit.epoch=1",
        "--set",
        "decide.name=x",
    )
    assert done.code == 2
    for word in ("cnnn", "epoch", "unknown decide"):
        assert word in done.err


def test_markup_in_a_message_is_shown_as_it_is(call, tmp_path):
    assert "[bold]x[/]" in call("check", "[bold]x[/].csv").err.replace("\n", "")


def test_a_process_whose_results_nobody_reads_ends_as_others_do():
    """Less than a buffer full, which Python writes when it ends."""
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "tagwright", "parts", "masks", "--json"]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, "")

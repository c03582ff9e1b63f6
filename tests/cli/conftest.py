"""The commands as a person calls them, in this process: what they exit with, print and say."""

import csv
import json
import random
import signal
import sys
from typing import Any, NamedTuple

import pytest

KINDS = {
    "city": ["paris", "rome", "oslo"],
    "fruit": ["apple", "pear", "plum"],
    "tool": ["hammer", "saw", "drill"],
}


class Called(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout; anything else there, or a number that is no JSON, fails the
        test.
        """
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.fixture
def call(monkeypatch, capsys):
    """Run `tagwright ARGUMENTS`."""
    from tagwright.cli import main

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["tagwright", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        found = capsys.readouterr()
        return Called(code, found.out, found.err)

    yield called
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def single_thread():
    """A thread more costs a network this small more than it brings."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """A CSV of 90 texts with one or two of three labels."""
    draw, path = random.Random(0), tmp_path_factory.mktemp("cli") / "texts.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "labels"])
        for number in range(90):
            names = draw.sample(sorted(KINDS), draw.choice([1, 1, 2]))
            words = [draw.choice(KINDS[name]) for name in names for _ in range(2)]
            rows.writerow([number, " ".join(words) + f" x{number}", ";".join(names)])
    return path


@pytest.fixture(scope="session")
def quick():
    """Options for a run that takes less than a second."""
    return [
        "--epochs",
        2,
        "--set",
        "encoder.width=8",
        "--set",
        "encoder.filters=4",
        "--set",
        "fit.learning_rate=0.03",
    ]


@pytest.fixture(scope="session")
def model(texts, tmp_path_factory):
    """A trained model folder; copy it before changing it."""
    from tagwright.pipelines.fit import fit_folder

    out = tmp_path_factory.mktemp("cli-model") / "model"
    encoder = {"name": "cnn", "width": 8, "filters": 4}
    fit_folder(
        str(texts), {"encoder": encoder, "fit": {"epochs": 6, "learning_rate": 0.03}}, out=out
    )
    return out


@pytest.fixture(scope="session")
def tokens(tmp_path_factory):
    """A CoNLL file of 60 texts with cities and fruits, 3 tokens each."""
    draw, path = random.Random(0), tmp_path_factory.mktemp("cli") / "pages.conll"
    rows = [
        f"{draw.choice(KINDS['city'])} B-CITY\nx{number} O\n{draw.choice(KINDS['fruit'])} B-FRUIT\n"
        for number in range(60)
    ]
    path.write_text("\n".join(rows))
    return path


@pytest.fixture(scope="session")
def token_model(tokens, tmp_path_factory):
    """A trained model folder that tags tokens."""
    from tagwright.pipelines.fit import fit_folder

    out = tmp_path_factory.mktemp("cli-model") / "tokens"
    encoder = {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 1, "feed": 8}
    fit_folder(
        str(tokens), {"encoder": encoder, "fit": {"epochs": 2, "learning_rate": 0.03}}, out=out
    )
    return out

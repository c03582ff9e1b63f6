"""A small set of texts whose labels follow from their words, as files, and the settings of a
network that is quick.
"""

import csv
import json
import random

import pytest

WORDS = {
    "city": ["paris", "rome", "oslo"],
    "fruit": ["apple", "pear", "plum"],
    "metal": ["iron", "zinc", "gold"],
    "sport": ["chess", "rugby", "golf"],
    "tool": ["hammer", "saw", "drill"],
}
FILLERS = ["the", "of", "very", "some"]
TINY = {
    "encoder": {"name": "cnn", "width": 8, "filters": 4},
    "fit": {"epochs": 3, "batch": 16, "learning_rate": 0.03},
}


def made_rows(count, *, seed=0, many=True):
    """Rows (id, text, labels); a text has two words of each of its labels, fillers, and a number of
    its own.
    """
    draw, result = random.Random(seed), []
    for number in range(count):
        labels = draw.sample(sorted(WORDS), draw.choice([1, 1, 2]) if many else 1)
        words = [draw.choice(WORDS[label]) for label in labels for _ in range(2)]
        words += [draw.choice(FILLERS) for _ in range(draw.randint(1, 6))]
        draw.shuffle(words)
        result.append((f"{number:04d}", f"{' '.join(words)} n{seed}x{number}", ";".join(labels)))
    return result


def write_rows(path, rows, header=("id", "text", "labels")):
    """Write rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def made_tokens(count, *, seed=0):
    """Rows of (token, tag): cities of one or two words, fruits of one, fillers, and a number of its
    own.
    """
    draw, result = random.Random(seed), []
    spans = [[("new", "B-CITY"), (name, "I-CITY")] for name in WORDS["city"]]
    spans += [[(name, "B-CITY")] for name in WORDS["city"]] + [
        [(name, "B-FRUIT")] for name in WORDS["fruit"]
    ]
    for number in range(count):
        row = [(f"n{seed}x{number}", "O")]
        for _ in range(draw.randint(0, 3)):
            row += [*draw.choice(spans), (draw.choice(FILLERS), "O")]
        result.append(row)
    return result


def write_conll(path, rows):
    """Write rows as CoNLL."""
    path.write_text(
        "\n".join("".join(f"{token} {tag}\n" for token, tag in row) for row in rows),
        encoding="utf-8",
    )
    return path


def tiny_settings(**sections):
    """The quick settings, sections merged over them."""
    result = {name: dict(section) for name, section in TINY.items()}
    for name, section in sections.items():
        result[name] = {**result.get(name, {}), **section} if isinstance(section, dict) else section
    return result


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """A thread more costs a network this small more than it brings."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def rows_of():
    """The maker of rows."""
    return made_rows


@pytest.fixture(scope="session")
def write_csv():
    """The writer of rows."""
    return write_rows


@pytest.fixture(scope="session")
def tiny():
    """The quick settings as a function of the sections to change."""
    return tiny_settings


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """A CSV of 120 texts with one or two of five labels."""
    return write_rows(tmp_path_factory.mktemp("data") / "texts.csv", made_rows(120))


@pytest.fixture(scope="session")
def single_source(tmp_path_factory):
    """A CSV of 120 texts with exactly one of five labels."""
    return write_rows(tmp_path_factory.mktemp("data") / "single.csv", made_rows(120, many=False))


@pytest.fixture(scope="session")
def tokens_of():
    """The maker and the writer of rows of tokens."""
    return made_tokens, write_conll


@pytest.fixture(scope="session")
def token_source(tmp_path_factory):
    """A CoNLL file of 120 texts with spans of two types."""
    return write_conll(tmp_path_factory.mktemp("data") / "tokens.conll", made_tokens(120))


@pytest.fixture(scope="session")
def token_trained(tmp_path_factory, token_source):
    """The outcome of a model that tags tokens, trained so little that it errs."""
    from tagwright.pipelines.fit import fit_folder

    encoder = {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 1, "feed": 8}
    settings = {"encoder": encoder, "fit": {"epochs": 3, "batch": 16, "learning_rate": 0.03}}
    return fit_folder(str(token_source), settings, out=tmp_path_factory.mktemp("models") / "tokens")


@pytest.fixture(scope="session")
def split_source(tmp_path_factory):
    """A folder with 90 texts in train, 40 in dev and 40 in test."""
    folder = tmp_path_factory.mktemp("data") / "splits"
    for seed, (name, count) in enumerate([("train", 90), ("dev", 40), ("test", 40)]):
        write_rows(folder / f"{name}.csv", made_rows(count, seed=seed))
    return folder


@pytest.fixture(scope="session")
def tagged_sets(tmp_path_factory):
    """A folder of data sets with one, `places`: 60, 30 and 31 texts whose words are tagged by what
    they are.
    """
    home, tags = (
        tmp_path_factory.mktemp("tagged"),
        {"new": "B-CITY", "york": "I-CITY", "pear": "B-FRUIT"},
    )
    (home / "places").mkdir()
    for seed, (name, count) in enumerate([("train", 60), ("dev", 30), ("test", 31)]):
        draw = random.Random(seed)
        texts = []
        for number in range(count):
            parts = draw.choices(
                [["new", "york"], ["pear"], ["the"], ["very"]], k=draw.randint(2, 7)
            )
            texts.append([*(word for part in parts for word in part), f"n{seed}x{number}"])
        rows = [
            {"tokens": words, "tags": [tags.get(word, "O") for word in words]} for words in texts
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (home / "places" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return home


@pytest.fixture(scope="session")
def trained(tmp_path_factory, source):
    """A model folder, thresholds and all."""
    from tagwright.pipelines.fit import fit_folder

    out = tmp_path_factory.mktemp("models") / "model"
    fit_folder(str(source), tiny_settings(fit={"epochs": 12}), out=out)
    return out


@pytest.fixture(scope="session")
def single_trained(tmp_path_factory, single_source):
    """A model folder of a one-label model."""
    from tagwright.pipelines.fit import fit_folder

    out = tmp_path_factory.mktemp("models") / "single"
    fit_folder(str(single_source), tiny_settings(fit={"epochs": 12}), out=out)
    return out


@pytest.fixture(scope="session")
def model(trained):
    """The same, loaded."""
    from tagwright.inference import model_folder

    return model_folder.load(trained)


@pytest.fixture(scope="session")
def rows(rows_of):
    """103 rows with odd cells; every tenth without text."""
    made = [
        (f"{n:03d}", text, f'a "{n}",\nb') for n, (_, text, _) in enumerate(rows_of(103, seed=5))
    ]
    return [(n, "" if int(n) % 10 == 3 else text, note) for n, text, note in made]


@pytest.fixture
def pages(tmp_path, rows, write_csv):
    """Those rows as a CSV."""
    return write_csv(tmp_path / "pages.csv", rows, header=("number", "text", "note"))


@pytest.fixture
def small_shards(monkeypatch):
    """Seven batches of 16 rows, two a shard."""
    from tagwright.inference import tag as module

    monkeypatch.setattr(module, "BATCH", 16)
    monkeypatch.setattr(module, "SHARD", 2)

"""Sources with several named heads, and the settings of a network that is quick and learns them
all.
"""

import json

from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for

TEXTS = ["red tent", "blue", "red kite", "old kite", "blue tent", "red hat"]
DEV = (4, 3, 2, 1, 0)  # the texts of train that are dev, too; the last has no answer at all
# what heads have for each text, None where nobody knows
MOODS = ["glad", None, "sad", "sad", "glad", None]
TOPICS = [["sea", "land"], ["sea"], None, [], ["land"], None]
SPANS = [["O", "B-X"], ["O"], None, ["B-X", "O"], None, None]
WORDS = [["NOUN", "VERB"], None, ["VERB", "VERB"], ["NOUN", "NOUN"], ["VERB", "NOUN"], None]
TASKS = {"mood": "one", "topic": "many", "span": "tokens", "word": "tokens"}
ENCODER = {"name": "bat", "width": 8, "hidden": 8, "layers": 1, "heads": 1, "feed": 8}


def write_heads(folder, answers, *, texts=TEXTS, dev=DEV):
    """Train and dev as files; `answers` are what each head has for each text."""
    folder.mkdir(parents=True, exist_ok=True)
    tagging = any(TASKS[name] == "tokens" for name in answers)
    base = [{"tokens": text.split()} if tagging else {"text": text} for text in texts]
    rows = [
        {**one, **{name: own[row] for name, own in answers.items()}} for row, one in enumerate(base)
    ]
    for name, part in {"train": range(len(texts)), "dev": dev}.items():
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(rows[row]) + "\n" for row in part), encoding="utf-8"
        )
    return folder


def heads_of(*names, **own):
    """The section [heads] with the tasks of some heads, and what one has of its own."""
    return {name: {"task": TASKS[name], **own.get(name, {})} for name in names}


def read(folder, heads, **sections):
    """Data and settings."""
    fit = {"device": "cpu", "limit": 16, **sections.pop("fit", {})}
    return read_for(str(folder), {"encoder": ENCODER, **sections, "fit": fit, "heads": heads})


def ready(folder, heads, **sections):
    """Prepared data and settings."""
    data, settings = read(folder, heads, **sections)
    return prepare(data, settings), settings

"""Pages whose tags follow from their words, as rows and as files, and the settings of a tagger that
is quick.
"""

import json
import random
from pathlib import Path

KINDS = {
    "CITY": ["paris", "rome", "oslo"],
    "FRUIT": ["apple", "pear", "plum"],
    "TOOL": ["hammer", "saw", "drill"],
}
FILLERS = ["the", "of", "very", "some", "and", "with"]
ENCODER = {"name": "bat", "hidden": 16, "layers": 1, "heads": 2, "width": 8}
FIT = {"epochs": 6, "learning_rate": 0.02, "batch": 8, "patience": 0}
Row = tuple[list[str], list[str]]


def tagged_rows(count: int, *, seed: int = 0, scheme: str = "iob2") -> list[Row]:
    """Tokens and tags; a filler stands between two spans."""
    draw, result = random.Random(seed), []
    for _ in range(count):
        tokens, tags = [], []
        for _ in range(draw.randint(1, 4)):
            fillers = [draw.choice(FILLERS) for _ in range(draw.randint(1, 2))]
            kind, length = draw.choice(sorted(KINDS)), draw.randint(1, 3)
            tokens += [*fillers, *(draw.choice(KINDS[kind]) for _ in range(length))]
            tags += ["O"] * len(fillers) + span_tags(kind, length, scheme)
        result.append((tokens, tags))
    return result


def span_tags(kind: str, length: int, scheme: str) -> list[str]:
    """The tags of one span."""
    if scheme == "plain":
        return [kind] * length
    if scheme == "iob2":
        return [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
    return (
        [f"S-{kind}"] if length == 1 else [f"B-{kind}", *[f"I-{kind}"] * (length - 2), f"E-{kind}"]
    )


def write_conll(path: Path, rows: list[Row]) -> Path:
    """A token and its tag a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pages = ("".join(f"{token}\t{tag}\n" for token, tag in zip(*row)) for row in rows)
    path.write_text("\n".join(pages), encoding="utf-8")
    return path


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    """A row a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def quick(**sections: object) -> dict:
    """The quick settings, sections merged over them."""
    result: dict = {"encoder": dict(ENCODER), "fit": dict(FIT)}
    for name, section in sections.items():
        result[name] = {**result.get(name, {}), **section} if isinstance(section, dict) else section
    return result

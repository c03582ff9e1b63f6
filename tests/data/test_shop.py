"""The embedded shop: the same pages every time, sound annotations, and a problem that is neither
easy nor hopeless.
"""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from tagwright.data.dataset import Data
from tagwright.data.shop import shop
from tagwright.errors import SettingsError


@cache
def standard() -> Data:
    return shop()


def rows_of(data: Data) -> list[dict]:
    return [row for table in data.tables.values() for row in table.to_pylist()]


def test_same_seed_gives_the_same_pages_and_another_seed_others() -> None:
    first, again, other = shop(pages=200), shop(pages=200), shop(pages=200, seed=8)
    assert rows_of(first) == rows_of(again)
    assert {row["text"] for row in rows_of(first)}.isdisjoint(
        row["text"] for row in rows_of(other) if row["labels"]
    )


def test_parts_are_70_10_and_20_in_a_hundred() -> None:
    data = standard()
    assert data.task == "many"
    assert {name: table.num_rows for name, table in data.tables.items()} == {
        "train": 2800,
        "dev": 400,
        "test": 800,
    }
    assert len({row["id"] for row in rows_of(data)}) == 4000


def test_pages_are_a_title_and_a_description() -> None:
    for row in rows_of(standard()):
        title, description = row["text"].split("\n")
        assert 0 < len(title) < 80
        assert description.endswith((".", "?"))
        assert not re.search(r"[{}|;]|  | [.,:?]|\ba [aeiou]", row["text"])


def test_tokens_stand_in_the_text_where_starts_says() -> None:
    for row in rows_of(standard()):
        assert len(row["tokens"]) == len(row["tags"]) == len(row["starts"])
        for token, start in zip(row["tokens"], row["starts"]):
            assert row["text"][start : start + len(token)] == token
        assert "".join(row["tokens"]) == re.sub(r"\s", "", row["text"])


def test_tags_are_sound_iob2_of_three_kinds() -> None:
    kinds = Counter()
    for row in rows_of(standard()):
        for before, tag in zip(["O", *row["tags"]], row["tags"]):
            assert not tag.startswith("I-") or before[2:] == tag[2:]
            kinds[tag] += 1
    assert set(kinds) == {"O"} | {
        f"{mark}-{kind}" for mark in "BI" for kind in ("BRAND", "GOODS", "FEATURE")
    }
    assert kinds["B-FEATURE"] > kinds["B-GOODS"] > kinds["B-BRAND"] > 4000


def test_labels_have_groups_and_a_long_tail() -> None:
    counts = Counter(
        label for row in standard().tables["train"]["labels"].to_pylist() for label in row
    )
    groups = Counter(label.split("/")[0] for label in counts)
    assert 40 <= len(counts) <= 60
    assert min(groups.values()) >= 3
    assert max(counts.values()) > 250
    assert 3 <= min(counts.values()) <= 15
    assert sum(count < 30 for count in counts.values()) >= 10


def test_some_pages_have_no_label_and_some_have_several() -> None:
    sizes = Counter(min(len(row["labels"]), 3) for row in rows_of(standard()))
    assert 0.03 < sizes[0] / 4000 < 0.1
    assert sizes[2] / 4000 > 0.15
    assert sizes[3] / 4000 > 0.02


def test_every_label_can_be_learned_and_tested() -> None:
    found = {
        name: {x for row in table["labels"].to_pylist() for x in row}
        for name, table in standard().tables.items()
    }
    assert found["train"] == found["test"] >= found["dev"]


def test_too_few_pages_are_an_error() -> None:
    with pytest.raises(SettingsError, match="at least 100"):
        shop(pages=99)


@pytest.mark.slow
def test_thresholds_gain_five_points_of_macro_f1_and_leave_room_above() -> None:
    data = standard()
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(
        data.tables["train"]["text"].to_pylist()
    )
    names = MultiLabelBinarizer().fit(data.tables["train"]["labels"].to_pylist())
    texts = {
        name: words.transform(table["text"].to_pylist()) for name, table in data.tables.items()
    }
    gold = {
        name: names.transform(table["labels"].to_pylist()) for name, table in data.tables.items()
    }
    dev, test = [], []
    for column in gold["train"].T:
        model = LogisticRegression(C=100, solver="liblinear").fit(texts["train"], column)
        dev.append(model.predict_proba(texts["dev"])[:, 1])
        test.append(model.predict_proba(texts["test"])[:, 1])

    def macro(split: str, scores: list, threshold: float) -> float:
        return f1_score(
            gold[split], np.stack(scores, axis=1) > threshold, average="macro", zero_division=0
        )

    best = max(np.arange(0.04, 0.6, 0.03), key=lambda threshold: macro("dev", dev, threshold))
    assert 0.65 <= macro("test", test, best) <= 0.85
    assert macro("test", test, 0.5) <= macro("test", test, best) - 0.05

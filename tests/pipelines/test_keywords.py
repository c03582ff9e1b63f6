"""Keywords of labels, and texts with their soft labels."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.errors import SettingsError
from tagwright.pipelines.keywords import find_keywords
from tagwright.targets.kwls import kwls

TEXTS = [
    ("a red tent with poles", "camping"),
    ("a blue tent", "camping"),
    ("a red pan", "kitchen"),
    ("a pan and a lid", "kitchen"),
]


@pytest.fixture
def source(tmp_path):
    import pyarrow.parquet as pq

    for name, rows in (("train", TEXTS * 3), ("dev", TEXTS)):
        texts, labels = zip(*rows)
        pq.write_table(pa.table({"text": texts, "label": labels}), tmp_path / f"{name}.parquet")
    return str(tmp_path)


GIVEN = {"embed": {"name": "word", "minimum": 1}}


def test_words_of_one_label_come_first(source):
    found = find_keywords(source, GIVEN, top=2)
    assert found.rows == 12
    assert {label: words[0].word for label, words in found.keywords.items()} == {
        "camping": "tent",
        "kitchen": "pan",
    }
    assert found.keywords["camping"][0].occurrences == 6
    assert all(len(words) == 2 for words in found.keywords.values())
    values = [word.relevance for word in found.keywords["kitchen"]]
    assert values == sorted(values, reverse=True)


def test_texts_carry_the_soft_labels_of_the_part(source):
    found = find_keywords(source, GIVEN, texts=12)
    from tagwright.training.prepare import prepare
    from tagwright.training.read_data import read_for

    data, settings = read_for(source, GIVEN)
    prepared = prepare(data, settings)
    soft = kwls(prepared.tables["train"], prepared.space, prepared.words("train"))
    expected = [
        {prepared.space.names[i]: float(row[i]) for i in np.argsort(-row, kind="stable")}
        for row in soft
    ]
    assert [text.soft for text in found.texts] == expected
    assert found.texts[0].labels == ["camping"]


def test_labels_can_be_named_and_numbers_are_the_settings(source):
    found = find_keywords(source, GIVEN, labels=["kitchen"], texts=0)
    assert list(found.keywords) == ["kitchen"]
    assert found.texts == []
    other = find_keywords(
        source, {**GIVEN, "targets": {"name": "kwls", "k1": 0.1}}, labels=["kitchen"], texts=0
    )
    assert other.keywords["kitchen"][0].relevance < found.keywords["kitchen"][0].relevance
    rival = find_keywords(source, GIVEN, by="tfidf", labels=["kitchen"])
    assert rival.keywords["kitchen"][0].relevance == pytest.approx(6 * np.log(2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "kwl"}, "unknown --by 'kwl'; did you mean 'kwls'"),
        (
            {"by": "distil"},
            "distil are a teacher's scores, not made of words; --by takes kwls or tfidf",
        ),
        ({"labels": ["kitchn"]}, "unknown label 'kitchn'; did you mean 'kitchen'"),
        ({"top": 0}, "--top must be at least 1"),
        ({"texts": -1}, "--texts 0, got"),
    ],
)
def test_mistakes_are_said(source, options, message):
    with pytest.raises(SettingsError, match=message):
        find_keywords(source, GIVEN, **options)


def test_hashes_have_no_words(source):
    with pytest.raises(SettingsError, match="no one knows their words"):
        find_keywords(source, {"embed": {"name": "hashes"}})

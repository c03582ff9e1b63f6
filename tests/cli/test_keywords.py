"""`tagwright keywords`."""

import pytest


@pytest.fixture
def goods(tmp_path):
    path = tmp_path / "goods.csv"
    kinds = (
        ("a red tent", "camping"),
        ("a blue tent", "camping"),
        ("a red pan", "kitchen"),
        ("an iron pan", "kitchen"),
    )
    rows = [f"{text} number {number},{label}" for number in range(10) for text, label in kinds]
    path.write_text("text,label\n" + "\n".join(rows) + "\n")
    return path


def test_keywords_and_texts_are_shown(call, goods):
    done = call("keywords", goods, "--top", 2, "--texts", 1)
    assert done.code == 0, done.err
    assert "keywords by kwls, 36 training texts" in done.out
    assert "tent" in done.out
    assert "█" in done.out
    assert "soft labels" in done.out


def test_json_has_everything(call, goods):
    done = call("keywords", goods, "--by", "tfidf", "--label", "kitchen", "--json")
    assert done.code == 0, done.err
    assert list(done.json["keywords"]) == ["kitchen"]
    assert done.json["keywords"]["kitchen"][0]["word"] == "pan"
    assert len(done.json["texts"]) == 5


def test_a_mistake_is_one_message(call, goods):
    done = call("keywords", goods, "--label", "kitchn")
    assert done.code == 2
    assert "did you mean 'kitchen'" in done.err

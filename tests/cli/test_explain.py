"""`tagwright explain`."""

import pytest

from ..tiny_encoders import write_encoder


@pytest.fixture(scope="module")
def cloze(texts, tmp_path_factory):
    """A model whose labels are slots before the text."""
    from tagwright.pipelines.fit import fit_folder

    home = tmp_path_factory.mktemp("cloze")
    encoder = {"name": "pretrained", "path": str(write_encoder(home / "tiny"))}
    given = {"encoder": encoder, "objective": "cloze", "fit": {"epochs": 1, "limit": 16}}
    fit_folder(str(texts), given, out=home / "model")
    return home / "model"


def test_layers_and_pairs_are_shown_and_the_page_is_written(call, cloze, texts, tmp_path):
    page = tmp_path / "page.html"
    done = call("explain", cloze, texts, "--attention", "--out", page, "--device", "cpu")
    assert done.code == 0, done.err
    assert "attention between 3 labels, 90 texts of all" in done.out
    assert "city + fruit" in done.out or "fruit + city" in done.out
    assert "likeness" in done.out
    assert f"page: {page}" in done.err
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 3
    again = call("explain", cloze, texts, "--attention", "--out", page)
    assert again.code == 2
    assert "--overwrite" in again.err


def test_json_is_alone_on_stdout(call, cloze, texts):
    done = call(
        "explain",
        cloze,
        texts,
        "--attention",
        "--layers",
        "last",
        "--texts",
        5,
        "--label",
        "city,tool",
        "--json",
    )
    assert done.code == 0, done.err
    assert done.json["texts"] == 5
    assert sorted(done.json["shown"]) == ["city", "tool"]
    assert [layer["layer"] for layer in done.json["layers"]] == [2]
    assert len(done.json["correlation"]) == 3


def test_data_without_labels_say_so(call, cloze, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text\nparis rome\niron\n")
    done = call("explain", cloze, path, "--attention", "--device", "cpu")
    assert done.code == 0, done.err
    assert "no labels were read" in done.err
    assert "likeness" not in done.out
    assert "correlation" not in done.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "--attention"),
        (
            ["--attention", "--layers", "9"],
            "unknown layer '9'; choices: low, middle, last or numbers from 1 to 2",
        ),
        (["--attention", "--label", "citty"], "did you mean 'city'"),
        (["--attention", "--split", "dev"], "no split 'dev'"),
        (["--attention", "--texts", "0"], "--texts must be at least 1"),
    ],
)
def test_a_mistake_is_one_message(call, cloze, texts, more, message):
    done = call("explain", cloze, texts, *more)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_model_without_slots_says_what_would_have_them(call, model, texts):
    done = call("explain", model, texts, "--attention")
    assert done.code == 2
    assert "no label slots" in done.err
    assert "--objective cloze" in done.err


def test_names_that_look_like_markup_are_shown_as_they_are(call, cloze, texts, monkeypatch):
    from tagwright.reports import attention

    strongest = attention.pair_table

    def renamed(facts):
        from dataclasses import replace

        return strongest(replace(facts, label_names=["[bold]a[/]", "b", "c"]))

    monkeypatch.setattr(attention, "pair_table", renamed)
    assert "[bold]a[/]" in call("explain", cloze, texts, "--attention", "--device", "cpu").out

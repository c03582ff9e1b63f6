"""Commands given tagged tokens, or a model that tags them: they work, or say clearly why not."""

import json

import pytest

from ..tagged_pages import tagged_rows, write_conll

TINY = [
    word
    for one in (
        "encoder.hidden=16",
        "encoder.layers=1",
        "encoder.heads=2",
        "encoder.width=8",
        "fit.learning_rate=0.02",
    )
    for word in ("--set", one)
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for seed, (name, count) in enumerate([("train", 60), ("dev", 20)]):
        write_conll(folder / f"{name}.conll", tagged_rows(count, seed=seed))
    return folder


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    rows = [(tokens, [tag.replace("B-", "I-") for tag in tags]) for tokens, tags in tagged_rows(30)]
    return write_conll(tmp_path_factory.mktemp("broken") / "broken.conll", rows)


@pytest.fixture(scope="module")
def tagger(pages, tmp_path_factory):
    from tagwright.pipelines.fit import fit_folder

    from ..tagged_pages import quick

    out = tmp_path_factory.mktemp("cli-tagger") / "model"
    fit_folder(str(pages), quick(), out=out)
    return out


def test_fit_score_and_tag_of_tokens(call, pages, tmp_path):
    out = tmp_path / "model"
    done = call("fit", pages, "--out", out, "--epochs", 4, *TINY, "--json")
    assert done.code == 0, done.err
    assert "score: entity_f1 on dev" in done.err
    scored = call("score", out, pages, "--json")
    assert scored.json["metrics"]["entity_f1"] == pytest.approx(
        done.json["metrics"]["entity_f1"], abs=1e-6
    )
    (tmp_path / "in.csv").write_text("text\nthe apple of paris\n")
    assert (
        call(
            "tag", out, tmp_path / "in.csv", "--out", tmp_path / "out.jsonl", "--column", "found"
        ).code
        == 0
    )
    assert set(json.loads((tmp_path / "out.jsonl").read_text())) == {"text", "found"}


@pytest.mark.parametrize("command", [["check"], ["fit", "--out", "never"]])
def test_strict_names_lines(call, broken, command):
    done = call(command[0], broken, *command[1:], "--strict")
    assert done.code == 2
    assert "broken.conll, line 3;" in " ".join(done.err.split())


def test_check_counts_what_it_mended_and_goes_on(call, broken):
    done = call("check", broken)
    assert done.code == 0
    assert "tags that cannot stand where they are" in " ".join((done.out + done.err).split())


def test_scores_of_broken_tags_are_those_of_sound_ones(call, broken, tagger, tmp_path):
    sound = write_conll(tmp_path / "sound.conll", tagged_rows(30))
    found = [
        call("score", tagger, path, "--json").json["metrics"]["entity_f1"]
        for path in (broken, sound)
    ]
    assert found[0] == found[1]


def test_a_decision_of_a_tagger_is_spans_with_or_without_rules(call, pages, tagger, tmp_path):
    import shutil

    model = tmp_path / "model"
    shutil.copytree(tagger, model)
    assert call("decide", model, pages, "--json").json["rule"] == "spans"
    loose = call("decide", model, pages, "--rule", "spans", "--set", "legal=false", "--json").json[
        "metrics"
    ]
    assert call("score", model, pages, "--json").json["metrics"]["entity_f1"] == pytest.approx(
        loose["entity_f1"]
    )
    assert call("decide", model).code == 0
    assert call("score", model, pages).code == 0
    for rule in ("argmax", "threshold", "topk"):
        done = call("decide", model, pages, "--rule", rule)
        assert (done.code, "spans is the decision about tokens" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["groups", "PAGES"], "tags tokens; groups are for labels of whole texts"),
        (["groups", "PAGES", "--by", "cooccurrence"], "tags tokens; groups are for labels"),
        (["groups", "PAGES", "--by", "confusions", "--model", "MODEL"], "this model tags tokens"),
        (["groups", "TEXTS", "--by", "elements", "--model", "MODEL"], "this model tags tokens"),
        (["keywords", "PAGES"], "tags tokens; words speak for labels of whole texts"),
        (["score", "MODEL", "TEXTS"], "no columns of tokens and tags"),
        (["fit", "PAGES", "--out", "never", "--encoder", "bow"], "to tag tokens take bat"),
        (["fit", "PAGES", "--out", "never", "--objective", "zlpr"], "losses that do: asymmetric"),
        (
            ["fit", "PAGES", "--out", "never", "--decide", "threshold"],
            "spans is the decision about tokens",
        ),
        (
            ["fit", "PAGES", "--out", "never", "--targets", "kwls"],
            "soft labels and masks are for labels of whole texts",
        ),
    ],
    ids=lambda value: " ".join(value[:4]) if isinstance(value, list) else "",
)
def test_what_is_for_whole_texts_is_refused(call, pages, tagger, texts, arguments, message):
    places = {"PAGES": pages, "MODEL": tagger, "TEXTS": texts}
    done = call(*(places.get(one, one) for one in arguments))
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_a_model_of_the_commands_is_a_tagger_of_tokens_in_python(tagger):
    from tagwright import TokenTagger, load

    loaded = load(tagger)
    assert isinstance(loaded, TokenTagger)
    assert loaded.predict([["a", "b"]])[0][0] in loaded.model_.heads["main"].space.names

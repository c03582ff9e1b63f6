"""`tagwright groups`."""

import tomllib

import pytest


@pytest.fixture
def prefixed(tmp_path):
    path = tmp_path / "prefixed.csv"
    rows = [
        f"text {n},{group}/{leaf}"
        for n, (group, leaf) in enumerate((g, x) for g in "ab" for x in "xyz" * 3)
    ]
    path.write_text("text,label\n" + "\n".join(rows) + "\n")
    return path


def test_groups_are_shown_and_written(call, prefixed, tmp_path):
    out = tmp_path / "g.toml"
    done = call("groups", prefixed, "--by", "prefix", "--out", out)
    assert done.code == 0, done.err
    assert "2 groups with 6 of 6 labels" in done.out
    assert done.err == f"groups: {out}\n"
    assert tomllib.loads(out.read_text())["groups"] == {
        "a": ["a/x", "a/y", "a/z"],
        "b": ["b/x", "b/y", "b/z"],
    }


def test_without_out_nothing_is_written(call, prefixed, tmp_path):
    done = call("groups", prefixed)
    assert done.code == 0, done.err
    assert done.err == ""
    assert list(tmp_path.iterdir()) == [prefixed]


def test_json_is_one_object_with_the_evidence(call, texts, tmp_path):
    out, options = tmp_path / "g.toml", ["--split", "all", "--share", 0.001, "--least", 1]
    done = call("groups", texts, "--by", "cooccurrence", *options, "--out", out, "--json")
    assert done.code == 0, done.err
    assert done.json["groups"] == tomllib.loads(out.read_text())["groups"]
    assert (done.json["by"], done.json["split"], done.json["rows"], done.json["file"]) == (
        "cooccurrence",
        "all",
        90,
        str(out),
    )
    (pairs,) = done.json["evidence"].values()
    assert set(pairs[0]) == {"left", "right", "texts", "rate"}


def test_confusions_of_a_model_are_groups(call, model, tmp_path):
    path = tmp_path / "swapped.csv"
    rows = ["paris rome,fruit", "apple pear,city", "saw drill,tool", "oslo rome,fruit;tool"] * 5
    path.write_text("text,labels\n" + "\n".join(rows) + "\n")
    done = call("groups", path, "--by", "confusions", "--model", model, "--split", "all", "--json")
    assert done.code == 0, done.err
    (group,) = [members for members in done.json["groups"].values() if "city" in members]
    assert "fruit" in group
    assert done.json["split"] == "all"


def test_suggested_groups_show_the_pair_most_alike(call, texts):
    done = call("groups", texts, "--by", "cooccurrence", "--share", 0.05)
    assert done.code == 0, done.err
    assert "most alike" in done.out


def test_elements_are_shown_and_written(call, model, texts, tmp_path):
    out = tmp_path / "e.csv"
    options = [
        "--by",
        "elements",
        "--model",
        model,
        "--threshold",
        0.05,
        "--select",
        "all",
        "--split",
        "all",
    ]
    done = call("groups", texts, *options, "--device", "cpu", "--out", out)
    assert done.code == 0, done.err
    assert out.read_text().startswith("word,label,texts,drop\n")
    pairs = len(out.read_text().splitlines()) - 1
    assert f"{pairs} pairs of a word and a label" in done.out
    assert "90 of 90 texts (all)" in done.out
    assert "decisions are so near the threshold" in " ".join(done.out.split())
    assert done.err.endswith(f"elements: {out}\n")
    assert "copies, a word short: " in done.err


def test_elements_as_json_are_one_object(call, model, texts):
    options = [
        "--by",
        "elements",
        "--model",
        model,
        "--threshold",
        0.05,
        "--select",
        "all",
        "--split",
        "all",
    ]
    done = call("groups", texts, *options, "--json")
    assert done.code == 0, done.err
    assert set(done.json["elements"][0]) == {"word", "label", "texts", "drop"}
    assert (done.json["by"], done.json["selected"], done.json["file"]) == ("elements", 90, None)
    assert done.json["copies"] >= done.json["skipped"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "e.toml"], "--out must end in .csv"),
        (["--share", 0.1], "--share goes with --by"),
        (["--threshold", 1.5], "below 1, got 1.5"),
        (["--select", "right"], "unknown choice of texts"),
        (["--resume"], "name it with --out"),
    ],
)
def test_mistakes_with_elements_are_one_message(call, model, texts, options, message):
    done = call("groups", texts, "--by", "elements", "--model", model, *options)
    assert done.code == 2
    assert message in " ".join(done.err.split())

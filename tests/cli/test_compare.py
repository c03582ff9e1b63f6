"""`tagwright compare`."""


def test_json_is_one_object_with_verdict_and_differences(call, texts, quick, tmp_path):
    done = call("compare", texts, "--objectives", "bce, zlpr", "--seeds", 2, "--out", tmp_path / "c", *quick, "--json")
    assert done.code == 0, done.err
    assert done.json["baseline"] == "bce"
    assert {d["objective"] for d in done.json["differences"]} == {"zlpr"}
    assert done.json["verdict"] in done.err.replace("\n", " ")


def test_one_seed_is_plain_json_too(call, texts, quick, tmp_path):
    done = call("compare", texts, "--objectives", "bce,zlpr", "--seeds", 1, "--out", tmp_path / "c", *quick, "--json")
    assert done.code == 0, done.err
    assert "seed" in done.json["verdict"]
    again = call("compare", texts, "--objectives", "bce,zlpr", "--seeds", 1, "--out", tmp_path / "c", *quick)
    assert again.code == 2
    assert "--resume" in again.err

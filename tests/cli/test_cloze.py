"""Labels as slots through the commands: fit, score and tag, and what a person is told."""

import csv
import tomllib

import pytest

from ..cloze_cases import folder_of


def options(*more):
    run = [
        "--epochs",
        2,
        "--set",
        "fit.limit=16",
        "--set",
        "fit.learning_rate=0.01",
        "--set",
        "fit.device=cpu",
    ]
    return ["--encoder", "pretrained", "--set", f"encoder.path={folder_of('roberta')}", *run, *more]


@pytest.fixture(scope="module")
def cloze(texts, tmp_path_factory):
    """A trained model folder with label slots, what it said of dev, and its settings."""
    from tagwright.pipelines.fit import fit_folder

    out = tmp_path_factory.mktemp("cloze") / "model"
    run = {"epochs": 2, "learning_rate": 0.01, "limit": 16, "device": "cpu"}
    encoder = {"name": "pretrained", "path": str(folder_of("roberta"))}
    given = {
        "objective": "cloze",
        "head": {"masking": "part", "rounds": 2},
        "encoder": encoder,
        "fit": run,
    }
    return out, fit_folder(str(texts), given, out=out)


def test_the_head_and_its_settings_are_given_by_options(call, texts, cloze, tmp_path):
    slots = ["--objective", "cloze", "--set", "head.masking=part", "--set", "head.rounds=2"]
    done = call("fit", texts, "--out", tmp_path / "m", *options(*slots), "--json")
    assert done.code == 0, done.err
    out, outcome = cloze
    assert done.json["metrics"]["lrap"] == pytest.approx(outcome.metrics["lrap"])
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == (
        out / "model.safetensors"
    ).read_bytes()
    made = tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())
    assert made["head"]["name"] == "cloze"
    assert (made["head"]["masking"], made["head"]["rounds"], made["loss"]["labels"]) == (
        "part",
        2,
        "mean",
    )


def test_head_cloze_goes_with_another_loss(call, texts, tmp_path):
    done = call(
        "fit",
        texts,
        "--out",
        tmp_path / "m",
        *options("--objective", "zlpr", "--head", "cloze"),
        "--json",
    )
    assert done.code == 0, done.err
    assert tomllib.loads((tmp_path / "m" / "resolved.toml").read_text())["loss"]["name"] == "zlpr"


def test_score_and_tag_take_the_folder(call, cloze, texts, tmp_path):
    folder, _ = cloze
    done = call("score", folder, texts, "--json")
    assert done.code == 0, done.err
    assert done.json["rows"] == 90
    done = call("tag", folder, texts, "--out", tmp_path / "o.csv", "--json")
    assert done.code == 0, done.err
    with (tmp_path / "o.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 90


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--set", "fit.limit=39"],
            "3 labels take 9 positions before a text, and this encoder has 1 left",
        ),
        (["--set", "head.chunks=0"], "head.chunks must be at least 1"),
        (["--set", "head.tamplate=short"], "did you mean 'template'"),
        (["--set", "head.template=shorter"], "did you mean 'short'"),
        (["--loss", "adaptive_threshold"], "take zlpr"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(call, texts, tmp_path, more, said):
    done = call("fit", texts, "--out", tmp_path / "m", *options("--objective", "cloze", *more))
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("encoder", ["cnn", "bow", "bat"])
def test_other_encoders_are_refused(call, texts, tmp_path, encoder):
    done = call("fit", texts, "--out", tmp_path / "m", "--encoder", encoder, "--head", "cloze")
    assert done.code == 2
    assert "head cloze is for pretrained encoders" in " ".join(done.err.split())
    assert list(tmp_path.iterdir()) == []

"""Every option of a command reaches the setting or the argument that it is named after."""

import pytest

from tagwright.errors import SettingsError

# option -> its value on the command line, the section and key it sets, the value there
TRAINING = {
    "--text": ("body", "data", "text", "body"),
    "--labels": ("tags", "data", "labels", "tags"),
    "--task": ("many", "data", "task", "many"),
    "--separator": ("|", "data", "separator", "|"),
    "--encoder": ("lstm", "encoder", "name", "lstm"),
    "--head": ("cloze", "head", "name", "cloze"),
    "--epochs": (7.5, "fit", "epochs", 7.5),
    "--batch": (9, "fit", "batch", 9),
    "--learning-rate": (0.25, "fit", "learning_rate", 0.25),
    "--split-seed": (3, "split", "seed", 3),
    "--keep": ("city=4", "split", "keep", {"city": 4}),
    "--device": ("cpu", "fit", "device", "cpu"),
}
FIT = TRAINING | {
    "--strict": (None, "data", "strict", True),
    "--loss": ("bce", "loss", "name", "bce"),
    "--targets": ("smooth", "targets", "name", "smooth"),
    "--soft-from-step": (5, "soft", "from_step", 5),
    "--mask": ("groups", "mask", "name", "groups"),
    "--label-weights": ("ee", "weights", "name", "ee"),
    "--decide": ("zero", "decide", "name", "zero"),
    "--metric": ("micro_f1", "fit", "metric", "micro_f1"),
    "--schedule": ("cosine", "schedule", "name", "cosine"),
    "--refit": (None, "fit", "refit", True),
    "--no-refit": (None, "fit", "refit", False),
    "--head-chunk": (64, "head", "chunk", 64),
    "--vectors": ("glove.txt", "fit", "vectors", "glove.txt"),
    "--seed": (11, "fit", "seed", 11),
    "--deterministic": (None, "fit", "deterministic", True),
}


@pytest.fixture
def handed(call, monkeypatch):
    """Run a command whose work is replaced; the arguments of that work come back."""

    def run(work, *arguments):
        heard = []

        def stop(*given, **options):
            heard.append((given, options))
            raise SettingsError("far enough")

        monkeypatch.setattr(work, stop)
        done = call(*arguments)
        assert "far enough" in done.err, done.err
        return heard[0]

    return run


def words(option, value):
    return [option] if value is None else [option, value]


@pytest.mark.parametrize("option", FIT)
def test_an_option_of_fit_is_its_setting_alone(handed, option):
    value, section, key, expected = FIT[option]
    work = "tagwright.pipelines.fit.fit_folder"
    arguments = ("fit", "texts.csv", "--out", "m", *words(option, value))
    assert handed(work, *arguments)[0][1] == {section: {key: expected}}


@pytest.mark.parametrize("option", TRAINING)
def test_an_option_of_compare_is_its_setting_alone(handed, option):
    value, section, key, expected = TRAINING[option]
    start = ("compare", "texts.csv", "--objectives", "bce,zlpr", "--out", "c")
    given, options = handed("tagwright.pipelines.compare.compare_folder", *start, option, value)
    assert (given[1], options["chosen"]) == ({}, {section: {key: expected}})
    assert options["objectives"] == ["bce", "zlpr"]


@pytest.mark.parametrize(
    ("option", "value", "name", "expected"),
    [
        ("--encoders", "bow, cnn", "encoders", ["bow", "cnn"]),
        ("--seeds", 3, "seeds", 3),
        ("--sweep", "zlpr:fit.epochs=1,2", "sweep", ["zlpr:fit.epochs=1,2"]),
        ("--metric", "micro_f1", "metric", "micro_f1"),
        ("--split", "dev", "split", "dev"),
        ("--jobs", 2, "jobs", 2),
        ("--resume", None, "resume", True),
        ("--overwrite", None, "overwrite", True),
    ],
)
def test_an_option_of_compare_is_its_argument(handed, option, value, name, expected):
    start = ("compare", "texts.csv", "--objectives", "bce,zlpr", "--out", "c")
    work = "tagwright.pipelines.compare.compare_folder"
    options = handed(work, *start, *words(option, value))[1]
    assert options[name] == expected


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--model", "m", "m"),
        ("--split", "dev", "dev"),
        ("--share", 0.5, 0.5),
        ("--least", 2, 2),
        ("--prefix-separator", "/", "/"),
    ],
)
def test_an_option_of_groups_is_its_argument(handed, option, value, expected):
    arguments = ("groups", "texts.csv", "--separator", ";", option, value)
    options = handed("tagwright.pipelines.groups.find_groups", *arguments)[1]
    given = {name: str(it) for name, it in options["options"].items() if it is not None}
    assert given == {option[2:].replace("-", "_"): str(expected)}
    assert options["separator"] == ";"


def test_check_refuses_broken_tags_where_it_is_told_to_be_strict(call, tmp_path):
    path = tmp_path / "broken.conll"
    path.write_text("oslo I-CITY\nis O\n\n" * 12)
    assert call("check", path).code == 0
    strict = call("check", path, "--strict")
    assert strict.code == 2
    assert "line 1" in strict.err


def test_the_time_left_is_that_of_the_runs_that_are_left(monkeypatch):
    """One run of four was there; one was made in ten seconds, so two more take twenty."""
    from tagwright.cli import _live

    clock = [0.0]
    monkeypatch.setattr(_live.time, "monotonic", lambda: clock[0])
    table = _live.LiveTable("macro_f1")
    table.begin([], [])
    table.stop()
    table.rows = [{"test": {}}, None, None, None]
    clock[0] = 10.0
    table.end(1, {"test": {}})
    assert "2 of 4 runs, 10 s, about 20 s left" in str(table.table().renderables[1])

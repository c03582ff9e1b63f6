"""A package that adds parts (tests/plugin), installed, and used by the commands in processes of
their own.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tagwright import registry

HERE = Path(__file__).parent
SOURCE = Path(registry.__file__).parents[1]
NAMES = {
    "losses": "absolute_error",
    "encoders": "mean_words",
    "decisions": "one_level",
    "readers": "pipes",
    "metrics": "cardinality",
}
ALLOW = "--allow-plugins"
WORDS = {
    "city": ["paris", "rome", "oslo"],
    "fruit": ["apple", "pear", "plum"],
    "tool": ["hammer", "saw", "drill"],
}
TINY = [
    "--encoder",
    "mean_words",
    "--set",
    "encoder.width=8",
    "--set",
    "fit.epochs=2",
    "--device",
    "cpu",
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on whose path the package is, with its entry points; the environment of the tests
    stays as it is.
    """
    made = tmp_path_factory.mktemp("plugin")
    shutil.copytree(HERE / "plugin", made / "source")  # a build leaves files in its folder
    options = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--disable-pip-version-check",
    ]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        str(made / "site"),
        str(made / "source"),
    ]
    subprocess.run(command, check=True)
    return made / "site"


@pytest.fixture(scope="module")
def run(installed: Path):
    """Run Python with the package there."""
    paths = [str(SOURCE), str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}

    def called(*arguments: object, cwd: Path = HERE.parent) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=cwd, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return called


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of text and labels in the package's own format."""
    draw, path = random.Random(0), tmp_path_factory.mktemp("data") / "rows.psv"
    lines = ["text|labels"]
    for number in range(120):
        labels = draw.sample(sorted(WORDS), draw.choice([1, 1, 2]))
        words = [draw.choice(WORDS[label]) for label in labels for _ in range(2)]
        lines.append(f"{' '.join(words)} n{number}|{';'.join(labels)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(run, data: Path) -> Path:
    """A model folder of a loss, an encoder and a decision of the package, and its outcome beside
    it.
    """
    folder = data.parent
    options = ["--objective", "absolute_error", "--decide", "one_level", "--json"]
    done = run("-m", "tagwright", "fit", "rows.psv", "--out", "m", *TINY, *options, cwd=folder)
    (folder / "fit.json").write_text(done.stdout, encoding="utf-8")
    return folder / "m"


def test_the_list_of_parts_says_whose_they_are(run):
    found = json.loads(run("-m", "tagwright", "parts", "--json").stdout)
    for kind, name in NAMES.items():
        assert found[kind][name]["package"] == "tagwright-extra"
        assert "broken" not in found[kind][name]


def test_importing_tagwright_imports_nothing_of_it(run):
    code = (
        "import sys, tagwright; from tagwright import registry; registry.names('losses'); "
        "assert registry.third_party('losses', 'absolute_error') == 'tagwright-extra'; "
        "sys.exit('tagwright_extra' in sys.modules)"
    )
    run("-c", code)


def test_its_parts_keep_the_contracts(run):
    kinds = ("decisions", "encoders", "loss_modules", "metrics", "readers")
    chosen = [
        *(f"tests/contract/test_{kind}.py" for kind in kinds),
        "-k",
        " or ".join(NAMES.values()),
    ]
    command = ["-m", "pytest", "-p", "no:cacheprovider", *chosen]
    listed = run(*command, "--collect-only").stdout
    assert all(name in listed for name in NAMES.values())
    assert "[100%]" in run(*command).stdout


def test_fit_makes_a_model_of_its_parts(model: Path):
    outcome = json.loads((model.parent / "fit.json").read_text(encoding="utf-8"))
    assert outcome["metrics"]["cardinality_error"] >= 0
    decision = json.loads((model / "heads" / "main" / "decision.json").read_text(encoding="utf-8"))
    assert decision["rule"] == "one_level"
    assert f"Every label whose probability is above {decision['level']:.2f}." in (
        model / "README.md"
    ).read_text("utf-8")
    assert "labels too many or too few" in (model.parent / "m.run" / "report.html").read_text(
        encoding="utf-8"
    )


def test_score_and_tag_read_the_model_and_the_data(run, model: Path):
    folder = model.parent
    scored = json.loads(
        run("-m", "tagwright", "score", "m", "rows.psv", "--json", ALLOW, cwd=folder).stdout
    )
    assert scored["metrics"].keys() >= {"cardinality_error", "mean_cardinality", "micro_f1"}
    run("-m", "tagwright", "tag", "m", "rows.psv", "--out", "tags.csv", ALLOW, cwd=folder)
    assert len((folder / "tags.csv").read_text(encoding="utf-8").splitlines()) == 121


def test_decide_fits_its_decision_anew(run, model: Path):
    folder = model.parent
    shutil.copytree(model, folder / "again")
    options = ["--rule", "one_level", "--set", "levels=3", "--json", ALLOW]
    found = json.loads(
        run("-m", "tagwright", "decide", "again", "rows.psv", *options, cwd=folder).stdout
    )
    assert found["rule"] == "one_level"
    decision = json.loads(
        (folder / "again" / "heads" / "main" / "decision.json").read_text(encoding="utf-8")
    )
    assert decision["level"] in (0.25, 0.5, 0.75)


def test_compare_compares_its_loss(run, data: Path):
    options = [
        "--objectives",
        "absolute_error,bce",
        "--seeds",
        "1",
        "--set",
        "decide=one_level",
        "--json",
    ]
    done = run(
        "-m", "tagwright", "compare", "rows.psv", "--out", "c", *TINY, *options, cwd=data.parent
    )
    assert set(json.loads(done.stdout)["objectives"]) == {"absolute_error", "bce"}


def refused(*arguments: object, installed: Path | None, cwd: Path) -> str:
    """What a command says that ends as a user's mistake."""
    paths = [str(SOURCE), *([] if installed is None else [str(installed)])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=cwd, check=False
    )
    assert done.returncode == 2, done.stdout + done.stderr
    return done.stderr


def test_a_model_of_a_package_that_is_gone_names_the_package(model: Path):
    said = refused("-m", "tagwright", "score", "m", "rows.csv", installed=None, cwd=model.parent)
    assert (
        "m needs the encoder 'mean_words' of the package tagwright-extra, which is not installed"
        in said
    )


def test_a_model_of_another_package_is_loaded_only_where_that_is_allowed(
    installed: Path, model: Path
):
    """Loading runs the package's code, so a folder from elsewhere must not choose it. Nothing of it
    is imported.
    """
    code = (
        "import sys\nfrom tagwright import load\nfrom tagwright.errors import ModelError\n"
        "try:\n    load('m')\nexcept ModelError as error:\n    print(error, file=sys.stderr)\n"
        "sys.exit(3 if 'tagwright_extra' in sys.modules else 2)"
    )
    for arguments in (["-c", code], ["-m", "tagwright", "tag", "m", "x.csv", "--out", "y.csv"]):
        said = refused(*arguments, installed=installed, cwd=model.parent)
        assert "the encoder 'mean_words' of the package tagwright-extra" in said
        assert "--allow-plugins" in said


def test_python_loads_it_where_that_is_allowed(run, model: Path):
    code = "from tagwright import load; print(load('m', plugins=True).predict(['paris rome']))"
    assert "city" in run("-c", code, cwd=model.parent).stdout

"""Importing does nothing, and little is imported."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import tagwright

SOURCE = Path(tagwright.__file__).parent
MODULES = sorted(
    "tagwright." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in SOURCE.rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)


def run(code, *arguments, cwd=None):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


def loaded_after(code):
    done = run(f"{code}\nimport sys; sys.stderr.write('\\nMODULES ' + ' '.join(sys.modules))")
    return set(done.stderr.rpartition("MODULES ")[2].split())


def test_the_package_loads_nothing_heavy():
    heavy = {
        "torch",
        "pyarrow",
        "sklearn",
        "numpy",
        "scipy",
        "rich",
        "typer",
        "tokenizers",
        "altair",
    }
    assert not heavy & loaded_after("import tagwright")


def test_help_loads_neither_torch_nor_pyarrow():
    code = """
import sys
sys.argv = ["tagwright", "--help"]
from tagwright.cli import main
try:
    main()
except SystemExit:
    pass
"""
    assert not {"torch", "pyarrow", "sklearn", "scipy", "altair"} & loaded_after(code)


def test_help_of_the_module_shows_every_command():
    done = subprocess.run(
        [sys.executable, "-m", "tagwright", "--help"], capture_output=True, text=True, check=True
    )
    for name in ("check", "fit", "compare", "score", "tag", "decide", "parts", "report", "demo"):
        assert name in done.stdout


def test_importing_every_module_changes_nothing(tmp_path):
    """No file, no output, no logging or warnings set-up, no environment, no thread count."""
    code = """
import logging, os, sys, warnings
import torch, numpy, scipy.special, sklearn, pyarrow, altair, typer, rich, tokenizers
import importlib
def state():
    torch_state = torch.get_num_threads(), torch.initial_seed()
    logs = logging.root.handlers[:], logging.root.level
    return dict(os.environ), list(warnings.filters), *logs, *torch_state
before = state()
for name in sys.argv[1:]:
    importlib.import_module(name)
for one, other in zip(before, state()):
    assert one == other, (one, other)
"""
    done = run(code, *MODULES, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_transformers_waits_until_a_pretrained_encoder_is_made():
    names = ("models.encoders.pretrained", "tokenizers", "pipelines.fit", "integrations.tagger")
    code = f"import {', '.join(f'tagwright.{name}' for name in names)}"
    assert not {"transformers", "peft", "huggingface_hub"} & loaded_after(code)


def test_the_public_names_are_those_that_dir_shows():
    names = {"LinearObjective", "SparseMask", "SparseTarget", "Tagger", "TokenTagger"}
    assert set(tagwright.__all__) == {*names, "load", "losses", "__version__"}
    assert dir(tagwright) == sorted(tagwright.__all__)
    assert all(getattr(tagwright, name) is not None for name in tagwright.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        tagwright.nonsense  # noqa: B018


def test_the_version_is_that_of_the_installed_package():
    assert tagwright.__version__ == version("tagwright")

"""Where encoders are looked for, and what is said when they are not there."""

import builtins
import sys
from pathlib import Path

import pytest

from tagwright.errors import ModelError, SettingsError
from tagwright.tokenizers import source
from tagwright.tokenizers.source import Carried, find_local, find_source


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """No encoders on this machine, and no hub."""
    monkeypatch.delenv("TAGWRIGHT_ENCODERS", raising=False)
    monkeypatch.setitem(
        source.NAMED, "minilm", source.NAMED["minilm"]._replace(package="no_such_package")
    )
    source._packed.cache_clear()


def filled(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_folder_is_taken_as_it_is(tmp_path):
    assert find_source(str(filled(tmp_path / "own"))) == tmp_path / "own"


def test_name_is_looked_up_on_the_shelf(tmp_path, monkeypatch):
    filled(tmp_path / "mine")
    monkeypatch.setenv("TAGWRIGHT_ENCODERS", str(tmp_path))
    assert find_source("mine") == tmp_path / "mine"


def test_our_names_are_no_folders_of_the_working_directory(tmp_path, monkeypatch):
    filled(tmp_path / "minilm")  # say, a model of that name
    monkeypatch.chdir(tmp_path)
    assert find_local("minilm") is None


def test_missing_minilm_says_where_it_was_looked_for(tmp_path, monkeypatch):
    with pytest.raises(
        SettingsError, match=r"no package .*tagwright\[minilm\].*TAGWRIGHT_ENCODERS names no folder"
    ):
        find_source("minilm")
    monkeypatch.setenv("TAGWRIGHT_ENCODERS", str(tmp_path))
    with pytest.raises(
        SettingsError,
        match=f"no folder {tmp_path}/mpnet.*encoder.path=sentence-transformers/all-mpnet",
    ):
        find_source("mpnet")


def test_folder_without_safetensors_is_refused_with_what_it_holds(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(
        ModelError, match=r"has no \*.safetensors; it holds pytorch_model.bin. Pickled weights"
    ):
        find_source(str(tmp_path))


def test_missing_path_is_asked_for():
    with pytest.raises(SettingsError, match=r"encoder.path is missing"):
        find_source("")


def carried(tmp_path, monkeypatch, digest):
    """A package with weights, whose code must never run."""
    package = tmp_path / "carries_weights"
    filled(package / "model")
    (package / "__init__.py").write_text(
        "raise RuntimeError('the package was run')", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    made = Carried(
        repository="x/y", package="carries_weights", inside="model", digest=digest, extra="minilm"
    )
    monkeypatch.setitem(source.NAMED, "minilm", made)
    return package / "model"


def test_package_with_the_right_weights_is_taken_unrun(tmp_path, monkeypatch):
    import hashlib

    folder = carried(tmp_path, monkeypatch, hashlib.sha256(b"weights").hexdigest())
    assert find_source("minilm") == folder
    assert "carries_weights" not in sys.modules


def test_package_with_other_weights_is_refused(tmp_path, monkeypatch):
    carried(tmp_path, monkeypatch, "0" * 64)
    with pytest.raises(ModelError, match="is not the file it should be"):
        find_source("minilm")


def test_unreachable_hub_is_said_with_all_places(monkeypatch):
    import huggingface_hub

    def fails(*arguments, **options):
        raise ConnectionError("no route\nto the host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fails)
    with pytest.raises(
        SettingsError,
        match=r"no encoder 'owner/name': no folder .*hub cannot be reached \(no route\)",
    ):
        find_source("owner/name")


def test_hub_is_asked_for_weights_and_tokenizer_alone(monkeypatch, tmp_path):
    import huggingface_hub

    asked = {}

    def download(name, *, allow_patterns, ignore_patterns):
        asked.update(name=name, allow=allow_patterns, ignore=ignore_patterns)
        return str(filled(tmp_path / "hub"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert find_source("owner/name") == tmp_path / "hub"
    assert asked["name"] == "owner/name"
    assert not any(pattern.endswith((".bin", ".py", "*")) for pattern in asked["allow"])


def test_missing_transformers_is_said_with_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "transformers":
            raise ImportError("No module named 'transformers'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingsError, match=r"needs transformers.*tagwright\[pretrained\]"):
        source.transformers()

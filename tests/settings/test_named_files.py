"""What settings' files hold counts, and where they stand does not."""

import numpy as np
import pytest

from tagwright.data import read_data
from tagwright.settings.named_files import file_digests, with_contents
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare

CSV = "group,label\na,city\na,tool\n"


def of_groups(path):
    return resolve({"objective": "maskloss-label", "mask": {"groups": str(path)}})


def test_settings_without_files_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prefix").write_text("no file of groups: this is what groups are by default")
    for given in (
        {},
        {"objective": "lm-mtc", "encoder": "minilm"},
        {"objective": "maskloss-label"},
    ):
        settings = resolve(given)
        assert repr(with_contents(settings)) == repr(settings.as_dict())
        assert file_digests(settings) == []


@pytest.mark.parametrize("name", ["groups.csv", "groups", "groups.tab"])
def test_a_file_is_known_by_its_content_whatever_it_is_called(tmp_path, name):
    """Only files called .csv or .toml counted in the keys of runs."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(CSV)
    one, two = (of_groups(tmp_path / folder / name) for folder in ("one", "two"))
    before = with_contents(one)
    assert before == with_contents(two)
    (tmp_path / "one" / name).write_text(CSV.replace("tool", "fruit"))
    assert with_contents(one) != before
    assert file_digests(one) != file_digests(two)


def test_options_of_any_part_count(tmp_path):
    """Only some options of masks and targets did."""
    path = tmp_path / "template.txt"
    found = []
    for text in ("one", "two"):
        path.write_text(text)
        settings = resolve({"encoder": {"name": "minilm", "path": str(path)}})
        found.append((file_digests(settings), with_contents(settings)["encoder"]["path"]))
    assert found[0] != found[1]


def test_several_folders_of_models_count(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(name)
    model = f"{tmp_path / 'one'}, {tmp_path / 'two'}"
    settings = resolve({"objective": "ls-distil", "targets": {"model": model}})
    before = with_contents(settings)
    assert len(file_digests(settings)) == 2
    (tmp_path / "two" / "manifest.json").write_text("edited")
    assert with_contents(settings) != before


def test_a_long_text_is_no_path():
    settings = of_groups("x" * 5000)
    assert file_digests(settings) == []


@pytest.mark.parametrize("suffix", [".txt", ".npy"])
def test_vectors_that_changed_are_another_fingerprint(source, tmp_path, suffix):
    """Vectors did not count; those of an array have their words in a file beside it."""
    path, data, found = tmp_path / f"vectors{suffix}", read_data(source), []
    for words in (("paris", "saw"), ("paris", "saw"), ("oslo", "saw")):
        if suffix == ".npy":
            np.save(path, np.eye(2, 8, dtype=np.float32))
            path.with_suffix(".words").write_text("\n".join(words) + "\n")
        else:
            path.write_text("".join(f"{word} {' '.join('12345678')}\n" for word in words))
        settings = resolve({"fit": {"vectors": str(path)}})
        found.append((prepare(data, settings).fingerprint(settings), with_contents(settings)))
    assert found[0] == found[1]
    assert found[0][0] != found[2][0]
    assert found[0][1] != found[2][1]

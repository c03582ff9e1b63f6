"""Elements of data by a model folder: the file, the labels that share words, resuming, what is
refused.
"""

import pytest

from tagwright.data import read_data
from tagwright.errors import DataError, InUseError, ModelError, SettingsError, WriteError
from tagwright.explain import deletion
from tagwright.explain.dependencies import find_elements
from tagwright.inference import model_folder
from tagwright.masks.dependencies import excused, read_elements
from tagwright.pipelines import element_groups
from tagwright.pipelines.element_groups import find_element_groups
from tagwright.storage import files, lock


def stop(done, total):
    if done > 100:
        raise KeyboardInterrupt


def test_elements_of_a_split_are_written_and_read_back(trained, split_source, tmp_path):
    out = tmp_path / "new" / "e.csv"
    done = find_element_groups(
        str(split_source), out=out, options={"model": trained, "threshold": 0.2}
    )
    table = read_data(split_source).tables["train"]
    expected = find_elements(model_folder.load(trained), table, threshold=0.2).elements
    assert done.found.elements == expected
    assert [(row.word, row.label, row.texts) for row in read_elements(out)] == [
        row[:3] for row in expected
    ]
    assert (done.split, done.found.texts, done.warnings) == ("train", 90, ())
    assert [path.name for path in out.parent.iterdir()] == ["e.csv"]


def test_pairs_count_the_texts_of_a_gold_label_that_excuse_another(trained, split_source):
    done = find_element_groups(
        str(split_source), options={"model": trained, "threshold": 0.02, "select": "all"}
    )
    model, table = model_folder.load(trained), read_data(split_source).tables["train"]
    space = model.heads["main"].space
    target = space.encode(table["labels"]).matrix(len(space))
    cells = excused(
        model.tokenizer.encode_words(table["text"]), done.found.elements, space, target
    ).toarray()
    assert done.pairs
    for pair in done.pairs:
        left, right = space.index[pair.left], space.index[pair.right]
        assert pair.texts == (target.toarray()[:, left].astype(bool) & cells[:, right]).sum()
    assert [pair.texts for pair in done.pairs] == sorted(
        (pair.texts for pair in done.pairs), reverse=True
    )
    assert done.excusing == cells.any(1).sum()


def test_without_a_train_split_that_of_the_training_is_taken_and_said(trained, source):
    done = find_element_groups(str(source), options={"model": trained, "threshold": 0.2})
    assert done.found.texts < 120
    assert "has no train: split as in the model's training" in done.warnings[0]
    held = find_element_groups(
        str(source), options={"model": trained, "threshold": 0.0, "select": "all", "split": "dev"}
    )
    assert held.found.texts == 120 - done.found.texts
    assert "has no dev: split as in the model's training" in held.warnings[0]
    whole = find_element_groups(
        str(source), options={"model": trained, "threshold": 0.2, "split": "all"}
    )
    assert (whole.found.texts, whole.warnings) == (120, ())


def test_interrupted_run_is_gone_on_with_only_if_that_is_asked_for(
    trained, source, tmp_path, monkeypatch
):
    monkeypatch.setattr(deletion, "COPIES", 64)
    out, options = tmp_path / "e.csv", {"model": trained, "threshold": 0.2}

    with pytest.raises(KeyboardInterrupt):
        find_element_groups(str(source), out=out, options=options, progress=stop)
    assert not out.exists()
    with pytest.raises(SettingsError, match=r"an unfinished run stands in .* go on with --resume"):
        find_element_groups(str(source), out=out, options=options)
    done = find_element_groups(str(source), out=out, options={**options, "resume": True})
    assert done.found.taken_over > 100
    assert [path.name for path in tmp_path.iterdir()] == ["e.csv"]
    assert (
        find_element_groups(str(source), out=out, overwrite=True, options=options).found.taken_over
        == 0
    )


def test_resuming_with_other_settings_is_refused_and_loses_nothing(
    trained, source, tmp_path, monkeypatch
):
    monkeypatch.setattr(deletion, "COPIES", 64)
    out, options = tmp_path / "e.csv", {"model": trained, "threshold": 0.2}

    with pytest.raises(KeyboardInterrupt):
        find_element_groups(str(source), out=out, options=options, progress=stop)
    with pytest.raises(ModelError, match="is of another model, other texts or settings"):
        find_element_groups(
            str(source), out=out, options={**options, "threshold": 0.3, "resume": True}
        )
    assert (
        find_element_groups(
            str(source), out=out, options={**options, "resume": True}
        ).found.taken_over
        > 100
    )


def test_a_model_of_other_labels_is_refused(trained, tmp_path):
    (tmp_path / "other.csv").write_text(
        "text,labels\n" + "".join(f"word {i},nobody{i % 2}\n" for i in range(30))
    )
    with pytest.raises(DataError, match="labels"):
        find_element_groups(
            str(tmp_path / "other.csv"),
            options={"model": trained, "select": "all", "threshold": 0.0},
        )


def test_nothing_found_is_an_error_and_leaves_nothing(trained, source, tmp_path):
    with pytest.raises(
        SettingsError, match=r"falls by more than 0\.99 without a word; lower --threshold"
    ):
        find_element_groups(
            str(source), out=tmp_path / "e.csv", options={"model": trained, "threshold": 0.99}
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("e.toml", {"model": "m"}, r"written as CSV, so --out must end in \.csv"),
        ("e.csv", {}, "--by elements asks a trained model"),
        (
            "e.csv",
            {"model": "m", "share": 0.1},
            "--share goes with --by confusions or cooccurrence, not with elements",
        ),
        (None, {"model": "m", "resume": True}, "name it with --out"),
    ],
)
def test_options_that_do_not_go_together_are_an_error(source, tmp_path, name, options, message):
    with pytest.raises(SettingsError, match=message):
        find_element_groups(str(source), out=name and tmp_path / name, options=options)


def test_file_that_stands_is_left_alone(source, trained, tmp_path, monkeypatch):
    (tmp_path / "e.csv").write_text("mine")
    monkeypatch.setattr(element_groups, "asked_model", None)  # before anything is loaded
    with pytest.raises(SettingsError, match="exists; choose another name or use --overwrite"):
        find_element_groups(str(source), out=tmp_path / "e.csv", options={"model": trained})
    assert (tmp_path / "e.csv").read_text() == "mine"


def test_of_two_searches_at_once_the_second_is_told_of_the_first(
    trained, source, tmp_path, monkeypatch
):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    out, options, refused = tmp_path / "e.csv", {"model": trained, "threshold": 0.2}, []

    def second(done, total):
        for more, overwrite in (({}, False), ({"resume": True}, False), ({}, True)):
            with pytest.raises(InUseError, match=r"e\.csv\.blocks is in use by process"):
                find_element_groups(
                    str(source), out=out, overwrite=overwrite, options={**options, **more}
                )
        refused.append(done)

    find_element_groups(str(source), out=out, options=options, progress=second)
    assert refused
    assert [path.name for path in tmp_path.iterdir()] == ["e.csv"]


def test_a_search_that_the_disk_ends_goes_on_to_the_same_file(
    trained, source, tmp_path, monkeypatch
):
    """A file cut short stood in the way of --resume, and the blocks were gone."""
    monkeypatch.setattr(deletion, "COPIES", 64)
    options = {"model": trained, "threshold": 0.2}
    find_element_groups(str(source), out=tmp_path / "whole.csv", options=options)
    out, real = tmp_path / "full" / "e.csv", files._synced

    def full(path):
        if path.name == ".e.csv.part":
            raise OSError(28, "No space left on device")
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "_synced", full)
        with pytest.raises(
            WriteError, match=r"cannot write .*full/e\.csv: no space left on device"
        ):
            find_element_groups(str(source), out=out, options=options)
    done = find_element_groups(str(source), out=out, options={**options, "resume": True})
    assert done.found.taken_over == done.found.copies - done.found.below > 0
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert [path.name for path in out.parent.iterdir()] == ["e.csv"]

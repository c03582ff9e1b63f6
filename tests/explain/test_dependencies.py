"""Elements against texts without a word that are scored one by one, by strings; resuming; what is
refused.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.explain import deletion
from tagwright.explain import dependencies as module
from tagwright.explain.dependencies import find_elements
from tagwright.inference import model_folder
from tagwright.pipelines.fit import fit_folder

from ..tiny_encoders import installed, write_encoder

LONG = ["head", "tail", "both", "windows"]


def slow(model, table, *, threshold, select, near=1e-6):
    """{(word, label): (texts, largest fall)}, and the pairs too near to tell: one copy at a time,
    by strings.
    """
    names, found, unsure = model.heads["main"].space.names, defaultdict(dict), set()
    for number, (text, gold) in enumerate(
        zip(table["text"].to_pylist(), table["labels"].to_pylist())
    ):
        scores = model.scores([text])
        right = {names[i] for i in np.flatnonzero(scores.chosen[0])} == set(gold)
        if select != "all" and right != (select == "correct"):
            continue
        words = text.split()
        for place, word in enumerate(words):
            copy = " ".join(words[:place] + words[place + 1 :])
            without = model.scores([copy]).probabilities[0]
            for name, before, after in zip(
                names, scores.probabilities[0].tolist(), without.tolist()
            ):
                if abs(before - after - threshold) < near:
                    unsure.add((word, name))
                if before > after + threshold:
                    found[word, name][number] = max(
                        found[word, name].get(number, 0), before - after
                    )
    return {pair: (len(texts), max(texts.values())) for pair, texts in found.items()}, unsure


def compared(found, expected, unsure, atol=1e-5):
    mine = {(row.word, row.label): (row.texts, row.drop) for row in found.elements}
    assert mine.keys() - unsure == expected.keys() - unsure
    for pair in mine.keys() - unsure:
        assert mine[pair][0] == expected[pair][0]
        assert mine[pair][1] == pytest.approx(expected[pair][1], abs=atol)


def table_of(source, rows=40):
    """Texts of the data, some with a word twice in a row; one is empty, one has a label that no
    model knows.
    """
    table = read_data(source).tables["all"].slice(0, rows)
    texts = [
        f"{text.split()[0]} {text}" if i % 3 == 0 else text
        for i, text in enumerate(table["text"].to_pylist())
    ]
    texts += ["", "rome apple"]
    labels = [*table["labels"].to_pylist(), ["city"], ["nowhere"]]
    return pa.table({"text": texts, "labels": pa.array(labels, pa.list_(pa.string()))})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoders") / "tiny", "bert")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, source, single_source):
    """Models by name, trained once each."""
    made = {}

    def of(name, settings, many=True):
        if name not in made:
            out = tmp_path_factory.mktemp("models") / name
            fit_folder(str(source if many else single_source), settings, out=out)
            made[name] = model_folder.load(out)
        return made[name]

    return of


RATE = {"epochs": 12, "batch": 16, "learning_rate": 0.03}
SMALL = {"name": "cnn", "width": 8, "filters": 4}
SETTINGS = {
    "subword": {"encoder": SMALL, "embed": {"name": "subword", "size": 60}, "fit": RATE},
    "hashes": {"encoder": SMALL, "embed": {"name": "hashes"}, "fit": RATE},
    "lstm": {"encoder": {"name": "lstm", "width": 8, "hidden": 8}, "fit": RATE},
    "bow": {"encoder": {"name": "bow"}},
}


def with_limit(model, limit):
    return replace(model, inference=replace(model.inference, limit=limit))


def without_direct(model, monkeypatch):
    """The same model by the general route."""
    monkeypatch.setattr(type(model.network.encoder), "skips", False)


@pytest.mark.parametrize("select", ["correct", "incorrect", "all"])
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5])
def test_elements_are_those_of_copies_scored_one_by_one(model, source, threshold, select):
    table = table_of(source)
    expected, unsure = slow(model, table, threshold=threshold, select=select)
    compared(find_elements(model, table, threshold=threshold, select=select), expected, unsure)


def test_some_labels_depend_on_the_words_that_make_them(model, source):
    found = find_elements(model, table_of(source, 120), threshold=0.3)
    assert found.copies > 400
    assert {("rome", "city"), ("iron", "metal")} & {(row.word, row.label) for row in found.elements}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_kind_of_model_finds_what_its_copies_say(name, fitted, source):
    model, table = fitted(name, SETTINGS[name]), table_of(source)
    expected, unsure = slow(model, table, threshold=0.1, select="all")
    assert len(expected) > 10
    compared(find_elements(model, table, threshold=0.1, select="all"), expected, unsure)


def test_labels_that_exclude_each_other_are_found_likewise(single_trained, single_source):
    model, table = model_folder.load(single_trained), table_of(single_source)
    expected, unsure = slow(model, table, threshold=0.2, select="correct")
    assert expected
    compared(find_elements(model, table, threshold=0.2), expected, unsure)


def test_texts_that_are_cut_are_asked_about_as_prediction_cuts_them(model, source):
    model, table = with_limit(model, 4), table_of(source)
    expected, unsure = slow(model, table, threshold=0.1, select="all")
    found = find_elements(model, table, threshold=0.1, select="all")
    compared(found, expected, unsure)
    assert expected
    assert found.same > 20  # words behind the limit change nothing


def test_both_routes_of_a_cnn_agree(model, source, monkeypatch):
    table = table_of(source, 120)
    direct = find_elements(model, table, threshold=0.1)
    without_direct(model, monkeypatch)
    general = find_elements(model, table, threshold=0.1)
    compared(
        general, {(row.word, row.label): (row.texts, row.drop) for row in direct.elements}, set()
    )
    assert (direct.copies, direct.below) == (general.copies, general.below)
    assert direct.same == 0
    assert general.same > 10  # a word twice in a row gives one copy, not two


@pytest.mark.skipif(not installed, reason="transformers are not here: TAGWRIGHT_ENCODERS")
@pytest.mark.parametrize("long", LONG)
def test_word_pieces_and_windows_are_asked_about_as_prediction_reads_them(
    long, encoder, fitted, source
):
    options = {"name": "pretrained", "path": str(encoder), "long": long, "overlap": 2, "windows": 2}
    fit = {"epochs": 6, "batch": 16, "learning_rate": 0.01, "limit": 8, "precision": "float32"}
    model, table = fitted(long, {"encoder": options, "fit": fit}), table_of(source)
    expected, unsure = slow(model, table, threshold=0.05, select="all", near=1e-5)
    assert expected
    found = find_elements(model, table, threshold=0.05, select="all")
    compared(found, expected, unsure)
    assert found.precision == "float32"


@pytest.mark.skipif(not installed, reason="transformers are not here: TAGWRIGHT_ENCODERS")
def test_what_bfloat16_leaves_in_doubt_is_decided_in_float32(encoder, fitted, source, monkeypatch):
    fit = {"epochs": 6, "batch": 16, "learning_rate": 0.01, "limit": 8, "precision": "bfloat16"}
    model, table = (
        fitted("half", {"encoder": {"name": "pretrained", "path": str(encoder)}, "fit": fit}),
        table_of(source),
    )
    model.network.encoder.precision = "float32"
    falls = sorted(
        row.drop for row in find_elements(model, table, threshold=0.02, select="all").elements
    )
    monkeypatch.setattr(module, "DOUBT", {"float32": 0.0, "bfloat16": 0.01})
    for fall in falls[:: max(1, len(falls) // 10)]:  # thresholds that rounding would turn
        chosen = {"threshold": fall - 2e-5, "select": "all"}
        model.network.encoder.precision = "float32"
        expected = find_elements(model, table, **chosen)
        model.network.encoder.precision = "bfloat16"
        found = find_elements(model, table, **chosen)
        assert found.precision == "bfloat16"
        compared(
            found,
            {(row.word, row.label): (row.texts, row.drop) for row in expected.elements},
            set(),
            atol=0.02,
        )


def test_small_blocks_change_nothing(model, source, monkeypatch):
    table = table_of(source)
    whole = find_elements(model, table, threshold=0.1)
    monkeypatch.setattr(deletion, "COPIES", 16)
    parts = []
    found = find_elements(
        model, table, threshold=0.1, progress=lambda done, total: parts.append((done, total))
    )
    compared(found, {(row.word, row.label): (row.texts, row.drop) for row in whole.elements}, set())
    assert len(parts) > 10
    assert parts[0] == (0, found.copies - found.below)
    assert parts[-1] == (found.copies - found.below,) * 2
    without_direct(model, monkeypatch)
    monkeypatch.setattr(deletion, "TOKENS", 20)
    found = find_elements(model, table, threshold=0.1)
    compared(found, {(row.word, row.label): (row.texts, row.drop) for row in whole.elements}, set())


def test_only_texts_in_which_a_label_can_fall_so_far_are_asked_about(model, source):
    table = table_of(source)
    found = find_elements(model, table, threshold=0.9, select="all")
    highest = model.scores(table["text"]).probabilities.max(1)
    words = [len(text.split()) for text in table["text"].to_pylist()]
    assert found.below == sum(count for count, high in zip(words, highest) if not high > 0.9)
    assert found.copies == sum(words)
    assert 0 < found.below < found.copies


def test_falls_at_the_threshold_are_counted_as_near(model, source):
    table = table_of(source)
    fall = next(row.drop for row in find_elements(model, table, threshold=0.1).elements)
    assert find_elements(model, table, threshold=fall).near >= 1
    assert find_elements(model, table, threshold=0.1).near == 0


def test_killed_run_goes_on_and_another_starts_anew(model, source, tmp_path, monkeypatch):
    table = table_of(source)
    monkeypatch.setattr(deletion, "COPIES", 16)
    whole = find_elements(model, table, threshold=0.1)

    def killed(done, total):
        if done > 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_elements(model, table, threshold=0.1, folder=tmp_path / "b", progress=killed)
    monkeypatch.setattr(module, "_looked_at", None)  # what was looked at is kept, too
    again = find_elements(model, table, threshold=0.1, folder=tmp_path / "b")
    assert again.elements == whole.elements
    assert (again.near, again.same, again.copies) == (whole.near, whole.same, whole.copies)
    assert 60 <= again.taken_over < again.copies
    assert not list((tmp_path / "b").glob("*.part"))
    monkeypatch.undo()
    for other in (
        find_elements(model, table, threshold=0.2, folder=tmp_path / "b"),
        find_elements(model, table.slice(1), threshold=0.2, folder=tmp_path / "b"),
    ):
        assert other.taken_over == 0


def test_other_weights_start_anew(trained, source, tmp_path):
    table, model = table_of(source), model_folder.load(trained)
    find_elements(model, table, threshold=0.1, folder=tmp_path)
    assert find_elements(model, table, threshold=0.1, folder=tmp_path).taken_over > 0
    with torch.no_grad():
        model.network.encoder.bias += 0.5
    assert find_elements(model, table, threshold=0.1, folder=tmp_path).taken_over == 0


def test_cells_that_nobody_judged_make_no_prediction_wrong(model, source):
    table = table_of(source)
    right = find_elements(model, table, threshold=0.1).selected
    every = pa.array(
        [list(model.heads["main"].space.names)] * table.num_rows, pa.list_(pa.string())
    )
    judged = table.append_column("unknown", every)
    # a label it lacks
    assert right < find_elements(model, judged, threshold=0.1).selected == table.num_rows - 1


def test_texts_without_labels_are_left_out_and_no_text_finds_nothing(model):
    labels = pa.array([None, None], pa.list_(pa.string()))
    found = find_elements(
        model, pa.table({"text": ["rome", "oslo"], "labels": labels}), threshold=0.1
    )
    assert (len(found.elements), found.texts, found.copies) == (0, 0, 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"threshold": 1.0}, "at least 0 and below 1, got 1.0"),
        (
            {"threshold": 0.5, "select": "right"},
            "unknown choice of texts .* Choices: all, correct, incorrect",
        ),
    ],
)
def test_what_cannot_be_asked_is_an_error(model, source, asked, message):
    with pytest.raises(SettingsError, match=message):
        find_elements(model, table_of(source), **asked)


def test_model_that_scores_by_shortlists_is_refused(model, source, monkeypatch):
    monkeypatch.setattr(module, "shortlisted", lambda settings, count: True)
    with pytest.raises(SettingsError, match="probabilities of all labels"):
        find_elements(model, table_of(source), threshold=0.5)

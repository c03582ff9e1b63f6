"""The whole road of tagged tokens: fit, score, resume, long pages, odd data."""

import numpy as np
import pyarrow as pa
import pytest

from tagwright.data import read_data
from tagwright.errors import DataError
from tagwright.inference import model_folder
from tagwright.inference.score import score
from tagwright.inference.spans import find_spans, token_scores
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.score import score_folder
from tagwright.tokenizers.cut import cut
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, fit

from ..tagged_pages import quick, tagged_rows, write_conll, write_jsonl
from .kills import Killed, Watching, same_bits


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder of 80 pages to learn from and 30 each to choose and to score by."""
    folder = tmp_path_factory.mktemp("pages")
    for seed, (name, count) in enumerate([("train", 80), ("dev", 30), ("test", 30)]):
        write_conll(folder / f"{name}.conll", tagged_rows(count, seed=seed))
    return folder


@pytest.fixture(scope="module")
def tagger(pages, tmp_path_factory):
    """A tagger that has learnt its pages."""
    out = tmp_path_factory.mktemp("taggers") / "model"
    fit_folder(str(pages), quick(fit={"epochs": 12}), out=out)
    return model_folder.load(out)


def ready(source, **sections):
    data, settings = read_for(str(source), quick(**sections))
    return prepare(data, settings), settings


@pytest.mark.parametrize("scheme", ["iob2", "iobes", "plain"])
def test_every_scheme_is_learnt_and_scored_as_fit_measured(scheme, tmp_path):
    for seed, (name, count) in enumerate([("train", 80), ("dev", 30)]):
        write_conll(tmp_path / f"{name}.conll", tagged_rows(count, seed=seed, scheme=scheme))
    outcome = fit_folder(str(tmp_path), quick(fit={"epochs": 10}), out=tmp_path / "model")
    assert outcome.metrics["entity_f1"] > 0.8
    scored = score_folder(
        tmp_path / "model", str(tmp_path), split="dev", unseen="drop", convention="sklearn"
    )
    found = scored.as_dict()["metrics"]
    for name in ("entity_f1", "macro_f1", "accuracy", "macro_f2_without_o"):
        assert found[name] == pytest.approx(outcome.metrics[name], abs=1e-6)


@pytest.mark.parametrize("objective", ["cross_entropy", "pbp", "batch_dice"])
def test_a_killed_run_ends_in_the_same_bits(objective, pages, tmp_path):
    prepared, settings = ready(
        pages, objective=objective, fit={"epochs": 2, "limit": 9, "batch": 16, "save_seconds": 0.0}
    )
    whole = fit(prepared, settings).model.network.state_dict()
    for step in (3, 12):
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=tmp_path, progress=Watching(("fit", step))))
    resumed = fit(prepared, settings, Run(folder=tmp_path)).model.network.state_dict()
    assert same_bits(whole, resumed)


def test_parts_of_a_batch_and_its_whole_learn_alike(pages):
    losses = []
    for accumulate in (1, 4):
        found = fit(
            *ready(
                pages,
                encoder={"dropout": 0.0},
                fit={"epochs": 2, "limit": 6, "accumulate": accumulate},
            )
        )
        losses.append([row["loss"] for row in found.history])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_broken_tags_learn_what_sound_ones_do(pages, tmp_path):
    for name, seed, count in (("train", 0, 80), ("dev", 1, 30)):
        rows = [
            (tokens, [tag.replace("B-", "I-") for tag in tags])
            for tokens, tags in tagged_rows(count, seed=seed)
        ]
        write_conll(tmp_path / f"{name}.conll", rows)
    (sound, _), (mended, _) = ready(pages), ready(tmp_path)
    assert any("mended" in sentence for sentence in mended.found)
    assert sound.tables["train"]["tags"].to_pylist() == mended.tables["train"]["tags"].to_pylist()
    with pytest.raises(DataError, match=r": train.conll, line 3; .*--strict refuses"):
        ready(tmp_path, data={"strict": True})


def test_a_tag_of_dev_that_train_has_not_is_said_and_counts_as_outside(tmp_path):
    write_conll(tmp_path / "train.conll", tagged_rows(40))
    write_conll(
        tmp_path / "dev.conll",
        [*tagged_rows(10, seed=1), (["zinc", "ore"], ["B-METAL", "I-METAL"])],
    )
    prepared, settings = ready(tmp_path, fit={"epochs": 1})
    assert any("B-METAL (1)" in sentence for sentence in prepared.warnings)
    outside = prepared.space.names.index("O")
    assert prepared.sheets["dev"].tags[-2:].tolist() == [outside, outside]
    assert (
        0
        <= fit(prepared, settings).measures.results(label_counts=prepared.space.counts)["entity_f1"]
        <= 1
    )


def test_pages_without_a_token_or_a_tag_are_left_out_and_counted(tmp_path):
    rows = [{"tokens": tokens, "tags": tags} for tokens, tags in tagged_rows(30)]
    odd = [
        {"tokens": [], "tags": []},
        {"tokens": [" ", "\u3000"], "tags": ["O", "O"]},
        {"tokens": ["a"], "tags": None},
    ]
    prepared, settings = ready(write_jsonl(tmp_path / "pages.jsonl", rows + odd), fit={"epochs": 1})
    assert prepared.dropped == {"empty text": 2, "no tags": 1}
    assert sum(table.num_rows for table in prepared.tables.values()) == 30
    fit(prepared, settings)


def chosen_tags(model, rows):
    """The tag that the model gives every token of the rows, (N,)."""
    words = pa.array([token for tokens, _ in rows for token in tokens])
    offsets = np.concatenate([[0], np.cumsum([len(tokens) for tokens, _ in rows])])
    return token_scores(model, words, offsets).chosen.argmax(1)


def test_a_page_glued_from_short_ones_gets_nearly_their_tags(tagger):
    rows = tagged_rows(400, seed=5)
    glued = ([token for tokens, _ in rows for token in tokens], [])
    assert len(glued[0]) > 4 * tagger.inference.limit
    changed = np.mean(chosen_tags(tagger, rows) != chosen_tags(tagger, [glued]))
    assert changed < 0.1


def test_windows_shift_no_tag_to_another_token(tagger):
    """The tag of a word follows from the word, so that every token of a long page can be told right
    from wrong.
    """
    rows = tagged_rows(400, seed=6)
    names = np.array(tagger.heads["main"].space.names)
    glued = ([token for tokens, _ in rows for token in tokens], [])
    truth = np.array([tag[2:] for _, tags in rows for tag in tags])
    found = np.array([tag[2:] for tag in names[chosen_tags(tagger, [glued])]])
    assert np.mean(found == truth) > 0.95


def test_a_text_alone_and_among_others_gets_the_same_spans(tagger):
    texts = [" ".join(tokens) for tokens, _ in tagged_rows(40, seed=7)]
    together = find_spans(tagger, cut(texts, "words"))
    for row in (0, 13, 39):
        alone = find_spans(tagger, cut([texts[row]], "words"))
        inside = together.row == row
        assert alone.start.tolist() == together.start[inside].tolist()
        assert alone.end.tolist() == together.end[inside].tolist()
        assert alone.score == pytest.approx(together.score[inside], abs=1e-5)


def test_tags_that_the_model_does_not_know_are_misses_where_asked(tagger, tmp_path):
    write_conll(
        tmp_path / "a.conll", [*tagged_rows(20, seed=3), (["zinc", "ore"], ["B-METAL", "I-METAL"])]
    )
    write_conll(tmp_path / "b.conll", [*tagged_rows(20, seed=3), (["zinc", "ore"], ["FOO", "O"])])
    scores = {
        (name, unseen): score(tagger, read_data(tmp_path / name), unseen_labels=unseen).as_dict()
        for name in ("a.conll", "b.conll")
        for unseen in ("drop", "miss")
    }
    recall = {key: found["metrics"]["entity_recall"] for key, found in scores.items()}
    assert recall["a.conll", "miss"] < recall["a.conll", "drop"]
    # no span could be called FOO where tags are B- and I-: it counts as outside, and the others
    # keep their meaning
    assert recall["b.conll", "miss"] == recall["b.conll", "drop"]
    assert scores["b.conll", "miss"]["unseen"] == {"FOO": 1}

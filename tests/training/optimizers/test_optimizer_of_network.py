"""Labels in chunks: the same model as without, the same figures by shortlists as by all logits, the
whole road.
"""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.inference.fit_decision import measured
from tagwright.inference.model import Scores
from tagwright.inference.score import score
from tagwright.integrations.tagger import Tagger, load
from tagwright.labels.shortlist import ShortScores
from tagwright.pipelines.decide import redecide
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.report import report_folder
from tagwright.pipelines.score import score_folder
from tagwright.pipelines.tag import tag_file
from tagwright.settings.schema import resolve
from tagwright.training.check import check
from tagwright.training.optimizers.joint import JointOptimizer
from tagwright.training.prepare import prepare
from tagwright.training.train import Run, fit

CHUNKED = {"chunk": 2}
# five of five labels: nothing is cut off
SHORT = {
    "chunk": 2,
    "shortlist": 5,
    "optimizer": "adamw",
}


class Killed(Exception):
    """The end of a process, as a test can bear it."""


@pytest.fixture
def few(monkeypatch):
    """More than three labels count as very many."""
    monkeypatch.setattr("tagwright.models.shortlist.FULL", 3)


def made(source, tiny, **sections):
    data = read_data(source)
    settings = resolve(tiny(**sections), data.task)
    prepared = prepare(data, settings)
    check(prepared, settings)
    return prepared, settings


def fitted(source, tiny, **sections):
    return fit(*made(source, tiny, **sections))


@pytest.mark.parametrize("objective", ["bce", "zlpr", "cross_entropy"])
def test_a_chunked_head_learns_what_a_whole_one_does(source, single_source, tiny, objective):
    path = single_source if objective == "cross_entropy" else source
    calm = {"epochs": 2, "learning_rate": 0.01}
    whole = fitted(path, tiny, objective=objective, fit=calm)
    parts = fitted(path, tiny, objective=objective, fit=calm, head=CHUNKED)
    for name, weight in whole.model.network.state_dict().items():
        torch.testing.assert_close(
            parts.model.network.state_dict()[name], weight, rtol=0, atol=2e-4
        )
    assert isinstance(parts.dev, Scores)


@pytest.mark.parametrize("rule", ["threshold", "zero", "fixed", "topk"])
def test_shortlists_of_all_labels_give_the_figures_of_all_logits(
    source, tiny, few, monkeypatch, rule
):
    choice = {"decide": {"name": rule}, "fit": {"epochs": 4, "metric": "micro_f1"}}
    short = fitted(source, tiny, head=SHORT, **choice)
    assert isinstance(short.dev, ShortScores)
    truth = read_truth(short, made(source, tiny)[0])
    dense = as_dense(short.dev, 5)
    expected = measured(dense, truth.toarray()).results(
        label_counts=short.model.heads["main"].space.counts
    )
    found = short.model.heads["main"].metrics["metrics"]
    assert {"lrap", "macro_average_precision", "calibration_error"} <= set(expected) - set(found)
    assert {
        "micro_f1",
        "macro_f2",
        "example_f1",
        "hamming_loss",
        "ndcg_at_3",
        "confused_share",
    } <= set(found)
    for name, value in found.items():
        assert value == pytest.approx(expected[name], abs=1e-12), name


def read_truth(short, prepared):
    return csr_array(prepared.space.encode(prepared.tables["dev"]["labels"]).matrix(5) > 0)


def as_dense(scores, label_count):
    """The same scores as arrays (n, L)."""
    parts = []
    for values in (scores.logits, scores.probabilities, scores.chosen):
        whole = np.zeros((len(values), label_count), values.dtype)
        np.put_along_axis(whole, scores.shortlist.ids.astype(np.int64), values, axis=1)
        parts.append(whole)
    return Scores(*parts)


@pytest.mark.parametrize("objective", ["cross_entropy", "bce", "zlpr"])
def test_probabilities_of_one_label_a_text_are_shares_of_all(
    single_source, tiny, monkeypatch, objective
):
    with monkeypatch.context() as patch:
        patch.setattr("tagwright.models.shortlist.FULL", 3)
        short = fitted(single_source, tiny, objective=objective, head={**SHORT, "shortlist": 5})
    dense = fitted(single_source, tiny, objective=objective, head=CHUNKED)
    assert short.metric == dense.metric == "accuracy"
    np.testing.assert_allclose(
        as_dense(short.dev, 5).probabilities, dense.dev.probabilities, atol=1e-4
    )
    assert short.model.heads["main"].metrics["metrics"]["accuracy"] == pytest.approx(
        dense.model.heads["main"].metrics["metrics"]["accuracy"]
    )


@pytest.mark.parametrize(
    ("head", "encoder"),
    [
        (CHUNKED, "cnn"),
        ({"chunk": 3, "optimizer": "row_adagrad"}, "cnn"),
        ({"chunk": 2, "dtype": "bfloat16"}, "cnn"),
        ({"chunk": 4, "dtype": "bfloat16"}, "lstm"),
    ],
)
def test_a_killed_run_with_chunks_ends_in_the_same_bits(source, tmp_path, tiny, head, encoder):
    sections = {
        "objective": "zlpr",
        "head": head,
        "fit": {"epochs": 2, "save_seconds": 0.0, "refit": True},
    }
    if encoder == "lstm":
        sections["encoder"] = {"name": "lstm", "hidden": 4, "width": 4}
    given = {**tiny(**sections), **({"encoder": sections["encoder"]} if encoder == "lstm" else {})}
    data, left = read_data(source), [("fit", 3), ("fit", 8), ("refit", 2)]
    settings = resolve(given)
    prepared = prepare(data, settings)

    def progress(stream, title, start, total):
        for step in stream:
            yield step
            if left and (title, step.number) == left[0]:
                left.pop(0)
                raise Killed

    whole = fit(prepared, settings)
    for _ in range(3):
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=tmp_path, progress=progress))
    resumed = fit(prepared, settings, Run(folder=tmp_path, progress=progress))
    for name, weight in whole.model.network.state_dict().items():
        assert torch.equal(resumed.model.network.state_dict()[name], weight), name
    assert resumed.history == whole.history


def test_very_many_labels_are_moved_by_one_number_a_label(source, tiny, few, monkeypatch):
    from tagwright.training.optimizers import optimizer

    seen = []
    build = optimizer.build_optimizer
    monkeypatch.setattr(
        optimizer, "build_optimizer", lambda *a, **k: seen.append(build(*a, **k)) or seen[-1]
    )
    short = fitted(source, tiny, head={"chunk": 2}, fit={"epochs": 12})
    assert isinstance(seen[0], JointOptimizer)
    state = seen[0].state_dict()["state"]
    assert max(tensor.numel() for tensor in list(state.values())[-2].values()) == 5
    assert short.metric == "ndcg_at_5"
    assert short.history[-1]["score"] > 0.9


@pytest.fixture
def many_folder(source, tiny, few, tmp_path):
    """A model folder that answers by shortlists."""
    out = tmp_path / "model"
    said: list[str] = []
    outcome = fit_folder(
        str(source),
        tiny(objective="zlpr", head=SHORT, fit={"epochs": 16}),
        out=out,
        say=said.append,
    )
    assert outcome.rows == 12
    assert any("5 labels: each text is scored by its 5 highest" in sentence for sentence in said)
    return out


def test_the_whole_road_by_shortlists(many_folder, split_source, tiny, tmp_path):
    decision = json.loads((many_folder / "heads/main/decision.json").read_text())
    assert isinstance(decision["thresholds"], float)
    assert "one threshold" in (many_folder / "README.md").read_text()
    scored = score_folder(
        many_folder, str(split_source), split="test", unseen="drop", convention="sklearn"
    ).as_dict()
    assert scored["metrics"]["micro_f1"] > 0.8
    assert "lrap" not in scored["metrics"]
    report_folder(
        many_folder, str(split_source), tmp_path / "report.html", split="test", overwrite=False
    )
    for page in (many_folder.parent / "model.run" / "report.html", tmp_path / "report.html"):
        assert "metrics that need all scores" in page.read_text()
    done = redecide(many_folder, str(split_source), rule="threshold", assignments=[], split="dev")
    assert done.metrics["micro_f1"] > 0.8
    assert (
        "Every label whose score is above one threshold" in (many_folder / "README.md").read_text()
    )
    redecide(many_folder, None, rule="topk", assignments=["k=1"], split=None)
    tagged = tag_file(many_folder, split_source / "test.csv", tmp_path / "tagged.parquet")
    assert tagged.rows == 40
    table = pq.read_table(tmp_path / "tagged.parquet")
    assert {len(tags) for tags in table["tags"].to_pylist()} == {1}


def test_a_tagger_with_shortlists(many_folder):
    tagger = load(many_folder)
    assert tagger.predict(["paris oslo rome"]) == [["city"]]
    with pytest.raises(SettingsError, match="the highest of each text only"):
        tagger.predict_proba(["paris"])


def test_a_tagger_of_a_matrix_answers_by_a_sparse_one(few):
    texts = [f"{word} {word} {n}" for n in range(30) for word in ("sun", "moon", "star", "sky")]
    labels = np.tile(np.eye(4, dtype=int), (30, 1))
    tagger = Tagger(
        epochs=8, settings={"head": {"chunk": 2}, "encoder": {"width": 8, "filters": 8}}
    )
    predicted = tagger.fit(texts, labels).predict(["moon moon 3"])
    assert predicted.toarray().tolist() == [[0, 1, 0, 0]]


def test_labels_that_the_model_does_not_know_can_count_as_misses(
    many_folder, rows_of, write_csv, tmp_path
):
    rows = [*rows_of(10, seed=3), ("x", "paris rome 1", "city;strange")]
    model = model_folder.load(many_folder)
    data = read_data(write_csv(tmp_path / "more.csv", rows))
    dropped, missed = (score(model, data, unseen_labels=how) for how in ("drop", "miss"))
    difference = (
        missed.measures.states["counts"].missed.sum()
        - dropped.measures.states["counts"].missed.sum()
    )
    assert difference == 1


def test_unjudged_cells_stay_out_of_the_loss(tmp_path, tiny):
    path = tmp_path / "flags.csv"
    lines = [f"paris rome {n},1,,0" for n in range(40)] + [
        f"iron gold {n},0,1,1" for n in range(40)
    ]
    path.write_text("text,city,odd,metal\n" + "\n".join(lines) + "\n")
    sections = {"data": {"labels": "city,odd,metal"}, "fit": {"epochs": 1}}
    data = read_data(path, labels="city,odd,metal")
    found = []
    for head in ({}, CHUNKED):
        settings = resolve(tiny(**sections, head=head), data.task)
        found.append(fit(prepare(data, settings), settings).model.network.state_dict())
    for name, weight in found[0].items():
        torch.testing.assert_close(found[1][name], weight, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("sections", "match"),
    [
        ({"encoder": "bow"}, "sparse"),
        ({"mask": {"name": "groups"}}, "mask groups"),
        ({"objective": "ranking"}, r"bce.*zlpr"),
        ({"fit": {"optimizer": "sgd"}}, "sgd"),
    ],
)
def test_what_needs_all_labels_at_once_is_refused(source, tiny, sections, match):
    given = tiny(head=CHUNKED)
    given |= {
        k: v if isinstance(v, str) else {**given.get(k, {}), **v} for k, v in sections.items()
    }
    data = read_data(source)
    settings = resolve(given)
    with pytest.raises(SettingsError, match=match):
        check(prepare(data, settings), settings)


@pytest.mark.parametrize(
    ("sections", "match"),
    [
        ({"objective": "lsep"}, "only an order"),
        ({"fit": {"metric": "lrap"}}, "needs the scores of all labels"),
    ],
)
def test_what_shortlists_cannot_give_is_refused(source, tiny, few, sections, match):
    with pytest.raises(SettingsError, match=match):
        made(source, tiny, head=CHUNKED, **sections)


@pytest.mark.parametrize(
    "head",
    [
        {"chunk": -1},
        {"chunk": 2, "shortlist": 3},
        {"dtype": "bfloat16"},
        {"chunk": 2, "dtype": "float16"},
        {"chunk": 2, "dtype": "bfloat16", "optimizer": "adamw"},
    ],
)
def test_settings_of_the_head_that_do_not_go_together_are_refused(source, tiny, head):
    with pytest.raises(SettingsError, match=r"head\.|chunk"):
        made(source, tiny, head=head)

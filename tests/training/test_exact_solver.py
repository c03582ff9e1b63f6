"""Binary relevance and classifier chains from data to a model: solved, stopped, resumed, saved, and
what is refused.
"""

import numpy as np
import pyarrow as pa
import pytest
import torch
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from tagwright.data import Data, read_data
from tagwright.errors import SettingsError
from tagwright.inference import model_folder
from tagwright.integrations.tagger import of_model
from tagwright.pipelines.fit import fit_folder, run_folder
from tagwright.settings.schema import resolve
from tagwright.storage.files import json_ready
from tagwright.training.check import check
from tagwright.training.exact_solver import COPIES, workers_for
from tagwright.training.prepare import prepare
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import Run, fit

from ..pipelines.kills import Killed, Watching, same_bits

SOLVED = ("binary-relevance", "classifier-chain")


def given(objective, **sections):
    return {"objective": objective, "encoder": {"name": "bow"}, **sections}


@pytest.fixture(scope="module")
def make(data):
    def prepared_and_settings(objective, **sections):
        settings = resolve(given(objective, **sections))
        return prepare(data, settings), settings

    return prepared_and_settings


def test_the_model_is_scikit_learns_chain_over_the_same_features(make):
    prepared, settings = make("classifier-chain", fit={"refit": False, "seed": 3, "cost": 2.0})
    fitted = fit(prepared, settings)
    network = fitted.model.network
    order = network.heads["main"].order.tolist()
    train, dev = (prepared.rows(name, network, settings) for name in ("train", "dev"))
    made = ClassifierChain(LogisticRegression(C=2.0, tol=1e-9, max_iter=10_000), order=order)
    made.fit(
        train.inputs.matrix.astype(np.float64), train.heads["main"].target.toarray().astype(int)
    )
    expected = made.predict_proba(dev.inputs.matrix.astype(np.float64))
    np.testing.assert_allclose(fitted.dev.probabilities, expected, atol=1e-6)
    assert order != sorted(order)


def test_the_chain_takes_the_order_given_and_else_one_of_the_seed(make):
    names = ["tool", "city", "sport", "fruit", "metal"]
    prepared, settings = make("classifier-chain", head={"order": names})
    head = fit(prepared, settings).model.network.heads["main"]
    assert [prepared.space.names[label] for label in head.order] == names
    orders = [
        fit(*make("classifier-chain", fit={"seed": seed})).model.network.heads["main"].order
        for seed in (1, 1, 2)
    ]
    assert orders[0].tolist() == orders[1].tolist() != orders[2].tolist()


@pytest.mark.parametrize("objective", SOLVED)
def test_a_refit_learns_from_dev_too_and_keeps_the_figures(make, objective):
    prepared, settings = make(objective)
    assert settings.fit.refit
    once, again = fit(*make(objective, fit={"refit": False})), fit(prepared, settings)
    assert once.model.heads["main"].metrics == again.model.heads["main"].metrics
    assert not same_bits(once.model.network.state_dict(), again.model.network.state_dict())
    network = again.model.network
    both = prepared.rows("train", network, settings) + prepared.rows("dev", network, settings)
    first = network.heads["main"].order[0].item() if objective == "classifier-chain" else 0
    made = LogisticRegression(C=settings.fit.cost, tol=1e-9, max_iter=10_000)
    made.fit(both.inputs.matrix.astype(np.float64), both.heads["main"].target.toarray()[:, first])
    np.testing.assert_allclose(
        network.heads["main"].linear.weight.detach()[:, first], made.coef_[0], atol=1e-5
    )


@pytest.mark.parametrize("objective", SOLVED)
def test_a_killed_run_goes_on_with_the_next_label_and_ends_in_the_same_bits(
    make, tmp_path, objective
):
    prepared, settings = make(objective, fit={"save_seconds": 0.0})
    whole, progress = fit(prepared, settings), Watching(("fit", 2), ("refit", 4))
    for _ in range(2):
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=tmp_path, progress=progress))
    resumed = fit(prepared, settings, Run(folder=tmp_path, progress=progress))
    assert progress.steps == {"fit": 5, "refit": 5}
    assert same_bits(whole.model.network.state_dict(), resumed.model.network.state_dict())
    assert np.array_equal(resumed.dev.logits, whole.dev.logits)


def test_a_stop_keeps_what_is_done(source, tmp_path):
    out, asked = tmp_path / "model", iter([False, False, True])
    with pytest.raises(
        Interrupted, match="stopped after label 3; the state is saved, go on with --resume"
    ):
        fit_folder(str(source), given("binary-relevance"), out=out, asked=lambda: next(asked))
    assert [path.name for path in (run_folder(out) / "fit").iterdir()] == ["step-000000003"]
    steps = Watching()
    fit_folder(str(source), given("binary-relevance"), out=out, resume=True, progress=steps)
    assert steps.steps == {"fit": 2, "refit": 5}
    assert {path.name for path in run_folder(out).iterdir()} == {"report.html", "outcome.json"}


@pytest.mark.parametrize("objective", SOLVED)
def test_a_model_folder_scores_the_same_and_its_settings_train_it_again(
    source, tmp_path, objective
):
    fit_folder(str(source), given(objective), out=tmp_path / "model")
    model = model_folder.load(tmp_path / "model")
    texts = ["paris rome", "apple and iron", "", "hammer saw drill chess"]
    assert model.record.resolved["fit"]["optimizer"] == "exact"
    again = json_ready(resolve(model.record.resolved).as_dict())
    assert again == model.record.resolved
    fit_folder(str(source), model.record.resolved, out=tmp_path / "again")
    again = model_folder.load(tmp_path / "again")
    assert same_bits(model.network.state_dict(), again.network.state_dict())
    np.testing.assert_array_equal(model.scores(texts).logits, again.scores(texts).logits)
    assert model.scores(texts).chosen.any()
    report = (run_folder(tmp_path / "model") / "report.html").read_text(encoding="utf-8")
    assert "Does it learn?" not in report
    assert of_model(model, card="").get_params()["objective"] == objective


def test_one_label_a_text_is_one_against_the_rest_and_sums_to_one(single_source):
    data = read_data(single_source)
    settings = resolve(given("binary-relevance"), data.task)
    prepared = prepare(data, settings)
    check(prepared, settings)
    fitted = fit(prepared, settings)
    shares = expit(fitted.dev.logits.astype(np.float64))
    np.testing.assert_allclose(
        fitted.dev.probabilities, shares / shares.sum(1, keepdims=True), rtol=1e-5
    )
    assert (fitted.dev.chosen.argmax(1) == fitted.dev.logits.argmax(1)).all()
    assert fitted.model.heads["main"].metrics["metrics"]["accuracy"] > 0.8


def test_unjudged_labels_and_weights_reach_the_regressions():
    texts = [f"{word} x{n}" for n in range(40) for word in ("red", "blue")]
    labels = [["r"] if text.startswith("red") else ["b"] for text in texts]
    columns = {
        "text": texts,
        "labels": labels,
        "unknown": [["b"] if n % 3 == 0 else [] for n in range(80)],
    }
    columns["weight"] = [float(1 + n % 2) for n in range(80)]
    data = Data(tables={"all": pa.table(columns)}, task="many", source="test")
    settings = resolve(given("binary-relevance", fit={"refit": False}))
    prepared = prepare(data, settings)
    fitted = fit(prepared, settings)
    rows = prepared.rows("train", fitted.model.network, settings)
    label = prepared.space.names.index("b")
    known = rows.heads["main"]
    judged = known.unknown.toarray()[:, label] == 0
    assert 0 < judged.sum() < len(judged)
    made = LogisticRegression(C=settings.fit.cost, tol=1e-9, max_iter=10_000)
    target = known.target.toarray()[judged, label]
    made.fit(
        rows.inputs.matrix[judged].astype(np.float64), target, sample_weight=rows.weight[judged]
    )
    weight = fitted.model.network.heads["main"].linear.weight.detach()[:, label]
    np.testing.assert_allclose(weight, made.coef_[0], atol=1e-5)


@pytest.mark.parametrize(
    ("sections", "match"),
    [
        ({"encoder": {"name": "cnn"}}, "cnn learns its features.*--encoder bow"),
        ({"loss": {"name": "zlpr"}}, "loss is bce, not zlpr"),
        ({"targets": {"name": "smooth"}}, "targets smooth are soft: take hard"),
        (
            {"mask": {"name": "groups", "groups": "none.csv"}},
            "mask groups is for training by steps",
        ),
        ({"weights": {"name": "inverse"}}, "weights inverse are for training by steps"),
        ({"rdrop": {}}, "rdrop stand around training by steps"),
        ({"head": {"name": "cloze"}}, "head cloze is trained by steps"),
        ({"head": {"name": "document", "chunk": 2}}, "leave --head-chunk out"),
        ({"head": {"name": "chain", "order": ["city", "fruit"]}}, "metal, sport, tool missing"),
        ({"fit": {"optimizer": "auto"}, "head": {"name": "chain"}}, "a chain is solved"),
        ({"fit": {"cost": 0.0}}, "fit.cost must be at least"),
    ],
)
def test_what_is_no_logistic_regression_is_refused_and_nothing_is_written(
    source, tmp_path, sections, match
):
    with pytest.raises(SettingsError, match=match):
        fit_folder(
            str(source),
            given("binary-relevance") | sections,
            out=tmp_path / "model",
            progress=pytest.fail,
        )
    assert list(tmp_path.iterdir()) == []


def test_all_faults_are_told_at_once(source, tmp_path):
    sections = {"encoder": {"name": "cnn"}, "weights": {"name": "inverse"}}
    with pytest.raises(SettingsError, match=r"cnn learns its features.*weights inverse"):
        fit_folder(str(source), given("classifier-chain") | sections, out=tmp_path / "model")


def test_a_chain_of_labels_that_exclude_each_other_is_refused(single_source, tmp_path):
    with pytest.raises(SettingsError, match=r"exactly one label.*take binary-relevance"):
        fit_folder(str(single_source), given("classifier-chain"), out=tmp_path / "model")


def test_tags_of_tokens_are_refused(token_source, tmp_path):
    with pytest.raises(
        SettingsError, match="head tokens is trained by steps: take document or chain"
    ):
        fit_folder(str(token_source), given("binary-relevance"), out=tmp_path / "model")


@pytest.mark.parametrize(("value", "taken"), [(1.0, True), (0.3, False)])
def test_labels_with_values_between_are_refused(value, taken):
    table = pa.table(
        {
            "text": [f"red x{n}" for n in range(60)],
            "labels": [["a", "b"]] * 60,
            "values": [[value, 0.0]] * 60,
        }
    )
    settings = resolve(given("binary-relevance"))
    prepared = prepare(Data(tables={"all": table}, task="many", source="test"), settings)
    if taken:
        check(prepared, settings)
        logits = fit(prepared, settings).dev.logits  # "a" is always there and "b" never
        assert (np.sign(logits) == [1, -1]).all()
        assert np.isfinite(logits).all()
        return
    with pytest.raises(SettingsError, match="values between"):
        check(prepared, settings)


def test_threads_are_as_many_as_memory_has_room_for(make, monkeypatch):
    from tagwright.training import exact_solver as module

    prepared, settings = make("binary-relevance")
    rows = prepared.rows("train", fit(prepared, settings).model.network, settings)
    held = COPIES * 12 * rows.inputs.matrix.nnz
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    for free, expected in ((None, 8), (100 * held, 8), (3.5 * held, 3), (0, 1)):
        monkeypatch.setattr(
            module, "free_bytes", lambda device, free=free: None if free is None else int(free)
        )
        assert workers_for(rows) == expected

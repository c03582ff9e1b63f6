"""Training: the best is kept, the decision comes from dev, and a killed run ends in the same
bits.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tagwright.errors import ModelError, SettingsError
from tagwright.settings.schema import resolve
from tagwright.training.prepare import prepare
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import Run, fit

from ..pipelines.kills import Killed, Watching, same_bits


def weights_of(fitted):
    return fitted.model.network.state_dict()


def run_with_kills(prepared, settings, folder, *kills):
    progress = Watching(*kills)
    for _ in kills:
        with pytest.raises(Killed):
            fit(prepared, settings, Run(folder=folder, progress=progress))
    return fit(prepared, settings, Run(folder=folder, progress=progress))


def test_it_learns(make):
    fitted = fit(*make(fit={"epochs": 10}))
    assert fitted.history[-1]["score"] > 0.9
    assert fitted.metric == "lrap"


@pytest.mark.parametrize(
    ("kills", "save_seconds"), [((1,), 0.0), ((3, 5), 0.0), ((7, 20), 0.0), ((3, 5), 1e9)]
)
def test_a_killed_run_ends_in_the_same_bits(make, tmp_path, kills, save_seconds):
    """The epoch has 7 steps: 3 and 5 are two kills in one epoch, 7 its last step, 20 the last but
    one of all.
    """
    prepared, settings = make(fit={"save_seconds": save_seconds, "evaluations": 1.5})
    whole = fit(prepared, settings)
    resumed = run_with_kills(prepared, settings, tmp_path, *(("fit", kill) for kill in kills))
    assert same_bits(weights_of(whole), weights_of(resumed))
    assert resumed.history == whole.history
    assert np.array_equal(resumed.dev.logits, whole.dev.logits)


@pytest.mark.parametrize("encoder", ["bow", "lstm"])
def test_with_every_encoder_a_killed_run_ends_in_the_same_bits(data, tmp_path, encoder):
    choice = {"epochs": 2, "batch": 16, "save_seconds": 0.0, "refit": True}
    settings = resolve({"encoder": encoder, "fit": choice})
    prepared = prepare(data, settings)
    whole = fit(prepared, settings)
    resumed = run_with_kills(prepared, settings, tmp_path, ("fit", 3), ("fit", 5), ("refit", 2))
    assert same_bits(weights_of(whole), weights_of(resumed))
    assert np.array_equal(resumed.dev.logits, whole.dev.logits)
    assert np.array_equal(resumed.dev.chosen, whole.dev.chosen)


def test_a_run_killed_while_refitting_ends_in_the_same_bits(make, tmp_path):
    prepared, settings = make(fit={"save_seconds": 0.0, "refit": True})
    whole = fit(prepared, settings)
    resumed = run_with_kills(prepared, settings, tmp_path, ("fit", 4), ("refit", 2), ("refit", 5))
    assert same_bits(weights_of(whole), weights_of(resumed))
    assert resumed.history == whole.history


def test_a_run_that_stopped_early_is_not_trained_further_when_resumed(make, tmp_path):
    prepared, settings = make(
        fit={"epochs": 30, "patience": 1, "learning_rate": 1e-9, "save_seconds": 0.0}
    )
    whole = fit(prepared, settings, Run(folder=tmp_path))
    seen = []

    def watching(stream, title, start, total):
        for step in stream:
            seen.append(step.number)
            yield step

    again = fit(prepared, settings, Run(folder=tmp_path, progress=watching))
    assert len(whole.history) == 2
    assert seen == []
    assert same_bits(weights_of(whole), weights_of(again))


def test_asked_to_stop_it_saves_and_goes_on_in_the_same_bits(make, tmp_path):
    prepared, settings = make()
    count = iter(range(100))
    with pytest.raises(Interrupted, match="after step 5"):
        fit(prepared, settings, Run(folder=tmp_path, asked=lambda: next(count) == 4))
    assert same_bits(
        weights_of(fit(prepared, settings)),
        weights_of(fit(prepared, settings, Run(folder=tmp_path))),
    )


@pytest.mark.parametrize(
    "change", [{"fit": {"seed": 1}}, {"fit": {"learning_rate": 0.01}}, {"objective": "zlpr"}]
)
def test_a_checkpoint_of_other_settings_is_refused(make, tmp_path, change):
    with pytest.raises(Killed):
        fit(*make(fit={"save_seconds": 0.0}), Run(folder=tmp_path, progress=Watching(("fit", 3))))
    with pytest.raises(ModelError, match="other data or settings"):
        fit(*make(**change), Run(folder=tmp_path))


def test_a_checkpoint_of_other_data_is_refused(make, data, tmp_path):
    prepared, settings = make(fit={"save_seconds": 0.0})
    with pytest.raises(Killed):
        fit(prepared, settings, Run(folder=tmp_path, progress=Watching(("fit", 3))))
    shorter = prepare(replace(data, tables={"all": data.tables["all"].slice(1)}), settings)
    with pytest.raises(ModelError, match="other data or settings"):
        fit(shorter, settings, Run(folder=tmp_path))


def test_the_seed_decides_the_weights(make):
    first, again, other = (
        weights_of(fit(*make(fit={"seed": seed, "epochs": 1}))) for seed in (0, 0, 1)
    )
    assert same_bits(first, again)
    assert not same_bits(first, other)


@pytest.mark.parametrize("accumulate", [2, 3])
def test_accumulation_changes_the_weights_by_no_more_than_rounding(make, accumulate):
    calm = {"epochs": 1, "weight_decay": 0.0}
    whole = weights_of(fit(*make(fit=calm, encoder={"dropout": 0.0})))
    cut = weights_of(fit(*make(fit={**calm, "accumulate": accumulate}, encoder={"dropout": 0.0})))
    for name in whole:
        torch.testing.assert_close(cut[name], whole[name], rtol=0, atol=1e-4)


def test_the_best_weights_are_kept_not_the_last(make):
    prepared, settings = make(
        fit={"epochs": 12, "learning_rate": 0.5, "patience": 0}, schedule={"name": "constant"}
    )
    fitted = fit(prepared, settings)
    best = max(range(12), key=lambda i: fitted.history[i]["score"])
    assert best < 11, "the last is the best, so nothing is shown"
    until = {"epochs": float(best + 1), "learning_rate": 0.5, "patience": 0}
    assert same_bits(
        weights_of(fitted), weights_of(fit(*make(fit=until, schedule={"name": "constant"})))
    )


def test_the_global_generator_and_the_thread_count_are_left_alone(make):
    torch.manual_seed(11)
    expected, threads = torch.rand(2), torch.get_num_threads()
    torch.manual_seed(11)
    fit(*make(fit={"epochs": 1}))
    assert torch.equal(torch.rand(2), expected)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("metric", ["macro_f1", "ranking_loss"])
def test_any_metric_can_be_watched(make, metric):
    fitted = fit(*make(fit={"metric": metric}))
    assert fitted.metric == metric
    assert all(np.isfinite(row["score"]) for row in fitted.history)


def test_an_unknown_metric_is_an_error_that_names_the_nearest(make):
    with pytest.raises(SettingsError, match="did you mean 'ranking_loss'"):
        fit(*make(fit={"metric": "rankin_loss"}))


def test_where_lower_is_better_the_lowest_is_kept(make):
    settings = {"metric": "ranking_loss", "epochs": 6, "patience": 0, "learning_rate": 0.3}
    fitted = fit(*make(fit=settings, schedule={"name": "constant"}))
    lowest = min(fitted.history, key=lambda row: row["score"])
    assert fitted.model.heads["main"].metrics["metrics"]["ranking_loss"] == pytest.approx(
        lowest["score"]
    )


def test_a_batch_larger_than_the_data_is_one_step_an_epoch(make):
    assert [row["step"] for row in fit(*make(fit={"batch": 10_000, "epochs": 2})).history] == [1, 2]


def test_less_than_an_epoch_still_takes_a_step_and_is_scored(make):
    assert len(fit(*make(fit={"epochs": 0.01})).history) == 1


def test_refitting_trains_on_dev_too(make):
    """Without weights moved, what differs is which rows the steps saw: a dev label in train only
    through refit.
    """
    prepared, settings = make(fit={"refit": True, "epochs": 2})
    totals = []

    def watching(stream, title, start, total):
        totals.append((title, total))
        return stream

    fit(prepared, settings, Run(progress=watching))
    rows = {name: table.num_rows for name, table in prepared.tables.items()}
    assert totals[0] == ("fit", 2 * -(-rows["train"] // 16))
    assert totals[1][0] == "refit"
    assert totals[1][1] % -(-(rows["train"] + rows["dev"]) // 16) == 0


def test_vectors_set_the_width(make, tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("paris 1 2 3 4 5\nrome 2 3 4 5 6\n")
    fitted = fit(*make(fit={"vectors": str(path), "epochs": 1}))
    assert fitted.settings.encoder.options["width"] == 5


def test_metrics_of_dev_are_those_of_the_scores(make):
    from sklearn.metrics import f1_score, label_ranking_average_precision_score

    prepared, settings = make(fit={"epochs": 4})
    fitted = fit(prepared, settings)
    truth = prepared.space.encode(prepared.tables["dev"]["labels"]).matrix(5).toarray() > 0
    found = fitted.model.heads["main"].metrics["metrics"]
    assert found["micro_f1"] == pytest.approx(
        f1_score(truth, fitted.dev.logits > 0, average="micro")
    )
    assert found["lrap"] == pytest.approx(
        label_ranking_average_precision_score(truth, fitted.dev.logits)
    )


@pytest.mark.parametrize("wanted", [True, False])
def test_deterministic_holds_while_training_and_not_after(make, wanted):
    seen = []

    def watching(stream, title, start, total):
        for step in stream:
            seen.append(torch.are_deterministic_algorithms_enabled())
            yield step

    fit(*make(fit={"epochs": 0.2, "deterministic": wanted}), Run(progress=watching))
    assert set(seen) == {wanted}
    assert not torch.are_deterministic_algorithms_enabled()


def test_the_seconds_of_a_run_hold_no_import(make, monkeypatch):
    """The first optimizer of a process imports the compiler; that is not the first objective's
    fault.
    """
    import sys

    from tagwright.training import train as module

    seen = []
    monkeypatch.setattr(
        module, "import_module", lambda name: seen.append(name) or sys.modules.get(name)
    )
    monkeypatch.setattr(module.time, "monotonic", lambda: seen.append("clock") or 0.0)
    fit(*make(fit={"epochs": 0.1}))
    assert seen[:2] == ["torch._dynamo", "clock"]


def test_a_score_at_its_top_goes_on_to_the_last_epoch(make):
    """What is refitted then runs as long as what was measured."""
    prepared, settings = make(
        fit={"epochs": 3, "refit": True, "learning_rate": 1e-9, "patience": 0}
    )
    totals = {}

    def watching(stream, title, start, total):
        totals[title] = total
        return stream

    fitted = fit(prepared, settings, Run(progress=watching))
    assert len({row["score"] for row in fitted.history}) == 1
    rows = sum(table.num_rows for table in prepared.tables.values())
    assert totals["refit"] == 3 * -(-rows // 16)

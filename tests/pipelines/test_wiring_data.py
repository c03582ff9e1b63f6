"""Which texts, seeds and settings reach which step: slips no test of a single piece notices."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import torch

from tagwright.data import read_data
from tagwright.data.split import split
from tagwright.decisions.threshold import cross_fitted, fit_thresholds
from tagwright.decisions.zero import Zero
from tagwright.errors import SettingsError
from tagwright.experiments import runs
from tagwright.experiments.ledger import Ledger, unpacked_bits
from tagwright.experiments.plan import Planned, source_of
from tagwright.experiments.prepared_cache import Bench
from tagwright.experiments.recipe import TrainCut, read_recipe
from tagwright.experiments.scored_run import scored
from tagwright.inference import model_folder
from tagwright.inference.fit_decision import decide_on
from tagwright.inference.model import Model, TrainedHead
from tagwright.labels.shortlist import Shortlist
from tagwright.labels.space import LabelSpace
from tagwright.links import Calibration
from tagwright.models.build import build_network
from tagwright.pipelines.compare import compare_folder
from tagwright.pipelines.element_groups import find_element_groups
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.groups import find_groups
from tagwright.pipelines.keywords import find_keywords
from tagwright.pipelines.report import report_folder
from tagwright.pipelines.reproduce import write_tables
from tagwright.settings.presets import PRESETS
from tagwright.settings.schema import resolve
from tagwright.training.prepared import UNLABELLED
from tagwright.training.read_data import read_for
from tagwright.training.step_stream import Interrupted
from tagwright.training.train import fit


def planned(settings):
    place = {
        "data": "texts",
        "encoder": "cnn",
        "cut": TrainCut(),
        "part": "",
        "variant": "x",
        "seed": 0,
    }
    return Planned(**place, key="x", settings=settings)


@pytest.fixture
def bench(split_source, tiny):
    """A bench with the data of the folder, and of its first half without labels."""

    def made(half_labelled=False):
        data, _ = read_for(str(split_source), tiny())
        if half_labelled:
            train = data.tables["train"]
            kept = [None] * 45 + train["labels"].to_pylist()[45:]
            place = train.schema.get_field_index("labels")
            train = train.set_column(place, "labels", pa.array(kept, train["labels"].type))
            data = replace(data, tables={**data.tables, "train": train})
        return Bench({"texts": source_of(data, data.size)}, lambda text: None)

    return made


@pytest.mark.parametrize("teacher_first", [True, False])
def test_runs_with_and_without_a_teacher_do_not_share_prepared_texts(bench, tiny, teacher_first):
    """A teacher says something of texts without labels; for all other runs there are none."""
    made = bench(half_labelled=True)
    chosen = [resolve(tiny(targets={"name": "distil"})), resolve(tiny())]
    found = {}
    for settings in chosen if teacher_first else chosen[::-1]:
        tables = made.of(planned(settings), settings).prepared.tables
        found[settings.targets.name] = UNLABELLED in tables
    assert found == {"distil": True, "hard": False}


@pytest.fixture(scope="module")
def short_sighted(split_source, tiny):
    """A model that reads the first four words of a text, and the data of its training and score."""
    data, settings = read_for(str(split_source), tiny(fit={"limit": 4}))
    bench = Bench({"texts": source_of(data, data.size)}, lambda text: None)
    ready = bench.of(planned(settings), settings)
    return fit(ready.prepared, settings), ready, settings


def test_a_model_reads_as_much_of_a_text_as_in_training(short_sighted):
    fitted, ready, _ = short_sighted
    texts = ready.prepared.tables["dev"]["text"]
    found = fitted.model.scores(texts).logits
    np.testing.assert_allclose(found, fitted.dev.logits, rtol=1e-5, atol=1e-6)


def test_runs_are_scored_with_as_much_of_a_text_as_in_training(short_sighted):
    fitted, ready, settings = short_sighted
    row = scored(fitted, ready, settings, detail=True)
    chosen = unpacked_bits(row["chosen"], row["texts"], len(ready.prepared.space))
    cut = [" ".join(text.split()[:4]) for text in ready.table["text"].to_pylist()]
    assert (chosen == fitted.model.scores(cut).chosen).all()
    whole = replace(fitted.model, inference=replace(fitted.model.inference, limit=512))
    assert (chosen != whole.scores(ready.table["text"]).chosen).any()  # else nothing is shown


def test_the_split_of_a_comparison_has_a_seed_of_its_own(source, tiny, tmp_path, monkeypatch):
    seen = []

    def failing(prepared, settings, run):
        seen.append(sorted(prepared.tables["dev"]["text"].to_pylist()))
        raise RuntimeError("far enough")

    monkeypatch.setattr(runs, "fit", failing)
    monkeypatch.setattr("tagwright.experiments.comparison_files.can_report", lambda: False)
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "jobs": 1}
    for number, seeds in enumerate([(0, 0), (0, 3), (3, 0)]):
        given = tiny(fit={"seed": seeds[0]}, split={"seed": seeds[1]})
        compare_folder(str(source), given, **options, out=tmp_path / str(number))
    whole = read_data(source)
    for dev, seed in zip(seen[::2], (0, 3, 0)):
        expected = split(whole, dev_share=0.1, test_share=0.0, seed=seed).tables["dev"]
        assert dev == sorted(expected["text"].to_pylist())


def test_exchanges_tell_the_baseline_first(split_source, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("tagwright.experiments.comparison_files.can_report", lambda: False)
    given = tiny(fit={"epochs": 1}, decide={"name": "topk", "k": 1})
    options = {"objectives": ["bce", "zlpr"], "seeds": 1, "jobs": 1, "out": tmp_path / "c"}
    facts = compare_folder(str(split_source), given, **options).facts
    lines = (tmp_path / "c" / "runs.jsonl").read_text().splitlines()
    rows = {row["variant"]: row for row in map(json.loads, lines)}
    names = list(facts.label_names)
    table = read_data(split_source).tables["test"]
    truth = np.array([[name in own for name in names] for own in table["labels"].to_pylist()])
    shape = len(truth), len(names)
    chosen = {name: unpacked_bits(row["chosen"], *shape) for name, row in rows.items()}

    def confused(objective, true, wrong):
        """Texts with the one label that got the other instead."""
        missed = truth[:, true] & ~chosen[objective][:, true]
        return (missed & chosen[objective][:, wrong] & ~truth[:, wrong]).sum()

    assert facts.exchanges
    for one in facts.exchanges:
        pair = names.index(one["true"]), names.index(one["chosen"])
        assert (one["before"], one["after"]) == (confused("bce", *pair), confused("zlpr", *pair))


def test_final_thresholds_are_pulled_as_far_as_was_best_on_held_out_texts():
    random = np.random.default_rng(1)
    truth = random.random((80, 6)) < [0.5, 0.2, 0.05, 0.05, 0.05, 0.05]
    logits = truth - 0.5 + random.normal(size=truth.shape)
    settings = resolve({"objective": "bce"})
    space = LabelSpace(names=tuple("abcdef"), counts=(5,) * 6)
    decision = decide_on(logits, truth, settings, space)[0].decision
    pull = cross_fitted(logits, truth, seed=settings.split.seed)[1]
    assert pull.shrink > 0  # else any thresholds would do
    assert (decision.shrink, decision.to_zero) == pull
    expected = fit_thresholds(logits, truth, **pull._asdict())
    np.testing.assert_array_equal(decision.thresholds, expected)


def test_the_share_of_an_excused_pair_is_among_the_texts_of_the_gold_label(trained, split_source):
    options = {"model": trained, "threshold": 0.02, "select": "all"}
    found = find_element_groups(str(split_source), options=options).pairs
    gold = [set(labels) for labels in read_data(split_source).tables["train"]["labels"].to_pylist()]
    assert found
    for pair in found:
        assert pair.rate == pytest.approx(pair.texts / sum(pair.left in labels for labels in gold))


def test_confusions_are_sought_in_the_dev_that_the_model_was_trained_beside(
    single_trained, single_source, tmp_path, monkeypatch
):
    model = model_folder.load(single_trained)
    chosen = {**model.record.resolved["split"], "seed": 5}
    record = replace(model.record, resolved={**model.record.resolved, "split": chosen})
    model_folder.save(replace(model, record=record), tmp_path / "m", card="")
    seen, whole = [], Model.scores

    def scores(self, texts):
        seen.extend(texts.to_pylist())
        return whole(self, texts)

    monkeypatch.setattr(Model, "scores", scores)
    options = {"model": tmp_path / "m", "least": 99}
    with pytest.raises(SettingsError, match="no groups"):
        find_groups(str(single_source), by="confusions", options=options)
    expected = split(read_data(single_source), seed=5).tables["dev"]["text"]
    assert seen == expected.to_pylist()


def test_keywords_come_for_the_most_frequent_labels_first(tmp_path, write_csv):
    labels = ["rare"] * 20 + ["common"] * 60 + ["middling"] * 40
    rows = [(n, f"{label} word number{n % 7}", label) for n, label in enumerate(labels)]
    found = find_keywords(str(write_csv(tmp_path / "a.csv", rows)), {}, texts=0)
    assert list(found.keywords) == list(found.texts_of) == ["common", "middling", "rare"]


def test_tags_start_at_their_share_of_tokens_and_labels_at_theirs_of_texts():
    settings = resolve({"data": {"task": "both"}, "encoder": {"name": "bat", "width": 8}}, "both")
    texts = LabelSpace(names=("a", "b"), counts=(50, 25))
    tags = LabelSpace(names=("B-X", "O"), counts=(100, 900), exclusive=True)
    labels = {"main": (texts, 100), "tags": (tags, 1000)}
    heads = build_network(settings, labels, sizes=(50,), learned={}).heads
    shares = torch.softmax(heads["tags"].linear.bias, 0).tolist()
    assert shares == pytest.approx([0.1, 0.9])
    assert torch.sigmoid(heads["main"].linear.bias).tolist() == pytest.approx([0.5, 0.25])


def test_settings_of_one_data_set_override_those_of_all(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'title = "T"\npaper = "P"\nnote = "N"\nmetric = "micro_f1"\nseeds = 1\n'
        'data = ["one", "two"]\nencoders = ["cnn"]\nbaseline = "plain"\n'
        "[settings.fit]\nepochs = 3\nbatch = 8\n[settings_of.two.fit]\nepochs = 9\n"
        '[[variants]]\nname = "plain"\nobjective = "bce"\nsettings.fit.batch = 4\n'
    )
    recipe = read_recipe(str(tmp_path / "mine.toml"))
    given = partial(recipe.given, encoder="cnn", variant=recipe.variants[0])
    assert given("one")["fit"] == {"epochs": 3, "batch": 4}
    assert given("two")["fit"] == {"epochs": 9, "batch": 4}


def test_a_report_quotes_texts_of_its_own_split(trained, tmp_path, write_csv, rows_of):
    """Each text has the wrong label, so that some are quoted; those of dev end in n1x…."""
    wrong = {"city": "fruit", "fruit": "metal", "metal": "sport", "sport": "tool", "tool": "city"}
    for seed, name in enumerate(["train", "dev", "test"]):
        rows = [(n, text, wrong[label]) for n, text, label in rows_of(30, seed=seed, many=False)]
        write_csv(tmp_path / "data" / f"{name}.csv", rows)
    out = tmp_path / "r.html"
    report_folder(trained, str(tmp_path / "data"), out, split="dev", overwrite=False)
    page = out.read_text("utf-8")
    assert "n1x" in page
    assert "n2x" not in page


def test_probabilities_of_a_shortlist_are_calibrated_like_those_of_all_labels():
    space = LabelSpace(names=("a", "b", "c"), counts=(1, 1, 1))
    facts = {"link": "sigmoid", "rule": "zero", "decision": Zero()}
    head = TrainedHead(space=space, **facts, calibration=Calibration(gamma=2.0))
    logits = np.array([[2.0, 0.5, -1.0]])
    short = head.scores(Shortlist(np.array([[0, 1, 2]], np.int32), logits, None, 3))
    np.testing.assert_allclose(short.probabilities, head.scores(logits).probabilities)


@pytest.mark.parametrize("loss", ["cecl", "pbp"])
@pytest.mark.parametrize("weights", ["ee", "standard", "array"])
def test_a_preset_of_bat_is_the_loss_and_the_weights_that_it_is_named_after(loss, weights):
    assert PRESETS[f"{loss}-{weights}"] == {"loss": loss, "weights": weights}


def test_resume_goes_on_with_a_run_also_where_overwriting_is_allowed(source, tiny, tmp_path):
    given, asked, begun = tiny(fit={"epochs": 1}), iter([False, False, True]), []

    def progress(stream, phase, start, total):
        begun.append(start)
        return stream

    with pytest.raises(Interrupted):
        fit_folder(str(source), given, out=tmp_path / "m", asked=lambda: next(asked, False))
    options = {"resume": True, "overwrite": True, "progress": progress}
    fit_folder(str(source), given, out=tmp_path / "m", **options)
    assert begun == [3]


def test_tables_are_of_all_seeds_that_were_made_even_beyond_the_recipe(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'title = "T"\npaper = "P"\nnote = "N"\nmetric = "micro_f1"\nseeds = 1\n'
        'data = ["one"]\nencoders = ["cnn"]\nbaseline = "plain"\n'
        '[[variants]]\nname = "plain"\nobjective = "bce"\n[[cuts]]\nname = "whole"\n'
    )
    place = {"data": "one", "encoder": "cnn", "cut": "whole", "part": "", "variant": "plain"}
    facts = {"when": "2026-01-01", "test": {"micro_f1": 0.5}, "dev": {}, "seconds": 1.0, "texts": 9}
    ledger = Ledger(tmp_path / "out" / "results.jsonl")
    for seed in range(3):
        ledger.add({**place, **facts, "seed": seed, "key": f"run {seed}"})
    found = write_tables(str(tmp_path / "mine.toml"), out=tmp_path / "out").facts
    assert (found.seeds, found.runs, found.finished) == (3, 3, 3)

"""The runs of a plan: made once, kept as they end, one by one or several at once."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tagwright.errors import SettingsError, WriteError
from tagwright.experiments import runs as module
from tagwright.experiments.ledger import Ledger
from tagwright.experiments.plan import Planned, source_of
from tagwright.experiments.prepared_cache import Bench
from tagwright.experiments.progress import Watch
from tagwright.experiments.recipe import TrainCut
from tagwright.experiments.runs import Making, jobs_for, make, require_jobs, row_of
from tagwright.settings.schema import Choice
from tagwright.training.read_data import read_for


@pytest.fixture(scope="module")
def planned(split_source, tiny):
    """Two runs of two objectives, and what they are made with."""
    given = tiny(fit={"epochs": 1}, decide={"name": "zero"})
    found = [read_for(str(split_source), {**given, "objective": name}) for name in ("bce", "zlpr")]
    data = found[0][0]
    place = {"data": "texts", "encoder": "cnn", "cut": TrainCut(), "part": "", "seed": 0}
    runs = [Planned(**place, variant=s.objective, key=s.objective, settings=s) for _, s in found]
    return runs, {"texts": source_of(data, data.size)}


class Ends(Watch):
    def __init__(self):
        self.begun, self.ended = None, []

    def begin(self, runs, rows):
        self.begun = [row is not None for row in rows]

    def end(self, number, row):
        self.ended.append((number, row["variant"]))


def made(planned, out, **options):
    runs, sources = planned
    watch, ledger = Ends(), Ledger(out / "runs.jsonl")
    making = Making(sources=sources, teachers=out / "teachers", **options)
    return list(make(runs, making, ledger, jobs=1, watch=watch, made={"by": "me"})), watch, ledger


def test_every_run_is_in_the_ledger_with_what_it_was_made_with(planned, tmp_path):
    numbers, watch, ledger = made(planned, tmp_path)
    assert numbers == [0, 1]
    assert (watch.begun, watch.ended) == ([False, False], [(0, "bce"), (1, "zlpr")])
    again = Ledger(tmp_path / "runs.jsonl").rows
    assert [(row["variant"], row["by"]) for row in again.values()] == [
        ("bce", "me"),
        ("zlpr", "me"),
    ]
    assert again.keys() == ledger.rows.keys()
    assert all(row["seconds"] > 0 and row["scored"] for row in again.values())


def test_dev_is_there_with_and_without_its_thresholds(planned, tmp_path):
    (run, _), sources = planned
    assert made(planned, tmp_path)[2].rows["bce"]["dev_untuned"] == {}  # nothing was fitted
    settings = replace(
        run.settings, decide=Choice(name="threshold", options={"shrink": 0.0, "micro": 0.0})
    )
    making = Making(sources=sources, teachers=tmp_path)
    row = row_of(replace(run, settings=settings), Bench(sources, print), making, print)
    assert row["dev_untuned"]["lrap"] == row["dev"]["lrap"]  # logits are the same
    assert row["dev_untuned"]["macro_f1"] != row["dev"]["macro_f1"]


def test_what_is_there_is_not_made_again(planned, tmp_path, monkeypatch):
    made(planned, tmp_path)
    monkeypatch.setattr(module, "fit", lambda *a: pytest.fail("trained again"))
    numbers, watch, _ = made(planned, tmp_path)
    assert (numbers, watch.begun) == ([], [True, True])


def test_detail_and_pages_are_kept_where_wanted(planned, tmp_path):
    _, _, ledger = made(planned, tmp_path, detail=True, pages=tmp_path / "runs")
    for row in ledger.rows.values():
        assert {"chosen", "reliability", "course", "watched"} <= row.keys()
        assert (tmp_path / row["page"]).is_file()
    assert "chosen" not in next(iter(made(planned, tmp_path / "plain")[2].rows.values()))


def test_a_fault_of_the_settings_is_the_result_of_its_run(planned, tmp_path):
    sources = planned[1]
    broken = Planned(
        data="texts",
        encoder="cnn",
        cut=TrainCut(),
        part="",
        variant="x",
        seed=0,
        key="x",
        fault="no such loss",
    )
    making = Making(sources=sources, teachers=tmp_path)
    row = row_of(broken, Bench(sources, print), making, lambda far: None)
    assert (row["failed"], row["variant"]) == ("no such loss", "x")


def test_a_full_disk_is_raised_and_no_result_of_the_run(planned, tmp_path, monkeypatch):
    """The run counted as finished without its report, and nothing made the report again."""
    runs, sources = planned
    making = Making(sources=sources, teachers=tmp_path, detail=True, pages=tmp_path / "runs")

    def full(path, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(
        WriteError,
        match=f"cannot write {tmp_path}/runs/.*: no space left on device; free some space",
    ):
        row_of(runs[0], Bench(sources, print), making, lambda far: None)


def test_one_run_for_each_gpu_else_for_every_two_processors(planned, monkeypatch):
    settings = [run.settings for run in planned[0]]
    monkeypatch.setattr(module, "device_of", lambda one: torch.device("cpu"))
    for count, jobs in ((1, 1), (2, 1), (3, 1), (16, 8)):
        monkeypatch.setattr(module, "cores", lambda count=count: count)
        assert jobs_for(settings) == jobs
    monkeypatch.setattr(module, "device_of", lambda one: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert jobs_for(settings) == 4
    monkeypatch.setattr(module, "device_of", lambda one: torch.device("mps"))
    assert jobs_for(settings) == 1
    assert jobs_for([None]) >= 1


def test_fewer_than_one_at_a_time_is_refused():
    with pytest.raises(SettingsError, match="at least 1, got 0"):
        require_jobs(0)

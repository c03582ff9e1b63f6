"""A training that does not fit into memory is refused before it starts, with the sum."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from tagwright import Tagger
from tagwright.data import read_data
from tagwright.errors import SettingsError
from tagwright.experiments.progress import Watch
from tagwright.labels.space import LabelSpace
from tagwright.models.build import build_network
from tagwright.pipelines.compare import compare_folder
from tagwright.pipelines.fit import fit_folder
from tagwright.settings.schema import resolve
from tagwright.training import needed_memory as module
from tagwright.training.check import check
from tagwright.training.needed_memory import needed, require_memory
from tagwright.training.prepare import prepare

from ..pipelines.several import MOODS, TOPICS, heads_of, ready, write_heads

SMALL = [
    "admin",
    "bat",
    "bow",
    "cnn",
    "informer",
    "lstm",
    "muse",
    "performer",
    "switch",
    "transformer",
]
PRETRAINED = {"config.json": np.frombuffer(json.dumps({"hidden_size": 384}).encode(), np.uint8)}


@pytest.fixture
def free(monkeypatch):
    """Makes so many bytes free."""
    return lambda size: monkeypatch.setattr(module, "free_bytes", lambda device: size)


@pytest.fixture(scope="module")
def make(source):
    """Prepared data and settings, with as many labels as wanted."""

    def made(labels=5, **given):
        data = read_data(source)
        settings = resolve(given, "many", data.size)
        prepared = prepare(data, settings)
        if labels == 5:
            return prepared, settings
        names = tuple(f"{number:07d}" for number in range(labels))
        return (
            with_labels(prepared, LabelSpace(names=names, counts=(1,) * labels, exclusive=False)),
            settings,
        )

    return made


def with_labels(prepared, space):
    """The same data with other labels."""
    return replace(prepared, heads={"main": replace(prepared.heads["main"], space=space)})


def test_bow_is_refused_with_the_arithmetic_and_what_to_do(make, free):
    prepared, settings = make(100_000, encoder="bow")
    free(10**8)
    features = needed(prepared, settings).host[0].size / 4 / 100_000 - 1
    with pytest.raises(
        SettingsError, match=r"needs about .* of memory, and 100\.0 MB are free: "
    ) as caught:
        require_memory(prepared, settings)
    message = str(caught.value)
    assert f"weights of {features:.0f} features × 100,000 labels" in message
    assert "--encoder cnn" in message
    assert "encoder.minimum" in message
    assert "--head-chunk" not in message  # bow refuses it


def test_dense_encoders_are_told_of_chunks_and_need_less_with_them(make, free):
    encoder = {"name": "cnn", "filters": 128}
    prepared, settings = make(100_000, encoder=encoder, decide="zero")
    free(10**8)
    with pytest.raises(
        SettingsError,
        match=r"weights of width 384 × 100,000 labels and their optimizer.*--head-chunk",
    ):
        require_memory(prepared, settings)
    chunked = resolve({"encoder": encoder, "head": {"chunk": 16384}}, "many")
    assert needed(prepared, chunked).host_bytes < 0.6 * needed(prepared, settings).host_bytes


def test_scores_of_dev_are_counted_and_said(make, free):
    small = {"encoder": {"name": "cnn", "filters": 1, "width": 4}, "fit": {"batch": 1}}
    prepared, settings = make(20_000, **small)
    free(10**6)
    message = r"13\.4 MB for scores of 12 texts of dev × 20,000 labels\. Take .*fewer texts in dev"
    with pytest.raises(SettingsError, match=message):
        require_memory(prepared, settings)
    unfitted = resolve({**small, "decide": "zero"}, "many")
    assert needed(prepared, unfitted).host_bytes < needed(prepared, settings).host_bytes


def test_pretrained_encoders_are_counted_by_their_width(make, free):
    prepared, settings = make(1_000_000, decide="zero")
    prepared = replace(prepared, learned=PRETRAINED)
    free(2 * 10**9)
    with pytest.raises(SettingsError, match=r"6\.2 GB for weights of width 384 × 1,000,000 labels"):
        require_memory(prepared, settings)
    require_memory(with_labels(prepared, make(10_000)[0].space), settings)


def test_several_heads_add_up_around_one_encoder(tmp_path):
    """By hand: weights with gradient and Adam's two averages, and the best so far; logits four
    times; scores of dev.
    """
    encoder, batch, (first, second) = {"name": "cnn", "width": 4, "filters": 8}, 16, (1000, 300)
    heads = heads_of("mood", "topic", topic={"targets": "kwls", "objective": "bce"})
    folder = write_heads(tmp_path, {"mood": MOODS, "topic": TOPICS})
    prepared, settings = ready(folder, heads, encoder=encoder, fit={"batch": batch})
    spaces = [
        LabelSpace(names=tuple(f"{n:04d}" for n in range(count)), counts=(1,) * count)
        for count in (1000, 300)
    ]
    made = {
        name: replace(head, space=space)
        for (name, head), space in zip(prepared.heads.items(), spaces)
    }
    prepared = replace(prepared, heads=made)
    network = build_network(
        settings, {"mood": (spaces[0], 0)}, sizes=prepared.tokenizer.sizes, learned={}
    )
    of_encoder = sum(weight.numel() for weight in network.encoder.parameters())
    matrices = (network.encoder.width_out + 1) * (first + second)
    dev, train = (prepared.tables[name].num_rows for name in ("dev", "train"))
    training = (
        4 * 4 * (of_encoder + matrices)
        + 4 * 4 * batch * (first + second)
        + 4 * (of_encoder + matrices)
    )
    expected = training + 4 * train * second + 18 * dev * (first + second)
    assert needed(prepared, settings).host_bytes == expected


def test_where_free_memory_is_not_known_nothing_is_refused(make, free):
    free(None)
    require_memory(*make(100_000, encoder="bow"))


@pytest.mark.parametrize("name", SMALL)
def test_every_small_encoder_has_an_estimate_that_draws_nothing(make, name):
    prepared, settings = make(encoder=name, data={"task": "many"})
    torch.manual_seed(3)
    before = torch.get_rng_state()
    assert needed(prepared, settings).host_bytes > 0
    assert torch.equal(torch.get_rng_state(), before)


def test_fit_tagger_and_compare_refuse_before_they_write(source, tmp_path, free):
    free(1000)
    with pytest.raises(SettingsError, match="training needs about"):
        fit_folder(str(source), {"encoder": "bow"}, out=tmp_path / "m")
    with pytest.raises(SettingsError, match="training needs about"):
        compare_folder(str(source), {}, objectives=["bce", "zlpr"], seeds=1, out=tmp_path / "c")
    with pytest.raises(SettingsError, match="training needs about"):
        Tagger(encoder="bow").fit([f"text {n}" for n in range(40)], [["a"], ["b"]] * 20)
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_a_comparison_that_does_not_fit_fails_alone(
    split_source, tiny, tmp_path, monkeypatch
):
    """Only the first encoder is looked at before the runs; the system would kill the others, and
    all runs with them.
    """

    class Running(Watch):
        def begin(self, runs, rows):
            monkeypatch.setattr(module, "_dense_width", lambda prepared, settings: (10**12, 0))

    given = {"fit": {"epochs": 1, "batch": 16}, "decide": {"name": "zero"}}
    options = {
        "objectives": ["bce", "zlpr"],
        "encoders": ["bow", "cnn"],
        "seeds": 1,
        "out": tmp_path / "c",
    }
    done = compare_folder(str(split_source), given, **options, watch=lambda metric: Running())
    failed = {row["encoder"]: row["failed"] for row in done.facts.rows}
    assert failed["bow"] == ""
    assert failed["cnn"].startswith("SettingsError: training needs about")


def test_what_trains_here_is_not_refused(make):
    for encoder in ("bow", "cnn"):
        check(*make(encoder=encoder))


MEASURE = """
import sys
import numpy as np, pyarrow as pa, torch
from tagwright.training.memory import Peak
from tagwright.training.needed_memory import needed
from tagwright.training.prepare import prepare
from tagwright.training.train import fit
from tagwright.data import Data
from tagwright.settings.schema import resolve

def made(encoder, texts, dev, labels, words):
    draw = np.random.default_rng(0)
    def table(count):
        drawn = draw.integers(words, size=(count, 40)).tolist()
        text = [" ".join(f"w{n}" for n in row) for row in drawn]
        own = [[f"l{n}" for n in row] for row in draw.integers(labels, size=(count, 3)).tolist()]
        return pa.table({"text": text, "labels": pa.array(own, pa.list_(pa.string()))})
    data = Data(tables={"train": table(texts), "dev": table(dev)}, task="many", source="drawn")
    fit = {"epochs": 1, "evaluations": 1, "device": "cpu"}
    settings = resolve({"encoder": encoder, "fit": fit}, "many", data.size)
    return prepare(data, settings), settings

torch.set_num_threads(1)
fit(*made(sys.argv[1], 40, 20, 3, 50))  # libraries are loaded
prepared, settings = made(sys.argv[1], *map(int, sys.argv[2:]))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
before, peak = int(status["VmRSS"].split()[0]) * 1024, Peak(torch.device("cpu"))
fit(prepared, settings)
print(needed(prepared, settings).host_bytes / (peak.bytes() - before))
"""


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK),
    reason="the peak of a process cannot be measured",
)
@pytest.mark.parametrize(
    ("encoder", "sizes"), [("bow", (3000, 200, 2000, 20000)), ("cnn", (300, 3000, 1000, 500))]
)
def test_the_estimate_is_near_the_measured_peak(encoder, sizes):
    """Weights dominate the first, scores of dev the second."""
    command = [sys.executable, "-c", MEASURE, encoder, *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1 / 1.5 < float(done.stdout) < 1.5

"""Pretrained encoders tag tokens: the first piece speaks, special tokens stand around every
window.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from tagwright.inference import model_folder
from tagwright.inference.spans import token_scores
from tagwright.pipelines.fit import fit_folder
from tagwright.pipelines.score import score_folder
from tagwright.training.prepare import prepare
from tagwright.training.read_data import read_for
from tagwright.training.train import fit

from ..tagged_pages import tagged_rows, write_conll
from ..tiny_encoders import FAMILIES, installed, vocabulary, write_encoder

pytestmark = pytest.mark.skipif(not installed, reason="transformers is not installed")
FIT = {"epochs": 6, "batch": 16, "learning_rate": 0.01, "limit": 24}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for seed, (name, count) in enumerate([("train", 60), ("dev", 20)]):
        write_conll(folder / f"{name}.conll", tagged_rows(count, seed=seed))
    return folder


def given(encoder, **run):
    return {"encoder": {"name": "pretrained", "path": str(encoder)}, "fit": {**FIT, **run}}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_tags(family, pages, tmp_path):
    encoder = write_encoder(tmp_path / family, family)
    data, settings = read_for(str(pages), given(encoder, epochs=1, limit=12))
    prepared = prepare(data, settings)
    found = fit(prepared, settings)
    tokens = len(prepared.sheets["dev"].tags)
    assert found.dev.chosen.shape == (tokens, len(prepared.space))
    assert (found.dev.chosen.sum(1) == 1).all()
    assert np.isfinite(found.dev.logits).all()


@pytest.fixture(scope="module")
def trained(pages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained")
    outcome = fit_folder(
        str(pages), given(write_encoder(folder / "bert", "bert")), out=folder / "model"
    )
    return folder / "model", outcome


def test_a_folder_scores_as_fit_did(trained, pages):
    folder, outcome = trained
    scored = score_folder(folder, str(pages), split="dev", unseen="drop", convention="sklearn")
    assert scored.as_dict()["metrics"]["entity_f1"] == pytest.approx(
        outcome.metrics["entity_f1"], abs=1e-6
    )
    assert outcome.metrics["macro_f1"] > 0.3


def test_logits_of_a_token_are_the_librarys_at_its_first_piece(trained):
    """The model of the library, run by hand on [CLS] pieces [SEP], without a batch or a window of
    ours.
    """
    model, known = model_folder.load(trained[0]), vocabulary(0)
    words = ["the", "hammer", "xyz", "of", "paris"]
    pieces = {"xyz": ["x", "##y", "##z"]}
    ids, first = [known["[CLS]"]], []
    for word in words:
        first.append(len(ids))
        ids += [known[piece] for piece in pieces.get(word, [word])]
    network = model.network.eval()
    with torch.no_grad():
        made = network.encoder.model(
            input_ids=torch.tensor([[*ids, known["[SEP]"]]])
        ).last_hidden_state
        expected = network.heads["main"].linear(made)[0, first]
    short = ["pear"]  # shares the batch, and is padded in it
    found = token_scores(model, pa.array(words + short), np.array([0, 5, 6])).logits
    np.testing.assert_allclose(found[:5], expected.numpy(), rtol=1e-4, atol=1e-4)


def test_a_text_longer_than_the_encoder_reads_is_tagged_in_windows(trained):
    model = model_folder.load(trained[0])
    words = [token for tokens, _ in tagged_rows(60, seed=4) for token in tokens]
    found = token_scores(model, pa.array(words), np.array([0, len(words)]))
    assert len(words) > 10 * model.inference.limit
    assert (found.chosen.sum(1) == 1).all()
    assert np.abs(found.logits).sum(1).all()


@pytest.mark.skipif(
    "TAGWRIGHT_ENCODERS" not in os.environ,
    reason="real encoders are not here; set TAGWRIGHT_ENCODERS",
)
def test_minilm_tags_after_a_few_steps(pages, tmp_path):
    if not (Path(os.environ["TAGWRIGHT_ENCODERS"]) / "minilm").is_dir():
        pytest.skip("no minilm in TAGWRIGHT_ENCODERS")
    settings = {"encoder": "minilm", "fit": {"epochs": 3, "batch": 8, "limit": 32, "device": "cpu"}}
    outcome = fit_folder(str(pages), settings, out=tmp_path / "model")
    assert outcome.metrics["entity_f1"] > 0.5

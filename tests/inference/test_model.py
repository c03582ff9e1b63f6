"""A trained model in memory."""

import random

import numpy as np
import pyarrow as pa
import pytest
import torch

from tagwright import Tagger
from tagwright.batches.inputs import FeatureInputs, TokenInputs
from tagwright.inference.model import inputs_of


@pytest.fixture(scope="module", params=["cnn", "bow"])
def model(request):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    draw = random.Random(1)
    texts = [
        f"{draw.choice(['tent', 'rope', 'knife', 'pan'])} {draw.choice(['red', 'blue'])} x{n}"
        for n in range(50)
    ]
    labels = [["out"] if text[0] in "tr" else ["kitchen", "steel"] for text in texts]
    settings = (
        {"encoder": {"name": "cnn", "width": 8, "filters": 4}} if request.param == "cnn" else None
    )
    yield (
        Tagger(encoder=request.param, settings=settings, epochs=2, dev_share=0.2)
        .fit(texts, labels)
        .model_
    )
    torch.set_num_threads(before)


TEXTS = ["red tent", "", "blue pan and a very long sentence about knives", "rope", "zzz"]


def test_scores_are_three_arrays_of_one_shape(model):
    scores = model.scores(TEXTS)
    assert scores.logits.shape == scores.probabilities.shape == scores.chosen.shape == (5, 3)
    assert scores.chosen.dtype == bool
    assert ((scores.probabilities >= 0) & (scores.probabilities <= 1)).all()


def test_no_texts_give_no_rows(model):
    assert model.scores([]).chosen.shape == (0, 3)


def test_an_empty_text_is_scored_like_any_other(model):
    assert np.isfinite(model.scores([""]).logits).all()


def test_neighbors_change_nothing_but_the_last_bits(model):
    alone = np.concatenate([model.scores([text]).logits for text in TEXTS])
    np.testing.assert_allclose(model.scores(TEXTS).logits, alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_the_batch_size_changes_nothing_but_the_last_bits(model, batch):
    np.testing.assert_allclose(
        model.scores(TEXTS, batch=batch).logits, model.scores(TEXTS).logits, rtol=1e-5, atol=1e-6
    )


def test_an_arrow_column_is_read_like_a_list(model):
    column = pa.chunked_array([pa.array(TEXTS[:2]), pa.array(TEXTS[2:])])
    assert np.array_equal(model.scores(column).logits, model.scores(TEXTS).logits)


def test_the_encoder_decides_what_it_is_fed(model):
    kind = FeatureInputs if model.inference.encoder.name == "bow" else TokenInputs
    assert isinstance(inputs_of(model.network, model.tokenizer.encode(TEXTS), limit=9), kind)

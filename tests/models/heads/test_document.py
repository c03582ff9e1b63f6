"""The document head is one linear map, dense or sparse, that starts at the given bias."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tagwright.batches.sparse import SparseRows
from tagwright.errors import SettingsError
from tagwright.models.heads.document import Document
from tagwright.models.hidden import Hidden

BIAS = torch.tensor([-2.0, 0.5, 1.0])


@pytest.mark.parametrize("sparse", [False, True])
def test_logits_are_the_linear_map_of_the_pooled_vector(sparse):
    torch.manual_seed(0)
    head = Document(5, 3, sparse, BIAS, 0, 0.0)
    torch.nn.init.normal_(head.linear.weight)
    values = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 0]], np.float32)
    pooled = SparseRows.of(csr_array(values), np.arange(2)) if sparse else torch.from_numpy(values)
    weight = head.linear.weight if sparse else head.linear.weight.T
    torch.testing.assert_close(head(Hidden(None, pooled)), torch.from_numpy(values) @ weight + BIAS)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_text_without_features_gets_the_bias(sparse):
    head = Document(5, 3, sparse, BIAS, 0, 0.0)
    nothing = np.zeros((1, 5), np.float32)
    pooled = (
        SparseRows.of(csr_array(nothing), np.arange(1)) if sparse else torch.from_numpy(nothing)
    )
    torch.testing.assert_close(head(Hidden(None, pooled)), BIAS[None])


def test_threshold_class_is_one_more_logit_and_labels_are_measured_from_it():
    head = Document(5, 3, False, BIAS, 1, 0.0)
    logits = head(Hidden(None, torch.randn(4, 5)))
    assert logits.shape == (4, 4)
    torch.testing.assert_close(head.of_labels(logits), logits[:, :3] - logits[:, 3:])
    assert head.linear.bias[3] == 0


def test_labels_are_measured_from_the_threshold_of_the_loss():
    head = Document(5, 3, False, BIAS, 0, 0.7)
    logits = torch.randn(4, 3)
    torch.testing.assert_close(head.of_labels(logits), logits - 0.7)


def test_half_precision_weights_keep_their_bias_and_give_float_logits():
    torch.manual_seed(0)
    head = Document(5, 3, False, BIAS, 0, 0.0, chunk=2, dtype="bfloat16")
    assert head.linear.weight.dtype == torch.bfloat16
    assert head.linear.bias.dtype == torch.float32
    pooled = torch.randn(4, 5)
    logits = head(Hidden(None, pooled))
    assert logits.dtype == torch.float32
    torch.testing.assert_close(
        logits, pooled @ head.linear.weight.float().T + BIAS, rtol=2e-2, atol=2e-2
    )


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"chunk": -1}, "head.chunk"),
        ({"chunk": 2, "shortlist": 4}, "head.shortlist"),
        ({"chunk": 2, "dtype": "float16"}, "head.dtype"),
        ({"chunk": 2, "optimizer": "lion"}, "head.optimizer"),
        ({"dtype": "bfloat16"}, "go with head.chunk"),
        ({"chunk": 2, "dtype": "bfloat16", "optimizer": "adamw"}, "row_adagrad"),
        ({"chunk": 2, "sparse": True}, "cnn or lstm"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, match):
    given = {
        "width": 5,
        "label_count": 3,
        "sparse": False,
        "bias": BIAS,
        "extra_logits": 0,
        "zero": 0.0,
        **settings,
    }
    with pytest.raises(SettingsError, match=match):
        Document(**given)

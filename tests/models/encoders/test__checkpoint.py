"""A pretrained model from its config alone, which may come from anybody."""

import pytest
import torch

from tagwright.errors import ModelError
from tagwright.models.encoders._checkpoint import from_config

SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "vocab_size": 9,
}
BERT = {"model_type": "bert", **SMALL}


@pytest.mark.parametrize("key", ["_attn_implementation", "attn_implementation"])
@pytest.mark.parametrize("value", ["owner/repo", "flash_attention_2", {"": "owner/repo"}], ids=str)
def test_the_library_chooses_its_own_attention(key, value):
    assert from_config({**BERT, key: value}).config._attn_implementation == "sdpa"


@pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
def test_what_a_source_was_stored_in_is_not_what_is_computed_in(key):
    """A model folder holds float32, whatever its encoder came in."""
    assert {one.dtype for one in from_config({**BERT, key: "float16"}).parameters()} == {
        torch.float32
    }


@pytest.mark.parametrize(
    "config",
    [
        {"num_hidden_layers": 10**6},
        {"hidden_size": 10**9},
        {"text_config": {"num_hidden_layers": 10**6}},
        {"text_config": {"num_labels": 10**9}},
        {"sizes": [3, 10**9]},
    ],
    ids=str,
)
def test_numbers_that_would_be_counted_to_are_refused(config):
    with pytest.raises(ModelError, match="too large"):
        from_config({**BERT, **config})


@pytest.mark.parametrize(
    "config",
    [
        {"num_attention_heads": -1},
        {"num_hidden_layers": -1},
        {"intermediate_size": -1},
        {"hidden_size": 0},
        {"num_attention_heads": 0},
        {"num_hidden_layers": 0},
        {"vocab_size": 0},
        {"model_type": "distilbert", "n_heads": -2},
        {"text_config": {"head_dim": -8}},
    ],
    ids=str,
)
def test_counts_and_sizes_that_no_encoder_has_are_refused(config):
    with pytest.raises(ModelError, match="must"):
        from_config({**BERT, **config})


def test_what_need_not_be_there_may_be_0_and_what_is_no_count_negative():
    own = {"type_vocab_size": 0, "max_relative_positions": -1}
    assert from_config({**BERT, "model_type": "deberta-v2", **own})


def test_a_base_of_rotations_is_no_count():
    assert from_config({**BERT, "rope_theta": 10**9})


def test_the_hub_can_be_asked_again_afterwards():
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    from_config(BERT)
    assert constants.HF_HUB_OFFLINE is before

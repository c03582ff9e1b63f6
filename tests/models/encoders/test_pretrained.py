"""Every family of pretrained encoder keeps the promises of encoders, and says what transformers
says.
"""

import numpy as np
import pytest
import torch

from tagwright.data.dataset import Size
from tagwright.errors import SettingsError
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.tokenizers.pretrained import read_pieces

from ...tiny_encoders import FAMILIES, write_encoder

TEXTS = [
    "a tent for the kitchen in paris, very red",
    "iron",
    "",
    "some [SEP] letters xyz and rome of the very blue golf item number two person",
    "zinc gold",
]


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """Family -> its folder, written when first asked for."""
    folders = {}

    def folder(family):
        if family not in folders:
            folders[family] = write_encoder(tmp_path_factory.mktemp("encoders") / family, family)
        return folders[family]

    return folder


def encoder_of(folder, *, fresh=True, limit=32, **options):
    """The encoder, its tokens of TEXTS and the inputs."""
    tokenizer = read_pieces(folder)
    tokens = tokenizer.encode(TEXTS)
    learned = Pretrained.learn(tokens, tokenizer, path=str(folder))
    torch.manual_seed(5)
    return Pretrained(learned, fresh, limit, "float32", path=str(folder), **options), tokens


def batch_of(encoder, tokens, index=range(5), limit=32):
    return encoder.inputs_of(tokens, limit=limit).batch(np.array(list(index)))


every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_states_are_those_of_transformers(family, folder_of):
    from transformers import AutoModel, AutoTokenizer

    encoder, tokens = encoder_of(folder_of(family))
    theirs = AutoModel.from_pretrained(folder_of(family)).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder_of(family), split_special_tokens=True)
    for row, text in enumerate(TEXTS):  # one by one: no padding, so nothing of it can be wrong
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        expected = theirs(input_ids=ids).last_hidden_state[0]
        found = encoder.eval()(*batch_of(encoder, tokens))
        torch.testing.assert_close(
            found.states[row, : len(expected)], expected, rtol=1e-4, atol=1e-5
        )
        torch.testing.assert_close(found.pooled[row], expected.mean(0), rtol=1e-4, atol=1e-5)


@every_family
def test_padding_and_batch_mates_change_nothing(family, folder_of):
    encoder, tokens = encoder_of(folder_of(family))
    encoder.double().eval()
    ids, lengths = batch_of(encoder, tokens)
    whole = encoder(ids, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone = encoder(ids[row : row + 1, :length], lengths[row : row + 1])
        padding = torch.full((1, 5), 7)  # any id may stand behind a text
        wide = encoder(torch.cat([ids[row : row + 1, :length], padding], 1), lengths[row : row + 1])
        for other in (alone, wide):
            torch.testing.assert_close(other.pooled[0], whole.pooled[row], rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(
                other.states[0, :length], whole.states[row, :length], rtol=1e-9, atol=1e-11
            )


@pytest.mark.parametrize("family", ["roberta", "xlm-roberta", "mpnet"])
def test_padding_takes_no_position_where_positions_are_counted_by_it(family, folder_of):
    encoder, tokens = encoder_of(folder_of(family))
    ids, lengths = batch_of(encoder.eval(), tokens, [0])
    # more places than the table of positions has
    wide = torch.cat([ids, torch.full((1, 60), 7)], 1)
    torch.testing.assert_close(
        encoder(wide, lengths).pooled, encoder(ids, lengths).pooled, rtol=1e-4, atol=1e-5
    )


@every_family
def test_empty_row_gives_finite_numbers(family, folder_of):
    encoder, _ = encoder_of(folder_of(family))
    hidden = encoder.eval()(torch.zeros(2, 3, dtype=torch.int64), torch.tensor([0, 3]))
    assert torch.isfinite(hidden.pooled).all()


@every_family
def test_gradient_reaches_every_parameter(family, folder_of):
    encoder, tokens = encoder_of(folder_of(family), pooling="attention")
    encoder(*batch_of(encoder, tokens)).pooled.square().sum().backward()
    lost = [
        name
        for name, p in encoder.named_parameters()
        if p.grad is None or not p.grad.abs().sum() > 0
    ]
    # a softmax does not move with what it adds to all scores alike
    assert [
        name for name in lost if "key" not in name and ".k." not in name and "k_lin" not in name
    ] == []


@every_family
def test_weights_fit_the_model_made_from_the_config_alone(family, folder_of):
    encoder, tokens = encoder_of(folder_of(family))
    other, _ = encoder_of(folder_of(family), fresh=False)
    other.load_state_dict(encoder.state_dict())
    inputs = batch_of(encoder, tokens)
    assert torch.equal(other.eval()(*inputs).pooled, encoder.eval()(*inputs).pooled)


@every_family
def test_longest_text_is_read_and_a_longer_one_refused(family, folder_of):
    encoder, _ = encoder_of(folder_of(family), limit=40)
    assert torch.isfinite(encoder.eval()(torch.full((1, 40), 9), torch.tensor([40])).pooled).all()
    if family != "deberta-v2":  # its positions are relative
        with pytest.raises(
            SettingsError, match=r"fit\.limit is 41, but this encoder reads at most 40 tokens"
        ):
            encoder_of(folder_of(family), limit=41)


@pytest.mark.parametrize("how", ["mean", "cls", "max", "attention"])
def test_pooling_is_over_the_text_alone(how, folder_of):
    encoder, tokens = encoder_of(folder_of("bert"), pooling=how)
    encoder.eval()
    if how == "attention":
        torch.nn.init.normal_(encoder.pooling.query, std=2.0)
    hidden = encoder(*batch_of(encoder, tokens))
    for row, length in enumerate(tokens.lengths.tolist()):
        states = hidden.states[row, :length]
        weights = (states @ encoder.pooling.query).softmax(0) if how == "attention" else None
        expected = {
            "mean": lambda s: s.mean(0),
            "cls": lambda s: s[0],
            "max": lambda s: s.amax(0),
            "attention": lambda s, w=weights: sum(w[i] * s[i] for i in range(len(s))),
        }[how](states)
        torch.testing.assert_close(hidden.pooled[row], expected, rtol=1e-5, atol=1e-6)


def test_learnt_pooling_starts_as_the_mean(folder_of):
    (mean, tokens), (learnt, _) = (
        encoder_of(folder_of("bert"), pooling=how) for how in ("mean", "attention")
    )
    inputs = batch_of(mean, tokens)
    torch.testing.assert_close(learnt.eval()(*inputs).pooled, mean.eval()(*inputs).pooled)


def test_frozen_layers_count_from_the_embeddings(folder_of):
    encoder, _ = encoder_of(folder_of("bert"), freeze=2)
    held = {name for name, p in encoder.model.named_parameters() if not p.requires_grad}
    assert held == {
        n
        for n, _ in encoder.model.named_parameters()
        if n.startswith(("embeddings", "encoder.layer.0"))
    }
    encoder.train()
    assert not encoder.model.encoder.layer[0].training
    assert encoder.model.encoder.layer[1].training
    assert not encoder.model.embeddings.dropout.training


def test_all_frozen_leaves_the_pooled_vector_without_gradient(folder_of):
    encoder, tokens = encoder_of(folder_of("bert"), freeze="all", dropout=0.0)
    encoder.train()
    first, second = (encoder(*batch_of(encoder, tokens)).pooled for _ in range(2))
    assert not first.requires_grad
    assert torch.equal(first, second)  # no dropout inside


@pytest.mark.parametrize("wrong", [4, -1, "some", True, 1.5])
def test_impossible_freezing_is_refused(wrong, folder_of):
    with pytest.raises(
        SettingsError, match=r'"all" or a whole number from 0 to 3 \(embeddings, then 2 layers\)'
    ):
        encoder_of(folder_of("bert"), freeze=wrong)


def test_depth_grows_from_the_last_layer_to_the_embeddings(folder_of):
    encoder, _ = encoder_of(folder_of("modernbert"))
    depths, names = encoder.depths(), dict(encoder.model.named_parameters())
    assert {n: depths[p] for n, p in names.items() if "norm.weight" in n} == {
        "embeddings.norm.weight": 3,
        "layers.0.mlp_norm.weight": 2,
        "layers.1.attn_norm.weight": 1,
        "layers.1.mlp_norm.weight": 1,
        "final_norm.weight": 0,
    }


@every_family
def test_adapters_are_trained_alone_and_end_in_the_weights(family, folder_of):
    plain, tokens = encoder_of(folder_of(family))
    encoder, _ = encoder_of(folder_of(family), lora=3)
    trained = [name for name, p in encoder.named_parameters() if p.requires_grad]
    assert trained
    assert all("lora_" in name for name in trained)
    inputs = batch_of(encoder, tokens)
    torch.testing.assert_close(encoder.eval()(*inputs).pooled, plain.eval()(*inputs).pooled)
    for name, p in encoder.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(p, std=0.3)
    before = encoder(*inputs).pooled
    assert not torch.allclose(before, plain(*inputs).pooled, atol=1e-2)
    encoder.finish()
    assert set(encoder.state_dict()) == set(plain.state_dict())
    torch.testing.assert_close(encoder(*inputs).pooled, before, rtol=1e-4, atol=1e-4)


def test_adapters_beside_a_frozen_whole_are_refused(folder_of):
    with pytest.raises(SettingsError, match="nothing to train"):
        encoder_of(folder_of("bert"), freeze="all", lora=2)


@pytest.mark.parametrize(
    ("options", "match"),
    [({"pooling": "sum"}, "pooling"), ({"window_pooling": "cls"}, "window_pooling")],
)
def test_unknown_choice_is_met_with_the_choices(options, match, folder_of):
    with pytest.raises(SettingsError, match=match):
        encoder_of(folder_of("bert"), **options)


@every_family
def test_attention_dropout_can_be_another(family, folder_of):
    encoder, _ = encoder_of(folder_of(family), attention_dropout=0.25)
    config = encoder.model.config
    assert 0.25 in (
        getattr(config, "attention_probs_dropout_prob", None),
        getattr(config, "attention_dropout", None),
    )


def test_bfloat16_stays_near_and_answers_in_float32(folder_of):
    encoder, tokens = encoder_of(folder_of("bert"))
    encoder.eval()
    full = encoder(*batch_of(encoder, tokens))
    encoder.precision = "bfloat16"
    half = encoder(*batch_of(encoder, tokens))
    assert half.pooled.dtype == half.states.dtype == torch.float32
    assert not torch.equal(half.pooled, full.pooled)
    torch.testing.assert_close(half.pooled, full.pooled, rtol=0.1, atol=0.1)


@pytest.mark.parametrize(
    ("size", "epochs"),
    [
        (None, 3),
        (Size(43410, 28), 3),
        (Size(15000, 54), 9),
        (Size(23473, 255), 5),
        (Size(23473, 592), 11),
    ],
)
def test_epochs_make_about_4000_steps_and_twice_as_many_where_labels_are_many(size, epochs):
    assert Pretrained.defaults("many", None, {}, size)["fit"]["epochs"] == epochs


@pytest.mark.parametrize(
    ("task", "lora", "rate"), [("many", 0, 1.6e-4), ("one", 0, 4e-5), ("many", 8, 8e-4)]
)
def test_an_encoder_of_unknown_width_learns_several_labels_faster_than_one(task, lora, rate):
    found = Pretrained.defaults(task, None, {"path": "nowhere", "lora": lora}, None)
    assert found["fit"]["learning_rate"] == pytest.approx(rate)

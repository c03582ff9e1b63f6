"""Attention between label slots, against transformers' own output, slot by slot and text by
text.
"""

import numpy as np
import pytest
import torch

from tagwright.errors import ModelError, SettingsError
from tagwright.explain import attention
from tagwright.explain.attention import attending, depth_of, label_attention, layers_named
from tagwright.models.heads.cloze_slots import MASK

from ..tiny_encoders import FAMILIES
from .conftest import TEXTS

BY_POSITION = [family for family in FAMILIES if family not in ("deberta-v2", "modernbert")]


def slot_vectors(head, labels):
    """[LS-i] [MASK-i] [LE-i] of each label, one after the other."""
    kinds = head.middle.shape[0]
    vectors = []
    for label in labels:
        kind = label if kinds > 1 else 0
        middle = head.middle[kind, MASK]
        vectors += (
            [middle] if head.edges is None else [head.edges[kind, 0], middle, head.edges[kind, 1]]
        )
    return torch.stack(vectors)


def from_transformers(made, ids, labels):
    """What the library says of one text without padding: attention of every layer (H, N, N)."""
    from transformers import AutoModel

    encoder, head = made.network.encoder, made.network.heads["main"]
    model = AutoModel.from_pretrained(made.folder, attn_implementation="eager").eval()
    words = model.get_input_embeddings()(torch.tensor(ids))
    rows = torch.cat([words[:1], slot_vectors(head, labels), words[1:]])[None]
    places = torch.arange(rows.shape[1])[None] + encoder.first_position
    mask = torch.ones(rows.shape[:2], dtype=torch.long)
    with torch.no_grad():
        given = {"inputs_embeds": rows, "attention_mask": mask, "position_ids": places}
        return [layer[0] for layer in model(**given, output_attentions=True).attentions]


def pieces_of(made, text):
    """Ids of a text, special tokens included."""
    tokens = made.tokenizer.encode([text])
    return tokens.ids[tokens.offsets[0] : tokens.offsets[1]].tolist()


def by_hand(made, texts, layer, labels):
    """Mean attention (n, n) between the slots of some labels, in loops over texts, heads, slots and
    their tokens.
    """
    size = made.network.heads["main"].size
    result = np.zeros((len(labels), len(labels)))
    for text in texts:
        found = from_transformers(made, pieces_of(made, text), labels)[layer - 1]
        for head in found:
            for i in range(len(labels)):
                for j in range(len(labels)):
                    query, keys = 1 + size * i + size // 2, range(1 + size * j, 1 + size * (j + 1))
                    result[i, j] += (
                        sum(float(head[query, key]) for key in keys) / len(found) / len(texts)
                    )
    return result


@pytest.mark.parametrize("template", ["diff", "same", "short"])
def test_it_is_what_transformers_says_of_rows_made_by_hand(make, template):
    made = make(template=template)
    found = label_attention(made.network, made.inputs(), (1, 2))
    for layer in (1, 2):
        expected = by_hand(made, TEXTS, layer, range(5))
        np.testing.assert_allclose(found[layer], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_its_attention(make, family):
    made = make(family, template="short")
    found = label_attention(made.network, made.inputs(), (2,))[2]
    expected = by_hand(made, TEXTS, 2, range(5))
    seen = expected > 0
    np.testing.assert_allclose(found[seen], expected[seen], rtol=0, atol=1e-6)
    assert np.isnan(found[~seen]).all()
    assert (np.nansum(found, 1) <= 1 + 1e-6).all()
    assert (found[seen] > 0).all()


def test_a_layer_that_looks_only_near_leaves_cells_empty(make):
    """ModernBERT's second layer looks 4 tokens each way, and five slots of three tokens are farther
    apart.
    """
    made = make("modernbert")
    far, near = label_attention(made.network, made.inputs(), (1, 2)).values()
    distance = np.abs(np.arange(5) - np.arange(5)[:, None])
    assert np.isfinite(far).all()
    assert (np.isnan(near) == (distance > 1)).all()


@pytest.mark.parametrize(
    "options", [{}, {"chunks": 2}, {"chunks": 2, "text_sees_slots": False}], ids=str
)
def test_the_mean_does_not_depend_on_batches(make, monkeypatch, options):
    made = make(**options)
    texts, done = TEXTS * 5, []
    whole = label_attention(made.network, made.inputs(texts), (1, 2))
    monkeypatch.setattr(attention, "CELLS", 1)
    alone = label_attention(
        made.network, made.inputs(texts), (1, 2), told=lambda now, total: done.append((now, total))
    )
    assert done == [(number, 20) for number in range(1, 21)]
    for layer in (1, 2):
        np.testing.assert_allclose(alone[layer], whole[layer], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "options", [{}, {"chunks": 2}, {"chunks": 2, "text_sees_slots": False}], ids=str
)
def test_a_batch_holds_no_more_attention_than_allowed(make, monkeypatch, options):
    made, sizes, most = make(**options), [], 16_000
    monkeypatch.setattr(attention, "CELLS", most)
    whole = attention._whole
    monkeypatch.setattr(
        attention, "_whole", lambda found, *rest: sizes.append(found) or whole(found, *rest)
    )
    label_attention(made.network, made.inputs(TEXTS * 9), (1,))
    held = [sum(layer.numel() for layer in found) for found in sizes]
    assert most / 2 < max(held) <= most


def test_windows_of_a_text_count_as_one_text(make):
    made = make(encoder_options={"long": "windows", "overlap": 0})
    texts = ["paris rome oslo apple pear plum iron zinc gold chess rugby golf", "golf"]
    found = label_attention(made.network, made.inputs(texts), (1,))[1]
    # the last one ends where the text does
    parts = [" ".join(texts[0].split()[start : start + 7]) for start in (0, 5)]
    windows = [by_hand(made, [part], 1, range(5)) for part in parts]
    expected = (np.mean(windows, axis=0) + by_hand(made, [texts[1]], 1, range(5))) / 2
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_labels_of_different_passes_never_see_each_other(make):
    """Five labels in two chunks of three: the third stands in both, answers in the first, and is
    seen in both.
    """
    made = make(chunks=2)
    assert made.network.heads["main"].order.tolist() == [[0, 1, 2], [2, 3, 4]]
    found = label_attention(made.network, made.inputs(), (1,))[1]
    first, second = (by_hand(made, TEXTS, 1, labels) for labels in ([0, 1, 2], [2, 3, 4]))
    np.testing.assert_allclose(found[:3, :3], first, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[3:, 2:], second[1:], rtol=0, atol=1e-6)
    assert np.isnan(found[:3, 3:]).all()
    assert np.isnan(found[3:, :2]).all()


@pytest.mark.parametrize("family", BY_POSITION)
def test_groups_of_one_way_slots_never_see_each_other(make, family):
    """In the first layer nothing has passed between slots yet, so a slot looks as it would in a
    pass of its own, but for the text, which then saw slots: its vectors are those of words in both.
    """
    one, several = make(family, chunks=2, text_sees_slots=False), make(family, chunks=2)
    several.network.load_state_dict(one.network.state_dict())
    found = label_attention(one.network, one.inputs(), (1, 2))
    expected = label_attention(several.network, several.inputs(), (1, 2))
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-6)
    assert (np.isnan(found[2]) == np.isnan(expected[2])).all()


def test_the_model_is_as_before(make):
    made = make()
    inputs = made.inputs().batch(np.arange(4))
    config, before = made.network.encoder.model.config, made.network(*inputs)["main"]
    hooks = len(made.network.encoder.model._forward_hooks)
    label_attention(made.network, made.inputs(), (1,))
    assert config._attn_implementation == "sdpa"
    assert not config.output_attentions
    assert len(made.network.encoder.model._forward_hooks) == hooks
    assert torch.equal(made.network(*inputs)["main"], before)


def test_an_error_inside_leaves_the_model_as_before(make):
    made = make()
    with pytest.raises(RuntimeError, match="stop"), attending(made.network.encoder):
        raise RuntimeError("stop")
    assert made.network.encoder.model.config._attn_implementation == "sdpa"
    assert not made.network.encoder.model.config.output_attentions
    assert not made.network.encoder.model._forward_hooks


@pytest.mark.parametrize(
    "given",
    [None, (), (torch.zeros(1, 2, 20, 3),) * 2, (None, None)],
    ids=["none", "few", "odd", "empty"],
)
def test_an_encoder_that_does_not_give_it_is_named(make, monkeypatch, given):
    made = make()
    model = made.network.encoder.model
    whole = model.forward

    def without(*arguments, **more):
        found = whole(*arguments, **more)
        found.attentions = given
        return found

    monkeypatch.setattr(model, "forward", without)
    with pytest.raises(ModelError, match="family bert do not give the attention of their 2 layers"):
        label_attention(made.network, made.inputs(), (1,))


def test_slots_are_masked_however_many_rounds_prediction_takes(make):
    once, more = make(), make(rounds=3)
    more.network.load_state_dict(once.network.state_dict())
    found = [label_attention(made.network, made.inputs(), (2,))[2] for made in (once, more)]
    np.testing.assert_array_equal(*found)


def test_a_model_without_slots_is_refused(make):
    from tagwright.models.heads import Head

    made = make()
    network = type(made.network)(made.network.encoder, {"main": Head()})
    for ask in (depth_of, lambda network: label_attention(network, made.inputs(), (1,))):
        with pytest.raises(ModelError, match=r"no label slots.*--objective cloze"):
            ask(network)


@pytest.mark.parametrize(
    "options", [{}, {"chunks": 2}, {"chunks": 2, "text_sees_slots": False}], ids=str
)
def test_a_head_before_the_one_with_slots_changes_nothing(make, options):
    from tagwright.models.heads.document import Document

    made = make(**options)
    plain = Document(made.network.encoder.width_out, 2, False, torch.zeros(2), 0, 0.0)
    several = type(made.network)(
        made.network.encoder, {"plain": plain, "topic": made.network.heads["main"]}
    )
    found = label_attention(several, made.inputs(), (1, 2))
    expected = label_attention(made.network, made.inputs(), (1, 2))
    for layer in (1, 2):
        np.testing.assert_array_equal(found[layer], expected[layer])


@pytest.mark.parametrize(
    ("words", "depth", "numbers"),
    [
        ("low,middle,last", 12, (2, 6, 12)),
        ("low,middle,last", 6, (1, 3, 6)),
        ("low,middle,last", 24, (4, 12, 24)),
        ("low,middle,last", 22, (4, 11, 22)),
        ("low,middle,last", 3, (1, 2, 3)),
        ("low,middle,last", 1, (1,)),
        ("low,middle,last", 2, (1, 2)),
        ("6, 1,1,", 6, (1, 6)),
        ("last,2", 4, (2, 4)),
    ],
)
def test_layers_have_names_and_numbers(words, depth, numbers):
    assert layers_named(words, depth) == numbers


@pytest.mark.parametrize("words", ["0", "7", "lst", "1;2", "-1", "1.0"])
def test_an_unknown_layer_is_named_with_the_choices(words):
    with pytest.raises(
        SettingsError, match=f"unknown layer '{words}'.*low, middle, last or numbers from 1 to 6"
    ):
        layers_named(words, 6)


def test_no_layer_is_an_error():
    with pytest.raises(SettingsError, match="no layer is named"):
        layers_named(" , ", 6)

"""Every family of encoder that reads slots keeps their promises: order, chunks, groups and padding
change no score.
"""

from itertools import product

import pytest
import torch

from ..cloze_cases import BY_POSITION, batch_of, network_of, shown_of, taken
from ..tiny_encoders import FAMILIES

LABELS = 5
ORDER = [3, 0, 4, 1, 2]
ONE_WAY = {"text_sees_slots": False, "chunks": 2}
EXACT = {"rtol": 1e-9, "atol": 1e-9}


def logits_of(network, inputs, shown=None):
    return network.run(*inputs, shown=shown)[1]["main"].detach()


@pytest.mark.parametrize("score", ["shared", "own"])
@pytest.mark.parametrize("template", ["diff", "short"])
@pytest.mark.parametrize("family", BY_POSITION)
def test_labels_in_another_order_have_the_same_scores_where_they_share_positions(
    family, template, score
):
    options = {"template": template, "score": score, "slot_positions": "shared"}
    network, shown = network_of(family, LABELS, **options), shown_of(LABELS)
    turned, inputs = taken(network, ORDER, **options), batch_of(network, family)
    for one, other in ((None, None), (shown, shown[:, ORDER])):
        torch.testing.assert_close(
            logits_of(turned, inputs, other),
            logits_of(network, inputs, one)[:, ORDER],
            rtol=1e-5,
            atol=1e-5,
        )


def test_labels_in_a_row_have_scores_that_depend_on_their_order():
    network = network_of("bert", LABELS)
    turned, inputs = taken(network, ORDER), batch_of(network)
    assert (logits_of(turned, inputs) - logits_of(network, inputs)[:, ORDER]).abs().max() > 0.05


@pytest.mark.parametrize("chunks", [2, 3, 4, 5, 9])
@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "deberta-v2", "modernbert"])
def test_passes_are_models_of_a_slice_of_the_labels_each(family, chunks):
    options = {"score": "own"}
    network, shown = network_of(family, LABELS, chunks=chunks, **options), shown_of(LABELS)
    inputs, head = batch_of(network, family), network.heads["main"]
    for seen in (None, shown):
        found, met = logits_of(network, inputs, seen), []
        for chunk in head.order.tolist():
            alone = logits_of(
                taken(network, chunk, **options), inputs, None if seen is None else seen[:, chunk]
            )
            for place, label in enumerate(chunk):
                if label not in met:
                    torch.testing.assert_close(found[:, label], alone[:, place], **EXACT)
                    met.append(label)
        assert sorted(met) == list(range(LABELS))


@pytest.mark.parametrize("chunks", [1, 2, 3])
@pytest.mark.parametrize("template", ["diff", "short"])
@pytest.mark.parametrize("family", BY_POSITION)
def test_groups_of_one_pass_are_passes_of_one_group(family, template, chunks):
    options = {"template": template, "text_sees_slots": False}
    network, shown = network_of(family, LABELS, chunks=chunks, **options), shown_of(LABELS)
    inputs, head = batch_of(network, family), network.heads["main"]
    found = logits_of(network, inputs, shown)
    for number, chunk in enumerate(head.order.tolist()):
        alone = logits_of(taken(network, chunk, **options), inputs, shown[:, chunk])
        for place, label in enumerate(chunk):
            if int(head.kept[label]) // len(chunk) == number:
                torch.testing.assert_close(found[:, label], alone[:, place], **EXACT)


@pytest.mark.parametrize(
    ("family", "options"),
    [*product(FAMILIES, [{}, {"chunks": 2}]), *product(BY_POSITION, [ONE_WAY])],
)
def test_padding_and_batch_mates_change_no_score(family, options):
    network, shown = network_of(family, LABELS, **options), shown_of(LABELS)
    ids, lengths = batch_of(network, family)
    whole = logits_of(network, (ids, lengths), shown)
    for row, length in enumerate(lengths.tolist()):
        own, some = ids[row : row + 1, :length], shown[row : row + 1]
        alone = logits_of(network, (own, lengths[row : row + 1]), some)
        wide = torch.cat([own, torch.full((1, 5), 7)], 1)  # any id may stand behind a text
        padded = logits_of(network, (wide, lengths[row : row + 1]), some)
        torch.testing.assert_close(alone[0], whole[row], **EXACT)
        torch.testing.assert_close(padded[0], whole[row], **EXACT)
    turned = logits_of(network, (ids.flip(0), lengths.flip(0)), shown.flip(0))
    torch.testing.assert_close(turned.flip(0), whole, **EXACT)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="GPU tests want a CUDA device")
@pytest.mark.parametrize("options", [{}, {"chunks": 2}, ONE_WAY], ids=str)
@pytest.mark.parametrize("family", BY_POSITION)
def test_network_agrees_with_the_cpu(family, options):
    network, shown = network_of(family, LABELS, **options).float(), shown_of(LABELS)
    inputs = batch_of(network, family)
    on_cpu = logits_of(network, inputs, shown)
    on_gpu = logits_of(network.cuda(), tuple(tensor.cuda() for tensor in inputs), shown.cuda())
    torch.testing.assert_close(on_gpu.cpu(), on_cpu, rtol=1e-3, atol=1e-3)

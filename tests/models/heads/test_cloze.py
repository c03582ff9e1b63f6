"""The head with a slot for each label: its template, its map, its chunks and what it refuses."""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.models.heads.cloze import Cloze
from tagwright.models.network import Network

from ...cloze_cases import (
    MASK,
    TEMPLATES,
    batch_of,
    encoder_of,
    head_of,
    inputs_of,
    network_of,
    published,
    shown_of,
)
from ...cloze_reference import filled, places_of_answers

LABELS = 5
EXACT = {"rtol": 1e-9, "atol": 1e-9}


def logits_of(network, inputs, shown=None):
    return network.run(*inputs, shown=shown)[1]["main"].detach()


@pytest.mark.parametrize(
    "case", published("lm_mtc_template_eq2"), ids=lambda case: str(case["num_labels"])
)
def test_template_has_the_published_size(case):
    encoder, labels = encoder_of("bert"), case["num_labels"]
    encoder.slot_room = 512
    found = {name: head_of(encoder, labels, template=name) for name in TEMPLATES}
    assert len(found["diff"].places) == len(found["same"].places) == case["template_tokens"]
    assert len(found["short"].places) == labels
    middle, edges = (found["diff"].middle, found["diff"].edges)
    assert (
        middle.shape[0] * middle.shape[1] + edges.shape[0] * edges.shape[1]
        == case["new_tokens_diff_per_label_5L"]
    )
    # eq. 8 has [LS], [LE], [YES], [NO] of its own beside [MASK]; ours has a vector of its own for
    # that, too
    own = found["same"].middle.shape[1] + found["same"].edges.shape[1]
    assert own == case["new_tokens_same_template_eq8"] + 1
    assert found["short"].edges is None
    if labels <= 6:
        assert places_of_answers(labels) == case["mask_positions_in_template"]


@pytest.mark.parametrize(
    "case", published("lm_mtc_template_eq2"), ids=lambda case: str(case["num_labels"])
)
def test_text_keeps_the_published_number_of_512_positions(case):
    encoder, limit = encoder_of("bert"), case["text_budget_of_512_with_cls_sep"] + 2
    encoder.slot_room = 512 - limit
    head_of(encoder, case["num_labels"])
    encoder.slot_room -= 1
    with pytest.raises(
        SettingsError, match=f"{case['num_labels']} labels take {case['template_tokens']} positions"
    ):
        head_of(encoder, case["num_labels"])


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("score", ["shared", "own"])
def test_logit_is_the_map_of_the_state_where_the_answer_stands(score, template):
    network, shown = network_of("bert", LABELS, template=template, score=score), shown_of(LABELS)
    inputs = batch_of(network)
    with torch.no_grad():
        hidden, found = network.run(*inputs, shown=shown)
    head, places = network.heads["main"], places_of_answers(LABELS, template)
    for row in range(5):
        for label, place in enumerate(places):
            weight = head.weight.detach()[label if score == "own" else 0]
            expected = sum(
                float(a) * float(b) for a, b in zip(hidden.slots[row, place], weight, strict=True)
            )
            assert float(found["main"][row, label]) == pytest.approx(
                expected + head.bias[label].item(), rel=1e-9
            )


def test_new_vectors_start_small_and_logits_at_the_bias():
    encoder = encoder_of("bert")
    torch.manual_seed(0)
    facts = {
        "extra_logits": 0,
        "zero": 0.0,
        "link": "sigmoid",
        "reads_slots": True,
        "slot_room": None,
    }
    facts |= {"family": "bert", "word_width": 64, "name_vectors": None, "bias": torch.arange(60.0)}
    head = Cloze(width=encoder.width_out, label_count=60, **facts)
    for own in (head.middle, head.edges):
        assert own.std().item() == pytest.approx(0.02, rel=0.05)
        assert abs(own.mean().item()) < 0.001
    assert torch.equal(head.bias.detach(), torch.arange(60.0))


def test_groups_want_one_pass_and_passes_a_row_each():
    for one_way, rows in ((True, 1), (False, 3)):
        network = network_of("bert", LABELS, chunks=3, text_sees_slots=not one_way)
        slots = network.heads["main"].slots_of(batch_of(network, index=[0]), None)
        assert len(slots.vectors) == rows
        assert slots.vectors.shape[1] == (3 if one_way else 1) * 2 * 3


def test_an_empty_row_gives_finite_numbers():
    network = network_of("bert", LABELS, text_sees_slots=False, chunks=2)
    assert torch.isfinite(
        logits_of(network, (torch.zeros(2, 3, dtype=torch.int64), torch.tensor([0, 3])))
    ).all()


def test_windows_of_a_text_show_the_same_and_their_scores_are_pooled():
    windows = {"long": "windows", "overlap": 2}
    network, shown = network_of("bert", LABELS, limit=9, encoder=windows), shown_of(LABELS)
    ids, lengths, counts = batch_of(network, limit=9)
    assert counts.max() > 1
    found, start = logits_of(network, (ids, lengths, counts), shown), 0
    for row, count in enumerate(counts.tolist()):
        of_windows = []
        for one in range(start, start + count):
            alone = Network(network.encoder, network.heads).eval()
            single = (ids[one : one + 1], lengths[one : one + 1], torch.ones(1, dtype=torch.int64))
            of_windows.append(logits_of(alone, single, shown[row : row + 1])[0])
        torch.testing.assert_close(found[row], torch.stack(of_windows).mean(0), **EXACT)
        start += count


def test_rounds_are_those_of_the_slow_loop_over_the_network():
    rounds = 3
    network, values = (
        network_of("bert", LABELS, rounds=rounds, zero=0.4),
        {"NO": 0, "YES": 1, "MASK": 2},
    )
    inputs, passes, whole = batch_of(network), [], network.encoder.forward
    network.encoder.forward = lambda *given, **more: passes.append(1) or whole(*given, **more)
    found = network.of_labels(*inputs)["main"].detach()
    assert len(passes) == rounds
    for row in range(5):
        single = tuple(tensor[row : row + 1] for tensor in inputs)

        def scores_of(shown, single=single):
            return logits_of(network, single, torch.tensor([[values[value] for value in shown]]))[
                0
            ].tolist()

        expected, _ = filled(scores_of, LABELS, rounds, 0.4)
        assert found[row].tolist() == pytest.approx([logit - 0.4 for logit in expected], rel=1e-8)


def test_one_round_is_one_pass():
    network = network_of("bert", LABELS, zero=0.4)
    inputs = batch_of(network)
    everything = torch.full((5, LABELS), MASK)
    torch.testing.assert_close(network.of_labels(*inputs)["main"], network(*inputs)["main"] - 0.4)
    torch.testing.assert_close(
        logits_of(network, inputs, everything), network(*inputs)["main"], **EXACT
    )


@pytest.mark.parametrize(
    "options", [{}, {"chunks": 2}, {"text_sees_slots": False, "chunks": 2}, {"template": "short"}]
)
@pytest.mark.parametrize("long", ["head", "windows"])
def test_tokens_are_counted_as_the_encoder_reads_them(long, options):
    network = network_of("bert", LABELS, limit=9, encoder={"long": long, "overlap": 2}, **options)
    inputs, read = inputs_of(network, limit=9), []
    network.encoder._states = lambda given, lengths, width, allowed=None: (
        read.append(int(lengths.sum()))
        or torch.zeros(len(lengths), width, network.encoder.width_out).double()
    )
    cost = network.heads["main"].tokens_of(inputs.lengths, inputs.counts)
    for row in range(5):
        network(*inputs.batch([row]))
        # the specials and pieces of windows may be fewer than a text's first one has
        assert read[-1] <= cost[row] <= read[-1] + (0 if inputs.counts[row] == 1 else 9 * 2)


def test_draw_masks_all_or_asks_for_the_draw():
    target, generator = torch.ones(3, LABELS), torch.Generator().manual_seed(0)
    encoder = encoder_of("bert")
    assert head_of(encoder, LABELS).draw(target, None, generator) is None
    shown = head_of(encoder, LABELS, masking="p", share=1.0).draw(target, None, generator)
    assert (shown == MASK).all()
    shown = head_of(encoder, LABELS, masking="p", share=0.01, wrong=1.0).draw(
        target, None, generator
    )
    assert (shown == 0).any()


@pytest.mark.parametrize(
    "options", [{}, {"template": "short", "text_sees_slots": False, "chunks": 2}], ids=str
)
def test_slots_learn_which_text_has_which_label(options):
    network = network_of("bert", LABELS, **options).float()
    inputs, target = (
        batch_of(network),
        (torch.rand(5, LABELS, generator=torch.Generator().manual_seed(4)) < 0.5).float(),
    )
    optimizer, losses = torch.optim.AdamW(network.parameters(), lr=0.01), []
    for _ in range(80):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            network(*inputs)["main"], target
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 < losses[0]


def test_names_are_where_all_tokens_of_a_slot_start():
    torch.manual_seed(0)
    vectors = 5 * torch.randn(3, 8)
    facts = {
        "extra_logits": 0,
        "zero": 0.0,
        "link": "sigmoid",
        "reads_slots": True,
        "slot_room": None,
    }
    facts |= {"family": "bert", "word_width": 8, "name_vectors": vectors, "bias": torch.zeros(3)}
    head = Cloze(width=16, label_count=3, **facts, names=True)
    for own in (head.middle, head.edges):
        assert (own - vectors[:, None]).abs().max() < 0.1
    assert (Cloze(width=16, label_count=3, **facts).middle - vectors[:, None]).abs().max() < 0.1
    assert Cloze(width=16, label_count=3, **facts, names=False).middle.abs().max() < 0.1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"template": "different"}, "unknown head.template 'different'; did you mean 'diff'"),
        ({"masking": "half"}, r"unknown head\.masking 'half'.*full, p, part"),
        ({"score": "each"}, r"unknown head\.score 'each'.*own, shared"),
        ({"slot_positions": "same"}, r"unknown head\.slot_positions 'same'.*sequential, shared"),
        ({"template": "same", "slot_positions": "shared"}, "take slot_positions=sequential"),
        ({"template": "same", "chunks": 2}, "head.template=same.*head.chunks"),
        ({"template": "same", "names": True}, "head.template=same.*head.names"),
        ({"chunks": 0}, "head.chunks must be at least 1, got 1, 0"),
        ({"rounds": 0}, "head.rounds and head.chunks must be at least 1, got 0, 1"),
        ({"share": 0.0}, "head.share must be above 0 and at most 1"),
        ({"share": 1.5}, "head.share must be above 0 and at most 1"),
        ({"wrong": -0.1}, "head.wrong from 0 to 1"),
        ({"rounds": 2, "link": "softmax"}, "head.rounds.*take bce, focal or zlpr"),
        ({"rounds": 2, "link": "none"}, "head.rounds.*take bce, focal or zlpr"),
        ({"extra_logits": 1}, "threshold class.*with head cloze take zlpr"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(options, match):
    with pytest.raises(SettingsError, match=match) as error:
        head_of(encoder_of("bert"), LABELS, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("template", ["diff", "short"])
def test_too_many_labels_are_told_how_many_fit_and_the_proposal_works(template):
    encoder = encoder_of("bert", limit=24)  # 16 positions are left
    with pytest.raises(SettingsError, match="room for") as error:
        head_of(encoder, 41, template=template)
    said = str(error.value)
    assert f"room for {5 if template == 'diff' else 16} labels" in said
    chunks = int(said.split("head.chunks=")[1].split(",")[0])
    network = Network(
        encoder, {"main": head_of(encoder, 41, template=template, chunks=chunks)}
    ).eval()
    ids = torch.full((2, 24), 9)
    assert torch.isfinite(network(ids, torch.tensor([24, 24]))["main"]).all()
    with pytest.raises(SettingsError, match="room for"):
        head_of(encoder, 41, template=template, chunks=chunks - 1)


def test_labels_that_share_positions_fit_in_any_number():
    encoder = encoder_of("bert", limit=37)
    network = Network(encoder, {"main": head_of(encoder, 41, slot_positions="shared")}).eval()
    assert torch.isfinite(network(torch.full((1, 37), 9), torch.tensor([37]))["main"]).all()
    with pytest.raises(
        SettingsError, match=r"41 labels take 3 positions .* has 2 left.*fit\.limit"
    ):
        head_of(encoder_of("bert", limit=38), 41, slot_positions="shared")

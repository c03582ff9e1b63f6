"""Masked-language modelling beside a task: what is hidden, and what the hidden pieces add to the
objective.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tagwright.batches.rows import Batch, HeadBatch
from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.losses import BinaryCrossEntropyLoss
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.models.heads.document import Document
from tagwright.models.heads.mlm import MASKED, MaskedPieces
from tagwright.models.heads.tokens import TokenTags
from tagwright.models.network import Network
from tagwright.objective import Objective, build_objective
from tagwright.settings.schema import resolve
from tagwright.tokenizers.pretrained import read_pieces
from tagwright.training.head_objective import HeadObjective
from tagwright.training.learner import BatchLoss, Learner
from tagwright.training.regularizers import mlm
from tagwright.training.regularizers._hide import HiddenPieces, hide
from tagwright.training.regularizers.mlm import MaskedModelling, row_weights

from ...tiny_encoders import write_encoder
from . import tiny

LABELS, WEIGHT = 3, 0.3
KNOWN = json.loads(
    (Path(__file__).parents[2] / "losses" / "vectors.json").read_text(encoding="utf-8")
)
VECTORS = KNOWN["lm_mtc_bce_eq4_joint_eq5"]["cases"]
SPACE = LabelSpace(names=("a", "b", "c"), counts=(5, 4, 3), exclusive=False)
TAGS = LabelSpace(names=("O", "B-X", "I-X"), counts=(50, 8, 5), exclusive=True)
TEXTS = [
    "a tent for the kitchen in paris, very red",
    "iron",
    "some xyz and rome of the very blue golf",
    "",
    "zinc gold",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoders") / "bert", "bert", masked=True)


class Case:
    """A tiny BERT with a head for labels, or for tags, and one for pieces, in float64 and without
    dropout.
    """

    def __init__(self, folder, *, tagged=False, **options):
        self.tokenizer = read_pieces(folder)
        self.tokens = self.tokenizer.encode(TEXTS)
        learned = Pretrained.learn(self.tokens, self.tokenizer, path=str(folder))
        encoder = Pretrained(learned, True, 32, "float32", path=str(folder), dropout=0.0, **options)
        torch.manual_seed(1)
        facts = {
            "width": encoder.width_out,
            "label_count": LABELS,
            "bias": torch.zeros(LABELS),
            "extra_logits": 0,
        }
        main = (
            TokenTags(**facts, whole_texts=False)
            if tagged
            else Document(**facts, sparse=False, zero=0.0)
        )
        pieces = torch.tensor(
            sorted(set(self.tokenizer.vocabulary.values()) - set(self.tokenizer.marks))
        )
        head = MaskedPieces(
            encoder.width_out, encoder.words.weight, pieces, mask=self.tokenizer.mask
        )
        for parameter in head.parameters():
            nn.init.normal_(parameter)
        self.network = Network(encoder, {"main": main, MASKED: head}).double().eval()
        task = ("tokens", TAGS) if tagged else ("many", SPACE)
        settings = resolve({"objective": "cross_entropy" if tagged else "bce"}, task[0])
        objective = build_objective(settings, task[1], row_count=9)
        self.objectives = {"main": HeadObjective(objective, link=settings.link, tags_tokens=tagged)}
        self.learn = Learner(self.network, self.objectives)
        self.mlm = MaskedModelling(self.learn, self.network, weight=WEIGHT, share=0.4)

    @property
    def head(self):
        return self.network.heads[MASKED]

    def batch(self, weight=None):
        ids, lengths, *counts = self.network.encoder.inputs_of(self.tokens, limit=32).batch(
            np.arange(len(TEXTS))
        )
        target = (torch.arange(len(TEXTS) * LABELS).view(-1, LABELS) % 2).double()
        made = Batch((ids, lengths, *counts), {"main": HeadBatch(target)}, None)
        return (
            made
            if weight is None
            else tiny.weighed(made, torch.tensor(weight, dtype=torch.float64))
        )


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def by_hand(head, vectors, state, piece):
    """Minus the log chance of a piece at one state."""
    inner = head.dense.weight @ state + head.dense.bias
    inner = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
    away = inner - inner.sum() / len(inner)
    inner = (
        away / torch.sqrt((away * away).sum() / len(inner) + head.norm.eps) * head.norm.weight
        + head.norm.bias
    )
    scores = torch.stack(
        [(vector * inner).sum() + bias for vector, bias in zip(vectors, head.bias)]
    )
    return scores.exp().sum().log() - scores[piece]


def pieces_by_hand(case, asked, of_rows):
    """Eq. 5's second term: the rows' means over what is chosen, each times what the row counts."""
    width, ids, total = asked.ids.shape[1], asked.ids, 0
    lengths = case.batch().inputs[1]
    states = case.network.encoder(ids, lengths).states
    for row, weight in enumerate(of_rows):
        own = [
            n
            for n, place in enumerate(asked.places.tolist())
            if asked.chosen[n] and place // width == row
        ]
        for n in own:
            state, piece = states[row, asked.places[n] % width], asked.gold[n]
            total = total + weight * by_hand(
                case.head, case.network.encoder.words.weight, state, piece
            ) / len(own)
    return total


def bce_by_hand(case, ids, lengths, target, of_rows, head="main"):
    logits = case.network(ids, lengths)[head]
    total = 0
    for row, weight in enumerate(of_rows):
        for s, y in zip(logits[row], target[row]):
            total = total + weight * (
                y * torch.log1p(torch.exp(-s)) + (1 - y) * torch.log1p(torch.exp(s))
            )
    return total


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_both_terms_are_joined_as_in_the_paper(vector, folder, monkeypatch):
    """Eq. 5 with its own weight, given eq. 4 and a loss of 2.5 for every piece."""
    case = Case(folder)
    monkeypatch.setattr(
        case.head, "losses", lambda states, vectors, gold: torch.full(gold.shape, 2.5).double()
    )
    one = case.batch()._replace(inputs=tuple(tensor[:1] for tensor in case.batch().inputs))
    task = torch.tensor(vector["expected_bce_mean"], dtype=torch.float64)
    given = MaskedModelling(
        lambda batch, _: BatchLoss(task, {}, case.network.run(*batch.inputs)[0]),
        case.network,
        share=0.9,
    )
    found = given(one, seeded()).value
    assert found.item() == pytest.approx(vector["joint_lambda0.05_mlm2.5"], rel=1e-10)


@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.0, 0.7, 0.3]])
def test_value_and_gradients_are_those_by_hand(weight, folder):
    case = Case(folder)
    batch = case.batch(weight)
    found = case.mlm(batch, seeded()).value
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    assert 4 < asked.chosen.sum() < 30
    of_rows = weight or [1.0] * len(TEXTS)
    expected = bce_by_hand(case, asked.ids, batch.inputs[1], batch.heads["main"].target, of_rows)
    expected = expected + WEIGHT * pieces_by_hand(case, asked, of_rows)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    moved = dict(case.network.named_parameters())
    for name, one, other in zip(
        moved,
        *(
            torch.autograd.grad(v, moved.values(), materialize_grads=True)
            for v in (found, expected)
        ),
    ):
        torch.testing.assert_close(
            one, other, rtol=1e-10, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}"
        )


def test_several_heads_are_added_by_their_weights_and_the_pieces_once(folder):
    """A text counts the same to the pieces, whichever head has an answer to it."""
    case, of_rows, answered = Case(folder), [0.5, 2.0, 1.0, 0.7, 0.3], [0, 1, 0, 1, 1]
    facts = {
        "width": case.network.encoder.width_out,
        "label_count": 2,
        "bias": torch.ones(2),
        "extra_logits": 0,
    }
    case.network.heads["other"] = Document(**facts, sparse=False, zero=0.0).double()
    bce, target = (
        BinaryCrossEntropyLoss(reduction="sum"),
        torch.tensor([[1.0, 0], [1, 1], [0, 1], [1, 0], [0, 0]]),
    )
    objectives = {
        **case.objectives,
        "other": HeadObjective(Objective(bce), link="sigmoid", weight=0.7),
    }
    batch, own = case.batch(of_rows), [weight * there for weight, there in zip(of_rows, answered)]
    other = HeadBatch(target.double(), weight=torch.tensor(own, dtype=torch.float64))
    batch = batch._replace(heads={**batch.heads, "other": other})
    learn = MaskedModelling(
        Learner(case.network, objectives), case.network, weight=WEIGHT, share=0.4
    )
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    read = asked.ids, batch.inputs[1]
    expected = bce_by_hand(case, *read, batch.heads["main"].target, of_rows)
    expected = expected + 0.7 * bce_by_hand(case, *read, target, own, "other")
    expected = expected + WEIGHT * pieces_by_hand(case, asked, of_rows)
    torch.testing.assert_close(learn(batch, seeded()).value, expected, rtol=1e-10, atol=1e-12)


def test_places_that_are_not_chosen_count_nothing(folder, monkeypatch):
    """A GPU takes them along, for it cannot be asked how many are chosen."""
    case = Case(folder)
    batch, moved = case.batch([0.5, 2.0, 1.0, 0.7, 0.3]), list(case.network.parameters())
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    assert len(asked.chosen_alone().places) < len(asked.places)
    expected = case.mlm(batch, seeded()).value
    monkeypatch.setattr(HiddenPieces, "chosen_alone", lambda self: self)
    found = case.mlm(batch, seeded()).value
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    for one, other in zip(
        *(torch.autograd.grad(v, moved, materialize_grads=True) for v in (found, expected))
    ):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_word_vectors_are_one_tensor_with_both_gradients(folder):
    """HiddenPieces of a piece that no text has, the vectors move by the head alone."""
    case = Case(folder)
    case.mlm(case.batch(), seeded()).value.backward()
    absent = case.tokenizer.vocabulary["hammer"]
    assert case.network.encoder.words.weight.grad[absent].abs().sum() > 0
    assert not [
        name
        for name in case.network.state_dict()
        if name.startswith(f"heads.{MASKED}") and "vectors" in name
    ]


def test_outcome_has_logits_and_states_of_the_changed_texts(folder):
    case = Case(folder)
    batch = case.batch()
    outcome = case.mlm(batch, seeded())
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    hidden, logits = case.network.run(asked.ids, batch.inputs[1])
    torch.testing.assert_close(outcome.logits, logits)
    torch.testing.assert_close(outcome.hidden.states, hidden.states)


def test_nothing_is_added_where_nothing_can_be_hidden(folder):
    case = Case(folder)
    case.tokens = case.tokenizer.encode([""] * len(TEXTS))
    batch = case.batch()
    assert case.mlm(batch, seeded()).value == case.learn(batch, seeded()).value


def test_parts_of_a_batch_add_up_to_the_whole(folder, monkeypatch):
    """Given what is chosen: each row draws by itself here, whatever stands beside it."""
    case, whole = Case(folder), mlm.hide

    def row_by_row(ids, lengths, head, *, share, generator):
        drawn = [
            whole(i[None], n[None], head, share=share, generator=seeded(int(i.sum())))
            for i, n in zip(ids, lengths)
        ]
        places = torch.cat([one.places + row * ids.shape[1] for row, one in enumerate(drawn)])
        return HiddenPieces(
            *(torch.cat(kind) for kind in zip(*(one._replace(places=places[:0]) for one in drawn)))
        )._replace(places=places)

    monkeypatch.setattr(mlm, "hide", row_by_row)
    batch = case.batch([0.5, 2.0, 1.0, 0.7, 0.3])
    expected = case.mlm(batch, seeded()).value
    parts = [tiny.rows_of(batch, rows) for rows in (slice(0, 2), slice(2, 3), slice(3, 5))]
    found = sum(case.mlm(part, seeded()).value for part in parts)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_rows_that_fill_the_shape_weigh_nothing(folder):
    case = Case(folder)
    batch = case.batch([1.0, 1.0, 1.0, 0.0, 0.0])
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    rows = asked.places // asked.ids.shape[1]
    weights = asked.weights(row_weights(batch, torch.float64))
    assert (weights[rows >= 3] == 0).all()
    assert asked.chosen[rows == 4].any()
    for row in range(3):
        assert weights[rows == row].sum() == pytest.approx(float(asked.chosen[rows == row].any()))


def test_windows_share_the_weight_of_their_text(folder):
    case = Case(folder, long="windows", overlap=1)
    inputs = case.network.encoder.inputs_of(case.tokens, limit=6)
    batch = case.batch([0.5, 2.0, 1.0, 0.7, 0.3])._replace(
        inputs=inputs.batch(np.arange(len(TEXTS)))
    )
    ids, _, counts = batch.inputs
    assert counts.max() > 1
    found = row_weights(batch, torch.float64)
    assert len(found) == len(ids)
    by_text = found.split(counts.tolist())
    torch.testing.assert_close(torch.stack([own.sum() for own in by_text]), batch.weight)
    assert all((own == own[0]).all() for own in by_text)
    without = row_weights(batch._replace(weight=None), torch.float64).split(counts.tolist())
    assert [float(own.sum()) for own in without] == pytest.approx([1.0] * len(TEXTS))
    value = case.mlm(batch, seeded()).value
    value.backward()
    assert torch.isfinite(value)


def test_beside_tags_alone_a_row_counts_as_often_as_it_has_tags(folder):
    """The objective is a sum over tokens, and divided by their number: the pieces must not fade in
    it.
    """
    case = Case(folder, tagged=True)
    batch = case.batch()
    tags = torch.where(torch.arange(batch.inputs[0].shape[1]) < batch.inputs[1][:, None], 1, -1)
    tags[:, 0] = -1
    nothing = torch.zeros(len(TEXTS), 0)
    batch = tiny.learning(batch, "main", tags=tags, target=nothing)
    sizes = (tags >= 0).sum(1)
    assert row_weights(batch, torch.float64).tolist() == sizes.tolist()
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    task = case.learn(batch._replace(inputs=(asked.ids, batch.inputs[1])), seeded()).value
    expected = task + WEIGHT * pieces_by_hand(case, asked, sizes.tolist())
    torch.testing.assert_close(case.mlm(batch, seeded()).value, expected, rtol=1e-10, atol=1e-12)
    # a second kind of tags
    again = batch._replace(heads={**batch.heads, "again": HeadBatch(nothing, tags=tags)})
    assert row_weights(again, torch.float64).tolist() == sizes.tolist()
    # of texts, too
    both = batch._replace(heads={**batch.heads, "labels": HeadBatch(torch.zeros(len(TEXTS), 2))})
    assert row_weights(both, torch.float64).tolist() == [1.0] * len(TEXTS)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["share", "weight"])
def test_settings_that_nothing_can_be_learnt_by_are_refused(name, value, folder):
    with pytest.raises(SettingsError, match=rf"mlm\.{name} must be"):
        MaskedModelling(None, Case(folder).network, **{name: value})


def test_bfloat16_of_the_encoder_is_that_of_the_head_and_stays_near(folder):
    case = Case(folder)
    case.network.float()
    batch = case.batch()
    batch = tiny.learning(batch, "main", target=batch.heads["main"].target.float())
    full = case.mlm(batch, seeded()).value
    case.network.encoder.precision = "bfloat16"
    seen = []
    case.head.dense.register_forward_hook(lambda *given: seen.append(given[-1].dtype))
    half = case.mlm(batch, seeded()).value
    assert seen == [torch.bfloat16]
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, full, rtol=0.05, atol=0.05)


def test_a_task_of_any_kind_may_stand_inside(folder):
    """It adds to the value of whatever it stands around."""
    case = Case(folder)

    def twice(batch, generator):
        outcome = case.learn(batch, generator)
        return BatchLoss(2 * outcome.value, outcome.logits, outcome.hidden)

    batch = case.batch()
    asked = hide(*batch.inputs, case.head, share=0.4, generator=seeded())
    task = case.learn(batch._replace(inputs=(asked.ids, batch.inputs[1])), seeded()).value
    found = MaskedModelling(twice, case.network, weight=WEIGHT, share=0.4)(batch, seeded()).value
    torch.testing.assert_close(
        found - case.mlm(batch, seeded()).value, task, rtol=1e-10, atol=1e-12
    )

"""The objective of tokens: a plain loop over those that have a tag, whatever pads and surrounds
them.
"""

import math

import pytest
import torch
from torch import Tensor

from tagwright.errors import SettingsError
from tagwright.labels.space import LabelSpace
from tagwright.objective import Objective, build_objective
from tagwright.settings.schema import resolve

NAMES = ("O", "B-X", "I-X", "B-Y")
SPACE = LabelSpace(names=NAMES, counts=(50, 8, 5, 3), exclusive=True)
LENGTHS = [5, 1, 0, 3]


def objective_of(name: str, **given: object) -> Objective:
    return build_objective(resolve({"objective": name, **given}, "tokens"), SPACE, row_count=66)


def batch(width: int = 7, *, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Logits (B, T, L) of noise, padding included, and tags (B, T); the second position of row 0
    has none.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(
        len(LENGTHS), max(LENGTHS), len(NAMES), generator=generator, dtype=torch.float64
    )
    tags = torch.randint(0, len(NAMES), (len(LENGTHS), max(LENGTHS)), generator=generator)
    tags[torch.arange(max(LENGTHS)) >= torch.tensor(LENGTHS)[:, None]] = -1
    tags[0, 1] = -1
    noise = 30 * torch.randn(
        len(LENGTHS), width - max(LENGTHS), len(NAMES), generator=generator, dtype=torch.float64
    )
    return torch.cat([logits, noise], 1), torch.nn.functional.pad(
        tags, (0, width - max(LENGTHS)), value=-1
    )


def tokens_of(logits: Tensor, tags: Tensor) -> list[tuple[int, list[float], int]]:
    """Row, probabilities and tag of every token that counts, one after the other."""
    found = []
    for row, places in enumerate(tags.tolist()):
        for place, tag in enumerate(places):
            if tag >= 0:
                found.append((row, torch.softmax(logits[row, place], 0).tolist(), tag))
    return found


def cross_entropy(chances: list[float], tag: int) -> float:
    return -math.log(chances[tag])


def pbp(chances: list[float], tag: int) -> float:
    """BAT eq. 6: the label that was predicted wrongly is pushed down, too."""
    predicted = chances.index(max(chances))
    return cross_entropy(chances, tag) - (
        math.log(1 - chances[predicted]) if predicted != tag else 0.0
    )


def cecl(chances: list[float], tag: int) -> float:
    """BAT eq. 5: every other label is pushed down."""
    return cross_entropy(chances, tag) - sum(
        math.log(1 - p) for k, p in enumerate(chances) if k != tag
    )


REFERENCES = {"cross_entropy": cross_entropy, "pbp": pbp, "cecl": cecl}


@pytest.mark.parametrize("width", [5, 7, 41])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REFERENCES)
def test_the_loss_is_a_loop_over_tokens_that_have_a_tag(name, weighted, width):
    logits, tags = batch(width)
    weight = torch.tensor([0.5, 2.0, 1.0, 3.0], dtype=torch.float64) if weighted else None
    found = objective_of(name).of_tokens(logits, tags, weight=weight)
    expected = sum(
        (1.0 if weight is None else weight[row].item()) * REFERENCES[name](chances, tag)
        for row, chances, tag in tokens_of(logits, tags)
    )
    assert found.item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_dice_of_a_batch_counts_its_tokens_alone(weighted):
    logits, tags = batch()
    weight = torch.tensor([0.5, 2.0, 1.0, 3.0], dtype=torch.float64) if weighted else None
    found, kept = objective_of("batch_dice").of_tokens(logits, tags, weight=weight), []
    for row, places in enumerate(tags.tolist()):
        own = 1.0 if weight is None else weight[row].item()
        kept += [
            (own, torch.sigmoid(logits[row, t]).tolist(), tag)
            for t, tag in enumerate(places)
            if tag >= 0
        ]
    total = 0.0
    for label in range(len(NAMES)):
        hits = sum(w * p[label] for w, p, tag in kept if tag == label)
        squares = sum(w * p[label] ** 2 for w, p, _ in kept)
        gold = sum(w for w, _, tag in kept if tag == label)
        total += 1 - (2 * hits + 1) / (squares + gold + 1)
    assert found.item() == pytest.approx(total * len(kept), rel=1e-10)


def losses_of_tags() -> list[str]:
    from tagwright import registry

    return [
        name
        for name in registry.names("losses")
        if "tokens" in registry.find("losses", name).factory.tasks
    ]


@pytest.mark.parametrize("name", losses_of_tags())
def test_padding_and_other_pieces_neither_count_nor_learn(name):
    logits, tags = batch(7)
    other = torch.where((tags < 0)[..., None], 5 - 3 * logits, logits)
    gradients, values = [], []
    for given in (logits, other):
        given = given.clone().requires_grad_()
        value = objective_of(name).of_tokens(given, tags)
        value.backward()
        values.append(value.item())
        gradients.append(given.grad)
    assert values[0] == pytest.approx(values[1], rel=1e-10)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-10, atol=1e-12)
    assert not gradients[0][tags < 0].any()
    assert gradients[0][tags >= 0].any()


@pytest.mark.parametrize("name", losses_of_tags())
def test_any_order_of_rows_and_any_padding_give_the_same(name):
    logits, tags = batch(7)
    order = torch.tensor([3, 1, 0, 2])
    expected = objective_of(name).of_tokens(logits, tags).item()
    assert objective_of(name).of_tokens(logits[order], tags[order]).item() == pytest.approx(
        expected, rel=1e-10
    )
    assert objective_of(name).of_tokens(logits[:, :5], tags[:, :5]).item() == pytest.approx(
        expected, rel=1e-10
    )


@pytest.mark.parametrize(
    "name", [n for n in losses_of_tags() if n not in ("batch_dice", "sigmoid_f1")]
)
def test_parts_of_a_batch_add_up(name):
    logits, tags = batch()
    whole = objective_of(name).of_tokens(logits, tags)
    registry = [
        objective_of(name).of_tokens(logits[cut], tags[cut]) for cut in (slice(0, 1), slice(1, 4))
    ]
    assert whole.item() == pytest.approx(sum(part.item() for part in registry), rel=1e-10)


@pytest.mark.parametrize("name", losses_of_tags())
def test_a_batch_without_a_token_costs_nothing(name):
    logits, tags = batch()
    value = objective_of(name).of_tokens(logits.requires_grad_(), torch.full_like(tags, -1))
    value.backward()
    assert value.item() == 0
    assert not logits.grad.any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"objective": "zlpr"},
            "zlpr does not fit texts with a tag for each token; losses that do: .*cecl",
        ),
        ({"targets": {"name": "smooth"}}, "soft labels and masks are for labels of whole texts"),
        ({"mask": {"name": "groups"}}, "soft labels and masks are for labels of whole texts"),
        ({"objective": "batch_dice", "fit": {"accumulate": 2}}, "fit.accumulate must be 1"),
    ],
)
def test_what_does_not_fit_tags_is_refused(given, message):
    with pytest.raises(SettingsError, match=message):
        build_objective(resolve(given, "tokens"), SPACE, row_count=66)

"""What holds for all tagging encoders, because they share a shell."""

import math

import pytest
import torch
from torch import Tensor, nn

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.encoders._tagging_encoder import Shell, check
from tagwright.models.hidden import Hidden

NAMES = ["bat", "transformer", "admin", "switch", "muse", "performer", "informer"]
LENGTHS = torch.tensor([7, 1, 0, 3])


def encoder_of(name: str, **settings: object) -> nn.Module:
    torch.manual_seed(0)
    return registry.build(
        "encoders", name, {"width": 6, "hidden": 8, "heads": 2, "feed": 12, **settings}, sizes=(23,)
    )


def ids_of(width: int = 7) -> Tensor:
    ids = torch.randint(1, 23, (4, 7), generator=torch.Generator().manual_seed(1))
    ids[torch.arange(7) >= LENGTHS[:, None]] = 0
    return torch.cat([ids, torch.zeros(4, width - 7, dtype=torch.long)], 1)


def weights_of(model: nn.Module) -> int:
    """Parameters that do not grow with the vocabulary."""
    return sum(weight.numel() for name, weight in model.named_parameters() if "lookup" not in name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_padding_is_zero_and_an_empty_text_pools_to_zero(name: str, pooling: str) -> None:
    states, pooled, *_ = encoder_of(name, pooling=pooling)(ids_of(), LENGTHS)
    assert states.shape == (4, 7, 8)
    assert states[torch.arange(7) >= LENGTHS[:, None]].abs().sum() == 0
    assert pooled[2].tolist() == [0] * 8
    for text, length in [(0, 7), (1, 1), (3, 3)]:
        own = states[text, :length]
        torch.testing.assert_close(pooled[text], own.mean(0) if pooling == "mean" else own.amax(0))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "admin"])
def test_padding_changes_nothing_where_input_is_normalized(name: str) -> None:
    model = encoder_of(name, norm="pre").double().eval()
    whole = model(ids_of(), LENGTHS)
    torch.testing.assert_close(
        model(ids_of(12), LENGTHS).pooled, whole.pooled, rtol=1e-10, atol=1e-12
    )
    for text in (0, 1, 3):
        length = int(LENGTHS[text])
        alone = model(ids_of()[text : text + 1, :length], LENGTHS[text : text + 1])
        torch.testing.assert_close(
            alone.states[0], whole.states[text, :length], rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("name", NAMES)
def test_batch_of_empty_texts_gives_zeros_and_no_nan_gradient(name: str) -> None:
    model = encoder_of(name)
    pooled = model(torch.zeros(2, 3, dtype=torch.long), torch.tensor([0, 0])).pooled
    assert pooled.abs().sum() == 0
    pooled.sum().backward()
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())


@pytest.mark.parametrize("name", NAMES)
def test_words_that_change_places_change_the_states(name: str) -> None:
    model, ids = encoder_of(name), torch.tensor([[3, 4, 5], [5, 4, 3]])
    states = model(ids, torch.tensor([3, 3])).states
    assert not torch.allclose(states[0], states[1].flip(0), atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_dropout_acts_in_training_only(name: str) -> None:
    model = encoder_of(name, dropout=0.5)
    first, second = (model(ids_of(), LENGTHS).pooled for _ in range(2))
    assert not torch.equal(first, second)
    model.eval()
    first, second = (model(ids_of(), LENGTHS).pooled for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("name", NAMES)
def test_no_value_is_asked_of_a_device(name: str) -> None:
    # has shapes and no values, so a question for one is an error
    model = encoder_of(name).to("meta")
    states, pooled, *_ = model(ids_of().to("meta"), LENGTHS.to("meta"))
    (states.sum() + pooled.sum()).backward()
    assert states.shape == (4, 7, 8)
    assert all(weight.grad is not None for weight in model.parameters())


# not switch: a token between two experts may change sides
@pytest.mark.parametrize("name", [name for name in NAMES if name != "switch"])
def test_bfloat16_products_stay_near(name: str) -> None:
    model = encoder_of(name).eval()
    exact = model(ids_of(), LENGTHS).pooled
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model(ids_of(), LENGTHS).pooled
    rounded.float().sum().backward()
    assert (rounded - exact).abs().mean() < 0.05 * exact.abs().mean()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [4, 6, 12, 24])
def test_rivals_have_as_many_weights_as_bat(name: str, layers: int) -> None:
    sizes = [
        weights_of(registry.find("encoders", each).factory((5,), layers=layers))
        for each in ("bat", name)
    ]
    assert abs(sizes[1] / sizes[0] - 1) < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_deep_stack_trains(name: str) -> None:
    model = encoder_of(name, layers=24, hidden=32, feed=64)
    pooled = model(ids_of(), LENGTHS).pooled
    assert pooled.isfinite().all()
    pooled.square().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())
    assert model.shell.project.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", NAMES)
def test_weights_alone_carry_the_model(name: str) -> None:
    first = encoder_of(name).eval()
    torch.manual_seed(1)
    second = registry.build(
        "encoders", name, {"width": 6, "hidden": 8, "heads": 2, "feed": 12}, sizes=(23,)
    ).eval()
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(ids_of(), LENGTHS).pooled, second(ids_of(), LENGTHS).pooled)
    # no text is too long, and none leaves a trace
    first(torch.ones(1, 600, dtype=torch.long), torch.tensor([600]))
    assert {key: value.shape for key, value in first.state_dict().items()} == {
        key: value.shape for key, value in second.state_dict().items()
    }


def test_words_and_positions_are_added_as_vaswani_does() -> None:
    shell = encoder_of("transformer", hidden=10).shell
    shell.requires_grad_(False)
    states, _ = shell.embed(torch.tensor([[3, 9, 4]]), torch.tensor([3]))
    for place, word in enumerate([3, 9, 4]):
        vector = math.sqrt(10) * (
            shell.project.weight @ shell.lookup.tables[0][word] + shell.project.bias
        )
        for column in range(10):
            angle = place / 10_000 ** (column // 2 * 2 / 10)
            wave = math.cos(angle) if column % 2 else math.sin(angle)
            assert math.isclose(
                float(states[0, place, column]), float(vector[column]) + wave, abs_tol=1e-5
            )


def test_given_vectors_set_the_width() -> None:
    vectors = torch.randn(23, 11).numpy()
    model = registry.find("encoders", "bat").factory(
        (23,), width=11, hidden=8, heads=2, vectors=vectors, freeze=True
    )
    model(ids_of(), LENGTHS).pooled.sum().backward()
    assert model.shell.lookup.tables[0].grad is None
    assert torch.equal(model.shell.lookup.tables[0][1:], torch.from_numpy(vectors)[1:])


def test_layers_see_what_the_one_before_gave() -> None:
    class Doubled(nn.Module):
        def forward(self, states: Tensor, inside: object) -> Tensor:
            return 2 * states

    settings = {"width": 4, "hidden": 4, "dropout": 0.0, "norm": "post", "pooling": "mean"}
    shell = Shell((23,), [Doubled(), Doubled()], **settings, vectors=None, freeze=False)
    found: Hidden = shell(ids_of(), LENGTHS)
    torch.testing.assert_close(found.states[0], 4 * shell.embed(ids_of(), LENGTHS)[0][0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"hidden": 10, "heads": 4},
            "hidden must be a multiple of heads, got hidden 10 and heads 4",
        ),
        ({"layers": 0}, "layers must be a whole number from 1, got 0"),
        ({"heads": 0}, "heads must be a whole number from 1"),
        ({"feed": -1}, "feed must be a whole number from 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1"),
        ({"pooling": "means"}, "did you mean 'mean'"),
        ({"norm": "past"}, "unknown norm 'past'; did you mean 'post'"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_bad_setting_is_named(name: str, settings: dict[str, object], message: str) -> None:
    if name == "admin" and "norm" in settings:
        message = "unknown setting of admin 'norm'"  # it has no other than post
    with pytest.raises(SettingsError, match=message):
        encoder_of(name, **settings)


def test_all_faults_come_at_once() -> None:
    with pytest.raises(SettingsError, match=r"layers .* 0; extra .* 0; .* norm 'x'"):
        check(hidden=8, layers=0, heads=2, feed=1, dropout=0.0, pooling="max", norm="x", extra=0)

import numpy as np
import pytest
import torch
from torch import Tensor

from tagwright.errors import SettingsError
from tagwright.models.encoders.cnn import CNN, WindowMax


def slow(model: CNN, ids: list[list[int]]) -> np.ndarray:
    """Kim's equations 1 to 3 with plain loops: windows, ReLU, maximum over time."""
    kernel, bias = model.kernel.detach().numpy(), model.bias.detach().numpy()
    table = model.lookup.tables[0].detach().numpy()
    rows = []
    for text in ids:
        row, column = [], 0
        for window in model.windows:
            filled = text + [0] * (window - len(text))
            for chosen in range(model.filters):
                answers = []
                for start in range(len(filled) - window + 1):
                    answer = bias[len(row)]
                    for step in range(window):
                        weights = kernel[:, column + step * model.filters + chosen]
                        answer += table[filled[start + step]] @ weights
                    answers.append(max(answer, 0.0))
                row.append(max(answers))
            column += window * model.filters
        rows.append(row)
    return np.array(rows)


def padded(texts: list[list[int]], length: int) -> tuple[Tensor, Tensor]:
    rows = [text + [0] * (length - len(text)) for text in texts]
    return torch.tensor(rows), torch.tensor([len(text) for text in texts])


def model_of(windows: tuple[int, ...] = (3, 4, 5), sizes: tuple[int, ...] = (23,)) -> CNN:
    torch.manual_seed(0)
    model = CNN(sizes, width=7, filters=5, windows=windows).double().eval()
    torch.nn.init.normal_(model.bias)
    return model


TEXTS = [[3, 4, 5, 6, 7, 3, 4, 5], [9], [], [3, 3, 3, 3, 3, 3], [22, 1, 8, 13], [11, 12]]


@pytest.mark.parametrize("windows", [(3, 4, 5), (1,), (2,), (5, 2), (1, 7, 3)])
def test_pooled_matches_plain_loops(windows: tuple[int, ...]) -> None:
    model = model_of(windows)
    pooled = model(*padded(TEXTS, 8)).pooled
    assert pooled.shape == (6, model.width_out)
    np.testing.assert_allclose(pooled.detach().numpy(), slow(model, TEXTS), rtol=1e-10)


@pytest.mark.parametrize("length", [1, 2, 4])
def test_batches_of_short_texts_match_plain_loops(length: int) -> None:
    texts = [text[:length] for text in TEXTS]
    model = model_of()
    np.testing.assert_allclose(
        model(*padded(texts, length)).pooled.detach().numpy(), slow(model, texts), rtol=1e-10
    )


def test_ids_past_the_length_count_as_padding() -> None:
    model = model_of()
    clean, lengths = padded(TEXTS, 8)
    dirty = torch.where(torch.arange(8) >= lengths[:, None], 17, clean)
    torch.testing.assert_close(
        model(dirty, lengths).pooled, model(clean, lengths).pooled, rtol=0, atol=0
    )


def test_gradients_of_all_parameters_pass_gradcheck() -> None:
    model = model_of((2, 3))
    ids, lengths = padded(TEXTS, 8)
    names, values = zip(*model.named_parameters())

    def pooled(*parameters: Tensor) -> Tensor:
        return torch.func.functional_call(
            model, dict(zip(names, parameters)), (ids, lengths)
        ).pooled

    # the table's padding row takes part in the sums but gets no gradient by design
    table = values[names.index("lookup.tables.0")]
    inputs = [value.detach().clone().requires_grad_(value is not table) for value in values]
    assert torch.autograd.gradcheck(pooled, inputs)


def test_window_maximum_passes_gradcheck() -> None:
    products = torch.randn(6, 5 * 3, dtype=torch.float64, requires_grad=True)
    places = torch.randint(0, 6, (4, 9))
    lengths = torch.tensor([9, 2, 0, 5])
    assert torch.autograd.gradcheck(
        lambda p: WindowMax.apply(p, places, lengths, (2, 3)), [products]
    )


def test_table_gradient_equals_that_of_a_convolution() -> None:
    model = model_of((3,))
    ids, lengths = padded([TEXTS[0], TEXTS[0][::-1]], 8)
    table = model.lookup.tables[0].detach().clone().requires_grad_()
    weight = model.kernel.detach().view(7, 3, 5).permute(2, 0, 1)  # (filters, width, window)
    answers = torch.conv1d(table[ids].transpose(1, 2), weight, model.bias.detach())
    answers.relu().amax(2).square().sum().backward()
    model(ids, lengths).pooled.square().sum().backward()
    torch.testing.assert_close(model.lookup.tables[0].grad, table.grad, rtol=1e-10, atol=1e-12)


def test_tied_windows_share_no_gradient_twice() -> None:
    model = model_of((1,))
    model(*padded([[5, 6, 5]], 3)).pooled.sum().backward()
    positive = int((model(*padded([[5, 6, 5]], 3)).pooled > 0).sum())
    assert model.bias.grad.sum() == positive
    whole = model.lookup.tables[0].grad
    model.zero_grad()
    model(*padded([[5, 6]], 2)).pooled.sum().backward()
    torch.testing.assert_close(model.lookup.tables[0].grad, whole)


def test_broken_weights_give_nan_and_no_crash() -> None:
    model = model_of()
    model.kernel.data.fill_(float("nan"))
    pooled = model(*padded(TEXTS, 8)).pooled
    pooled.sum().backward()
    assert pooled.isnan().all()


def test_channels_are_told_apart() -> None:
    model = model_of(sizes=(23, 11, 5))
    ids = torch.stack([torch.randint(1, size, (4, 9)) for size in (23, 11, 5)], -1)
    vectors = sum(table[ids[..., i]] for i, table in enumerate(model.lookup.tables))
    flat = model_of(sizes=(37,))
    flat.load_state_dict(
        model.state_dict()
        | {"lookup.tables.0": torch.cat([torch.zeros(1, 7), vectors.flatten(0, 1)])},
        strict=False,
    )
    lengths = torch.tensor([9, 9, 4, 2])
    expected = flat(torch.arange(1, 37).view(4, 9), lengths).pooled
    torch.testing.assert_close(model(ids, lengths).pooled, expected, rtol=1e-10, atol=1e-12)


def test_dropout_acts_in_training_only() -> None:
    model = CNN((23,), width=7, filters=50)
    batch = padded(TEXTS, 8)
    assert (model(*batch).pooled == 0).double().mean() > (
        model.eval()(*batch).pooled == 0
    ).double().mean() + 0.1


@pytest.mark.parametrize("windows", [(), (0, 3)])
def test_windows_without_words_are_refused(windows: tuple[int, ...]) -> None:
    with pytest.raises(SettingsError, match="windows must be"):
        CNN((5,), windows=windows)

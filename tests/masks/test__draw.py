"""The draw that decides whether a step or an example is learnt without a mask."""

import pytest
import torch

from tagwright.errors import SettingsError
from tagwright.masks._draw import check_draw, plain_rows


def drawn(rows: int, seed: int = 0, **given: object) -> torch.Tensor:
    return plain_rows(
        torch.zeros(rows, 3), torch.Generator().manual_seed(seed), **{"draw": "step", **given}
    )


def test_a_step_is_drawn_once_and_examples_each():
    assert drawn(7, plain_share=0.5).shape == (1, 1)
    assert drawn(7, plain_share=0.5, draw="example").shape == (7, 1)


def test_the_share_is_that_of_the_settings():
    assert drawn(20_000, plain_share=0.3, draw="example").float().mean().item() == pytest.approx(
        0.3, abs=0.02
    )


@pytest.mark.parametrize(("share", "always"), [(0.0, False), (1.0, True)])
def test_none_and_all_are_certain(share: float, always: bool):
    assert {drawn(1, seed, plain_share=share).item() for seed in range(100)} == {always}


def test_the_draw_of_a_step_is_taken_where_there_is_one():
    for value, plain in ((0.0, True), (0.29, True), (0.3, False), (0.99, False)):
        given = {"plain_share": 0.3, "of_step": torch.tensor(value)}
        assert {drawn(5, seed, **given).item() for seed in range(20)} == {plain}
    assert drawn(5, plain_share=0.3, draw="example", of_step=torch.tensor(0.0)).shape == (5, 1)


def test_shares_outside_their_range_and_unknown_draws_are_refused():
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(SettingsError, match=r"plain_share must lie in \[0, 1\]"):
            check_draw(share, "step")
    with pytest.raises(SettingsError, match="draw must be step or example, got 'epoch'"):
        check_draw(0.5, "epoch")

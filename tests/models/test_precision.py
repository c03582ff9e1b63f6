"""bfloat16 only where it gains, decided once, and kept by a resumed run."""

from contextlib import suppress

import torch
from torch import nn

from tagwright.models import precision
from tagwright.models.encoders import Encoder

CPU = torch.device("cpu")


def test_a_small_gain_is_no_gain(monkeypatch):
    for found, expected in ((1.0, False), (1.14, False), (1.16, True)):
        monkeypatch.setattr(precision, "gain", lambda found=found: found)
        assert precision.in_bfloat16("auto", CPU) is expected


def test_a_chosen_precision_is_not_tried_out(monkeypatch):
    monkeypatch.setattr(precision, "gain", None)
    assert precision.in_bfloat16("bfloat16", CPU)
    assert not precision.in_bfloat16("float32", CPU)


def test_gain_is_the_ratio_of_the_best_rounds(monkeypatch):
    times = iter([9.0, 9.0, *[3.0, 2.0] * 3, 2.0, 1.0, *[3.0, 2.0] * 9])
    monkeypatch.setattr(precision, "_seconds", lambda *given, half: next(times))
    assert precision._gain() == 2.0


def test_emulation_ends_the_trial_early(monkeypatch):
    calls = []
    monkeypatch.setattr(
        precision, "_seconds", lambda *given, half: calls.append(half) or (5.0 if half else 1.0)
    )
    assert precision._gain() == 0.2
    assert len(calls) == 2


def test_the_trial_draws_nothing_from_the_run_and_works_in_prediction():
    before = torch.get_rng_state()
    with torch.inference_mode():
        assert precision.gain.__wrapped__() > 0
    assert torch.equal(torch.get_rng_state(), before)


def encoder_of():
    encoder = Encoder()
    encoder.weight = nn.Parameter(torch.zeros(1))
    return encoder


def test_auto_is_settled_once_and_a_checkpoint_wins(monkeypatch):
    monkeypatch.setattr(precision, "gain", lambda: 2.0)
    fresh, resumed, plain = encoder_of(), encoder_of(), encoder_of()
    fresh.precision = resumed.precision = "auto"
    precision.settle(resumed, kept="float32")
    for encoder in (fresh, resumed, plain):
        precision.settle(encoder)
    assert (fresh.precision, resumed.precision) == ("bfloat16", "float32")
    assert plain.precision == "float32"


def test_processes_settle_on_one_answer(monkeypatch):
    monkeypatch.setattr(precision, "gain", lambda: 2.0)
    encoder, asked = encoder_of(), []
    encoder.precision = "auto"
    precision.settle(encoder, agreed=lambda gains: asked.append(gains) is not None)
    assert asked == [True]
    assert encoder.precision == "float32"


def test_float32_for_a_while_whatever_happens_there():
    encoder = encoder_of()
    with precision.exactly(encoder):
        assert encoder.precision == "float32"
    encoder.precision = "bfloat16"
    with suppress(ZeroDivisionError), precision.exactly(encoder):
        assert encoder.precision == "float32"
        raise ZeroDivisionError
    assert encoder.precision == "bfloat16"

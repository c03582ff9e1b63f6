"""Seeds: a function of seed, purpose and step, and of nothing else."""

import subprocess
import sys

import torch

from tagwright.randomness import seed_of


def test_same_question_has_the_same_answer():
    assert seed_of(3, "order", 7) == seed_of(3, "order", 7)
    assert seed_of(3, "order") == seed_of(3, "order", 0)


def test_another_process_has_the_same_answer():
    code = "from tagwright.randomness import seed_of; print(seed_of(3, 'order', 7))"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert int(result.stdout) == seed_of(3, "order", 7)


def test_seed_purpose_and_step_each_matter():
    asked = [
        (seed, purpose, step)
        for seed in range(20)
        for purpose in ("mask", "order", "drop")
        for step in range(40)
    ]
    assert len({seed_of(*question) for question in asked}) == len(asked)


def test_neighboring_numbers_do_not_run_together():
    assert seed_of(1, "order", 11) != seed_of(11, "order", 1)
    assert seed_of(1, "2", 3) != seed_of(1, "23", 0)


def test_seed_fits_every_generator():
    seeds = [seed_of(seed, "mask", step) for seed in range(20) for step in range(20)]
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert max(seeds) > 2**62
    torch.Generator().manual_seed(max(seeds))


def test_bits_are_spread_evenly():
    seeds = [seed_of(0, "mask", step) for step in range(2000)]
    for bit in range(63):
        assert 800 < sum(seed >> bit & 1 for seed in seeds) < 1200  # nine standard deviations

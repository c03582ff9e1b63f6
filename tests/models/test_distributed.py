"""What two processes do together, run in two processes once; every test looks at what came out."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tagwright.errors import SettingsError
from tagwright.models.distributed import ALONE, Ranks, joined, ranks_of

WORKER = Path(__file__).with_name("ranks_worker.py")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What each of the two found."""
    folder = tmp_path_factory.mktemp("ranks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    place = {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "OMP_NUM_THREADS": "1",
    }
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(folder)],
            env={**os.environ, **place, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_sums_and_flags_are_those_of_all(both):
    for one in both:
        assert one["sums"] == [[3.0, 1.0], True, False, False]
        assert one["first"] == 7.0


def test_merged_arrays_keep_every_bit(both):
    bits = np.array([-0.0, 0, np.nan, 0], np.float32).view(np.int32).tolist()
    assert [one["merged"] for one in both] == [bits, bits]


@pytest.mark.parametrize("how", ["trained", "accumulated"])
def test_two_processes_take_the_steps_of_one(both, how):
    weights, losses = both[0]["alone"]
    for one in both:
        found, its_losses = one[how]
        np.testing.assert_allclose(its_losses, losses, rtol=1e-12)
        for name in weights:
            np.testing.assert_allclose(found[name], weights[name], rtol=1e-10)
        assert found["never"] == [1.0, 1.0], "what nobody used must not decay"
    assert both[0][how] == both[1][how]


def test_draws_differ_between_processes_and_the_first_draws_as_one_alone(both):
    assert both[0]["drawn"] == both[0]["drawn_alone"] == both[1]["drawn_alone"]
    assert not set(both[0]["drawn"]) & set(both[1]["drawn"])


def test_scores_are_the_bits_of_one_process_also_where_batches_are_fewer_than_processes(both):
    for one in both:
        assert one["scored"] == both[0]["scored_alone"]
    assert [len(scores) for scores in both[0]["scored"]] == [13, 3, 0]


def test_scores_of_several_heads_are_those_of_one_process_and_of_each_head_alone(both):
    for one in both:
        assert one["scored_heads"] == both[0]["scored_heads_alone"]
        assert [scores["main"] for scores in one["scored_heads"]] == both[0]["scored_alone"]
        assert [len(scores["other"]) for scores in one["scored_heads"]] == [13, 3, 0]
    assert np.shape(both[1]["scored_heads"][1]["other"]) == (3, 2)


def test_a_block_that_fails_in_one_fails_in_all_and_says_why(both):
    assert both[0]["failures"][0] is both[1]["failures"][0] is None
    assert both[0]["failures"][1] == ["RankError", "process 1 of 2 failed: fault 1 ü"]
    assert both[1]["failures"][1] == ["ValueError", "fault 1 ü"]
    assert both[0]["failures"][2] == ["ValueError", "fault 0 ü"]
    assert both[1]["failures"][2][0] == "RankError"


def test_different_numbers_are_refused_in_all(both):
    assert all("differ in numbers" in one["different"] for one in both)


def test_a_process_that_is_gone_is_noticed(both):
    assert "--resume" in both[0]["gone"]


def test_one_alone_has_no_process_group():
    import torch

    with joined({}) as ranks:
        assert ranks is ALONE
        assert not torch.distributed.is_initialized()
        assert ranks.total([2.0]) == [2.0]
        assert ranks.share(np.arange(3)).tolist() == [0, 1, 2]


def test_shares_make_up_the_batch_in_order():
    for count in (1, 2, 7, 8):
        shares = [Ranks(rank=rank, world=3).share(np.arange(count)) for rank in range(3)]
        assert np.concatenate(shares).tolist() == list(range(count))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_half_an_environment_is_refused():
    with pytest.raises(SettingsError, match="RANK, MASTER_PORT not set: start with torchrun"):
        ranks_of({"WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "here"})

import numpy as np
import pytest

from tagwright.batches.bucket import plan

LENGTHS = np.random.default_rng(0).geometric(0.05, 5003)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(("count", "batch"), [(0, 4), (1, 4), (7, 7), (997, 8), (5003, 31)])
def test_every_text_comes_exactly_once(count: int, batch: int, shuffle: bool) -> None:
    batches = plan(LENGTHS[:count], batch=batch, seed=1, epoch=2, shuffle=shuffle)
    assert sorted(int(i) for part in batches for i in part) == list(range(count))
    assert sum(len(part) != batch for part in batches) <= 1


def test_plan_depends_on_seed_and_epoch_alone() -> None:
    def flat(seed: int, epoch: int) -> list[int]:
        return np.concatenate(plan(LENGTHS, batch=32, seed=seed, epoch=epoch)).tolist()

    assert flat(0, 1) == flat(0, 1)
    assert len({tuple(flat(seed, epoch)) for seed in (0, 1) for epoch in (0, 1)}) == 4


def padded(batches: list[np.ndarray]) -> int:
    return sum(len(part) * int(LENGTHS[part].max()) for part in batches)


def test_little_is_padded() -> None:
    random = np.random.default_rng(0).permutation(len(LENGTHS))
    unsorted = [random[i : i + 16] for i in range(0, len(random), 16)]
    assert padded(plan(LENGTHS, batch=16, seed=0, epoch=0)) < 1.1 * LENGTHS.sum()
    assert padded(unsorted) > 2 * LENGTHS.sum()


def test_prediction_pads_least() -> None:
    batches = plan(LENGTHS, batch=16, seed=0, epoch=0, shuffle=False)
    assert np.all(np.diff(LENGTHS[np.concatenate(batches)]) >= 0)
    assert padded(batches) < padded(plan(LENGTHS, batch=16, seed=0, epoch=0))


def test_length_of_a_batch_says_nothing_about_the_next() -> None:
    means = [LENGTHS[part].mean() for part in plan(LENGTHS, batch=16, seed=0, epoch=0)]
    assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.2


def test_texts_of_one_length_meet_in_other_batches_each_epoch() -> None:
    lengths = np.full(200, 5)
    first, second = (
        {frozenset(part.tolist()) for part in plan(lengths, batch=8, seed=0, epoch=e)}
        for e in (0, 1)
    )
    assert not first & second


@pytest.mark.parametrize("room", [1, 40, 1000])
def test_room_bounds_the_padded_tokens_of_a_batch(room):
    lengths = np.random.default_rng(0).integers(1, 50, 203)
    batches = plan(lengths, batch=16, seed=0, epoch=0, shuffle=False, room=room)
    assert sorted(np.concatenate(batches)) == list(range(203))
    for batch, following in zip(batches, [*batches[1:], None]):
        assert len(batch) <= 16
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= room
        if following is not None and len(batch) < 16:  # no batch is smaller than it must be
            assert (len(batch) + 1) * lengths[following[0]] > room

"""Runs of several systems on the same test texts, drawn from a world where the true scores are
known.

An answer is right where its margin is above 0: the system's skill + how easy the text is for all +
what the text is to this system, the same for all its seeds + luck of the run + what the text is to
this run. Texts and runs are drawn anew every time. All of it is normal, so the share of right
answers among all texts there are has a formula.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

LABELS = 20
FREQUENCY = 0.3 / np.arange(1, LABELS + 1)  # from 150 down to 7 of 500 texts
# share of a label's texts where it is chosen: rare labels are harder
FOUND = np.linspace(0.9, 0.5, LABELS)
FALSELY = 0.25 * FREQUENCY  # share of the other texts where it is chosen


@dataclass(frozen=True, kw_only=True)
class World:
    """Standard deviations of what margins are made of; `gains` (K,) are the skills of K systems,
    `level` their base.

    `luck` shifts all answers of a run; `together` is its correlation between systems that have the
    same seed.
    """

    seeds: int = 5
    texts: int = 500
    gains: tuple[float, ...] = (0.0, 0.0)
    level: float = 1.0
    easy: float = 1.0
    own: float = 0.1
    run: float = 0.3
    luck: float = 0.0
    together: float = 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of a run's margins over texts."""
        return float(np.sqrt(self.easy**2 + self.own**2 + self.run**2))


def right_answers(world: World, rng: np.random.Generator) -> np.ndarray:
    """One label a text: right or wrong, (K, S, n)."""
    return _shared(world, rng, run=world.run) + _luck(world, rng, world.seeds, 1) > -world.level


def true_accuracy(world: World) -> np.ndarray:
    """Share of right answers over all texts and runs, (K,)."""
    return ndtr((world.level + np.array(world.gains)) / np.hypot(world.spread, world.luck))


def label_sets(world: World, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Several labels a text: truth (n, L) and chosen (K, S, n, L).

    Luck comes in three kinds: more skill, more labels chosen, and the latter for each label. What a
    text is to a run is half the same for all labels, half of each its own.
    """
    half = np.float32(world.run * 0.5**0.5)
    # some texts have many
    many = rng.standard_normal((world.texts, 1)) + rng.standard_normal((world.texts, LABELS))
    truth = many * 0.5**0.5 < ndtri(FREQUENCY)
    luck = _luck(world, rng, world.seeds, 2 + LABELS)[..., None, :]
    skill, more = luck[..., :1], luck[..., 1:2] + luck[..., 2:]  # (K, S, 1, 1), (K, S, 1, L)
    margin = (
        rng.standard_normal((len(world.gains), world.seeds, world.texts, LABELS), np.float32) * half
    )
    margin += _shared(world, rng, run=float(half))[..., None] + skill
    margin += np.where(truth, np.float32(1), np.float32(-1)) * more
    base = world.spread * np.where(truth, ndtri(FOUND), ndtri(1 - FALSELY)).astype(np.float32)
    return truth, (margin > -base) == truth


def true_f1(world: World, *, runs: int = 100_000) -> dict[str, np.ndarray]:
    """F1 over all texts there are, the mean over `runs` runs, (K,): a formula in texts, a mean over
    luck.
    """
    luck = _luck(world, np.random.default_rng(1), runs if world.luck else 1, 2 + LABELS)
    skill = np.array(world.gains)[:, None, None] + luck[..., :1]
    more = luck[..., 1:2] + luck[..., 2:]
    hits = FREQUENCY * ndtr(ndtri(FOUND) + (skill + more) / world.spread)  # (K, runs, L)
    chosen = hits + (1 - FREQUENCY) * ndtr(ndtri(FALSELY) - (skill - more) / world.spread)
    micro = 2 * hits.sum(-1) / (FREQUENCY + chosen).sum(-1)
    return {
        "micro_f1": micro.mean(-1),
        "macro_f1": (2 * hits / (FREQUENCY + chosen)).mean((-1, -2)),
    }


def _shared(world: World, rng: np.random.Generator, *, run: float) -> np.ndarray:
    """Margins (K, S, n) without base and luck; all labels of a text share them."""
    count = len(world.gains)
    margin = rng.standard_normal((count, world.seeds, world.texts), np.float32) * np.float32(run)
    margin += rng.standard_normal((count, 1, world.texts), np.float32) * np.float32(world.own)
    margin += rng.standard_normal(world.texts, np.float32) * np.float32(world.easy)
    return margin + np.array(world.gains, np.float32)[:, None, None]


def _luck(world: World, rng: np.random.Generator, runs: int, kinds: int) -> np.ndarray:
    """Luck (K, runs, kinds); of one seed it is correlated over the systems."""
    same = rng.standard_normal((1, runs, kinds), np.float32) * np.float32(world.together**0.5)
    other = rng.standard_normal((len(world.gains), runs, kinds), np.float32) * np.float32(
        (1 - world.together) ** 0.5
    )
    return np.float32(world.luck) * (same + other)

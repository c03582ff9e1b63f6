"""Facts of made-up comparisons."""

from collections.abc import Sequence

import numpy as np

from tagwright.reports import CompareFacts


def run(
    objective: str, encoder: str, seed: int, score: float, failed: str = ""
) -> dict[str, object]:
    """A run, or with an error one that failed."""
    scores = {"macro_f1": score, "lrap": score + 0.1, "hamming_loss": 0.05}
    return {
        "objective": objective,
        "encoder": encoder,
        "seed": seed,
        "metrics": {} if failed else scores,
        "untuned": {} if failed else {"macro_f1": score - 0.05},
        "seconds": 60.0,
        "memory": None if failed else 2.5e9,
        "failed": failed,
        "page": "" if failed else f"runs/{objective}-{seed}.html",
    }


def summary(
    objective: str, encoder: str, mean: float, *, finished: int = 3, failed: int = 0
) -> dict[str, object]:
    """Means of an objective; {} where nothing finished."""
    scores = {"macro_f1": (mean, 0.0123), "lrap": (mean + 0.1, 0.02), "hamming_loss": (0.05, 0.001)}
    return {
        "objective": objective,
        "encoder": encoder,
        "metrics": scores if finished else {},
        "untuned": {"macro_f1": (mean - 0.05, 0.03)} if finished else {},
        "seconds": 60.0 if finished else np.nan,
        "memory": 2.5e9 if finished else None,
        "finished": finished,
        "failed": failed,
    }


LABEL_F1 = np.array([0.5, 0.4, 0.3, np.nan, 0.1])


def difference(
    objective: str, encoder: str, mean: float, around: float, p: float
) -> dict[str, object]:
    """A difference of macro-F1 with its interval; Holm's correction doubles its p."""
    ends = {
        "mean": mean,
        "low": mean - around,
        "high": mean + around,
        "p_value": p,
        "adjusted": 2 * p,
    }
    return {
        "objective": objective,
        "encoder": encoder,
        "metric": "macro_f1",
        "over_texts": True,
        **ends,
    }


def _whole(objective: str, encoder: str) -> dict[str, object]:
    """Everything that a comparison tells of one objective on one encoder beside its scores."""
    own, better = {"objective": objective, "encoder": encoder}, 0.1 * (objective != "bce")
    counts = {"head": (2, 90, 3000), "tail": (3, 1, 89)}
    bins = {
        "centers": [0.25, 0.5, 0.75],
        "observed": [0.3, np.nan, 0.6 + better],
        "counts": [30, 0, 10],
    }
    return {
        "bands": [
            {
                **own,
                "band": band,
                "labels": n,
                "from_count": low,
                "to_count": high,
                "macro_f1": 0.5,
                "spread": 0.01,
            }
            for band, (n, low, high) in counts.items()
        ],
        "gains": [{**own, "f1": LABEL_F1 + better, "base": LABEL_F1, "spread": np.full(5, 0.02)}],
        "curves": [
            {
                **own,
                "seed": seed,
                "steps": [10, 20, 30],
                "scores": [0.3, 0.4, 0.5 + better],
                "losses": [3.0, 1.0, 0.1],
            }
            for seed in range(3)
        ],
        "reliability": [{**own, "curve": bins, "error": 0.05 - better / 4}],
        "exchanges": [
            {
                **own,
                "true": f"label {i}",
                "chosen": f"label {i + 1}",
                "before": before,
                "after": after,
            }
            for i, (before, after) in enumerate([(3.0, 2.5), (9.0, 1.0), (0.0, 4.0)])
        ],
        "flips": [
            {
                **own,
                "text": text,
                "true": ["label 0"],
                "labels_before": [],
                "labels_after": ["label 0", "label 4"],
            }
            | {"before": before, "after": 3 - before, "seeds": 3}
            for text, before in (
                ("text that gained", 0),
                ("text that lost", 3),
                ("text that nearly gained", 1),
            )
        ],
    }


def make_compare(encoders: Sequence[str] = ("cnn",), **changes: object) -> CompareFacts:
    """Three objectives, three seeds, one encoder or more, every fact; keyword arguments replace
    facts.
    """
    means = {"bce": 0.51, "zlpr": 0.63, "focal": 0.49}
    every = [(encoder, name) for encoder in encoders for name in means]
    facts: dict[str, object] = {
        "title": "Three objectives",
        "baseline": "bce",
        "metric": "macro_f1",
        "objectives": list(means),
        "encoders": encoders,
        "rows": [
            run(name, encoder, seed, means[name] + seed / 100)
            for encoder, name in every
            for seed in range(3)
        ],
        "summary": [summary(name, encoder, means[name] + 0.01) for encoder, name in every],
        "differences": [
            difference(name, encoder, mean, 0.02, p)
            for encoder in encoders
            for name, mean, p in (("zlpr", 0.12, 0.001), ("focal", -0.02, 0.4))
        ],
        "verdict": "zlpr beats bce.",
        "split": "test",
        "texts": 1234,
        "wins": [
            {"objective": n, "metrics": {"macro_f1": w, "lrap": 1}}
            for n, w in zip(means, (1, 2, 0))
        ],
        "games": 3,
        "label_names": [f"label {i}" for i in range(5)],
        "label_counts": [3000, 90, 40, 7, 1],
        "sweeps": [
            {"objective": "focal", "encoder": encoder, "setting": "loss.gamma", "values": [0, 1, 2]}
            | {"means": [0.4, 0.5, 0.45], "spreads": [0.01, 0.02, np.nan]}
            for encoder in encoders
        ],
        "watched": "micro_f1",
        "shown": dict.fromkeys(encoders, "zlpr"),
        "seconds": 3725.0,
        "settings": {"objective": "bce", "fit": {"epochs": 3.0}},
        "versions": {"tagwright": "0.1.0"},
        "device": "a laptop",
        "warnings": ["Few texts."],
    }
    for encoder, name in every:
        for fact, rows in _whole(name, encoder).items():
            facts.setdefault(fact, []).extend(rows)  # type: ignore[attr-defined]
    return CompareFacts(**{**facts, **changes})  # type: ignore[arg-type]

"""Crafted model folders whose labels or decisions are hostile."""

from typing import Any

from campaign.crafted import DEEP, HEAD, INFINITE, Change, all_of, cases, each, text, value

LABELS, DECISION, METRICS = (f"{HEAD}/{name}.json" for name in ("labels", "decision", "metrics"))


def _names(names: list[Any]) -> Change:
    """Other names, with thresholds that each text passes."""
    cuts = {str(name): -1e9 for name in names}
    return all_of(value(LABELS, "names", to=names), value(DECISION, "thresholds", to=cuts))


OF_LABELS: dict[str, Change] = {
    "labels twice": _names(["a", "a", "b"]),
    "no labels": text(LABELS, {"names": [], "counts": [], "exclusive": False}),
    "10 million labels": text(
        LABELS, f'{{"names": [{",".join(["0"] * 10**7)}], "counts": [], "exclusive": false}}'
    ),
    "400,000 labels": text(
        LABELS, {"names": [f"{n}" for n in range(4 * 10**5)], "counts": [1] * 4 * 10**5}
    ),
    "labels of numbers": _names([1, 2, 3]),
    "labels of lists": _names([["a"], "b", "c"]),
    "labels of halves of pairs": _names(["\ud800", "b", "c"]),
    "labels of control characters": _names(["\x1b[31mred", "\0", "\u202egnp.exe"]),
    "labels of line ends": _names(["a\nb", "\r", "\u2028"]),
    "labels of markup": _names(["[red]x[/red]", "=cmd|'/c calc'!A1", ":smile:"]),
    "an empty label": _names(["", " ", "c"]),
    "a label of 1 MB": _names(["x" * 10**6, "b", "c"]),
    "labels with the separator": _names(["a;b", "b", "c"]),
    "one label": _names(["a"]),
    "two labels": _names(["a", "b"]),
    **each(
        LABELS,
        "counts",
        to=[[1], [-1, 1, 1], [1.0, 1, 1], [10**30] * 3, [True, 1, 1], None, ["1"] * 3, []],
    ),
    **each(LABELS, "exclusive", to=[True, 1, "no", None]),
    **each(LABELS, "names", to=["abc", None, {"a": 1}]),
}
CUTS = {"camp": 0.0, "color": 0.0, "kitchen": 0.0}
OF_DECISION: dict[str, Change] = {
    **each(
        DECISION,
        "thresholds",
        to=[{}, [], [0, 0, 0], "x", None, 0.5, True, INFINITE, -INFINITE, 10**400],
    ),
    **each(
        DECISION, "thresholds", "camp", to=["x", None, [0], INFINITE, -INFINITE, 10**400, True, {}]
    ),
    "thresholds of more labels": value(
        DECISION, "thresholds", to=CUTS | {f"x{n}": 0 for n in range(10**5)}
    ),
    "thresholds NaN": text(DECISION, '{"rule": "threshold", "link": "sigmoid", "thresholds": NaN}'),
    **{
        f"k = {k!r:.30}": text(DECISION, {"rule": "topk", "link": "sigmoid", "k": k})
        for k in (0, -1, 1, 10**9, 10**30, True, "3", 2.5, None, INFINITE)
    },
    **{
        f"probability = {p!r:.30}": text(
            DECISION, {"rule": "fixed", "link": "sigmoid", "probability": p}
        )
        for p in (-1, 2, INFINITE, "x", None, True, 10**400, 0)
    },
    **each(
        DECISION, "rule", to=["spans", "argmax", "zero", "x", None, ["topk"], "../topk", "_joint"]
    ),
    **each(DECISION, "link", to=["softmax", "sigmoid2", "none", "threshold_class", "x", None, [1]]),
    **each(DECISION, "shrink", to=[INFINITE, -1, "x", None]),
    **each(
        DECISION,
        "calibration",
        to=[[], [0], [-1], [1, 2, 3, 4], "abc", [None], [INFINITE], [1, INFINITE]],
    ),
    **each(
        DECISION,
        "calibration",
        to=[[1e308, 0], [1e308, -1e308], [1, 0, -1], [1, 0, -10], [1, 0, 1e308]],
    ),
    **each(DECISION, "unheard", to=[1]),
    "a decision that is nested": text(DECISION, "[" * DEEP),
    **each(
        METRICS, "metrics", to=[None, [], {"f1": INFINITE}, {"f1": "x" * 10**6}, {"a": {"b": [1]}}]
    ),
}

CASES = cases("cnn", OF_LABELS | OF_DECISION)

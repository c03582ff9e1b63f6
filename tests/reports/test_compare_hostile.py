"""Whatever names, texts and numbers there are, the page of a comparison is one page."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.reports import CompareFacts, compare_report

from .compare_cases import difference, make_compare, run, summary

HOSTILE = (
    '</td></p></article><script>alert(1)</script><img src=x onerror="alert(2)">\' {{ 7 * 7 }} 😀'
)


def test_hostile_strings_stay_text(read_page):
    label, other = HOSTILE + "a", HOSTILE + "b"
    own = {"objective": other, "encoder": HOSTILE}
    base = {"objective": HOSTILE, "encoder": HOSTILE}
    facts = make_compare(
        title=HOSTILE,
        verdict=HOSTILE,
        baseline=HOSTILE,
        objectives=[HOSTILE, other],
        encoders=[HOSTILE, "second"],
        metric=HOSTILE,
        split=HOSTILE,
        watched=HOSTILE,
        device=HOSTILE,
        warnings=[HOSTILE],
        versions={HOSTILE: HOSTILE},
        settings={"objective": HOSTILE},
        rows=[
            {**run(o, HOSTILE, 1, 0.5), "metrics": {HOSTILE: 0.5}, "page": HOSTILE}
            for o in (HOSTILE, other)
        ]
        + [run(other, HOSTILE, 2, 0.0, failed=HOSTILE)],
        summary=[
            {**summary(o, HOSTILE, 0.5), "metrics": {HOSTILE: (0.5, 0.1)}} for o in (HOSTILE, other)
        ],
        differences=[{**difference(other, HOSTILE, 0.1, 0.2, 0.5), "metric": HOSTILE}],
        wins=[{"objective": HOSTILE, "metrics": {HOSTILE: 1}}],
        bands=[
            {
                **who,
                "band": band,
                "labels": 1,
                "from_count": 1,
                "to_count": 2,
                "macro_f1": 0.5,
                "spread": 0.1,
            }
            for who in (own, base)
            for band in (HOSTILE, "rare")
        ],
        label_names=[label, other],
        label_counts=[3, 1],
        gains=[
            {**who, "f1": [0.5, 0.4], "base": [0.5, 0.4], "spread": [0.0, 0.0]}
            for who in (own, base)
        ],
        sweeps=[
            {
                **own,
                "setting": HOSTILE,
                "values": [1, 2],
                "means": [0.1, 0.2],
                "spreads": [0.1, 0.1],
            }
        ],
        curves=[{**own, "seed": 0, "steps": [1, 2], "scores": [0.1, 0.2], "losses": [2.0, 1.0]}],
        reliability=[
            {**own, "curve": {"centers": [0.5], "observed": [0.5], "counts": [1]}, "error": 0.1}
        ],
        shown={HOSTILE: other},
        exchanges=[{**own, "true": label, "chosen": other, "before": 1.0, "after": 2.0}],
        flips=[
            {
                **own,
                "text": HOSTILE,
                "true": [label],
                "labels_before": [other],
                "labels_after": [label],
            }
            | {"before": 0, "after": 1, "seeds": 1}
        ],
        differing={HOSTILE: {HOSTILE: HOSTILE}},
    )
    page = read_page(compare_report(facts))
    assert page.faults == []
    assert {"failed", "warnings", "differences", "wins", "labels", "confused", "flips"} <= set(
        page.ids()
    )
    assert len(page.named("script")) == len(page.named("style")) == 1
    assert page.named("img") == []
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert page.text("h1") == HOSTILE
    assert HOSTILE in page.text("p").split("\n")  # the text that flipped


texts = st.text(st.characters(codec="utf-8"), max_size=30)
numbers = st.one_of(st.floats(-1, 1), st.sampled_from([math.nan, math.inf, -math.inf]))


@settings(max_examples=5, deadline=None)
@given(name=texts, label=texts, numbers=st.lists(numbers, min_size=9, max_size=9))
def test_any_facts_give_a_balanced_page(read_page, name, label, numbers):
    own = [{"objective": objective, "encoder": name} for objective in ("base", name + "x")]
    a, b, c, d, e, *steps = numbers
    finite = [0.0 if math.isinf(x) else x for x in numbers]
    facts = CompareFacts(
        title=name,
        baseline="base",
        metric="macro_f1",
        objectives=["base", name + "x"],
        encoders=[name],
        rows=[
            {**run(o["objective"], name, 0, x), "failed": label if x < 0 else ""}
            for o, x in zip(own, finite)
        ],
        summary=[{**summary(o["objective"], name, x)} for o, x in zip(own, finite)],
        differences=[{**difference(name + "x", name, a, 0.0, b), "low": c, "high": d}],
        bands=[
            {
                **o,
                "band": band,
                "labels": 2,
                "from_count": 1,
                "to_count": 2,
                "macro_f1": x,
                "spread": e,
            }
            for o, x in zip(own, numbers)
            for band in ("rare", label)
        ],
        label_names=[label, "other"],
        label_counts=[3, 0],
        gains=[
            {**o, "f1": finite[i : i + 2], "base": finite[:2], "spread": numbers[i : i + 2]}
            for i, o in enumerate(own)
        ],
        sweeps=[
            {
                **own[1],
                "setting": label,
                "values": [1, 100],
                "means": finite[:2],
                "spreads": numbers[:2],
            }
        ],
        curves=[
            {**o, "seed": 0, "steps": [1, 2, 3, 4], "scores": steps, "losses": steps} for o in own
        ],
        reliability=[
            {**own[1], "curve": {"centers": [0.5], "observed": [a], "counts": [1]}, "error": b}
        ],
        shown={name: name + "x"},
        exchanges=[{**own[1], "true": label, "chosen": "other", "before": 1.0, "after": 2.0}],
        flips=[
            {**own[1], "text": label, "true": [], "labels_before": [label], "labels_after": []}
            | {"before": 0, "after": 1, "seeds": 1}
        ],
    )
    assert read_page(compare_report(facts)).faults == []

import base64
import hashlib
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.reports import FitFacts, fit_report

HOSTILE = '</pre></style><script>alert(1)</script><img src=x onerror="alert(2)">\' {{ 7 * 7 }} &lt;'
ABSENT = {
    "history": None,
    "per_label": None,
    "bands": None,
    "threshold_curve": None,
    "calibration": None,
    "confused": None,
    "settings": None,
    "card": None,
    "metrics": {},
    "warnings": (),
}
FEW_PLOTS = {"history": None, "bands": None, "threshold_curve": None, "calibration": None}
SECTIONS = ["results", "data", "training", "frequency", "labels", "decision", "confused", "record"]


@pytest.fixture(scope="module")
def many_labels(make_fit: Callable[..., FitFacts]) -> str:
    return fit_report(make_fit(600))


@pytest.mark.parametrize(
    ("labels", "exclusive"), [(2, True), (2, False), (20, False), (21, True), (41, False)]
)
def test_any_number_of_labels_gives_a_balanced_page(make_fit, read_page, labels, exclusive):
    page = read_page(fit_report(make_fit(labels, exclusive=exclusive, **FEW_PLOTS)))
    assert page.faults == []
    assert len(page.named("tbody")) == 1
    assert len(page.named("h1")) == 1


def test_every_section_is_there(many_labels, read_page):
    assert [name for name in read_page(many_labels).ids() if name in SECTIONS] == SECTIONS


def test_every_label_has_a_row_most_frequent_first(make_fit, many_labels, read_page):
    counts = make_fit(600).label_counts
    order = sorted(range(600), key=lambda i: -counts[i])
    assert read_page(many_labels).text("th").split("\n") == [f"label {i}" for i in order]


def test_a_table_of_thousands_is_cut_and_says_so(make_fit, read_page):
    page = read_page(fit_report(make_fit(2017, **FEW_PLOTS)))
    assert len([a for a in page.named("th") if a.get("scope") == "row"]) == 2000
    assert "17 more rows are left out" in page.text()


def test_hostile_strings_stay_text(make_fit, read_page):
    facts = make_fit(
        title=HOSTILE,
        label_names=[f"{HOSTILE}{i}" for i in range(5)],
        data_found=[HOSTILE],
        split_sizes={HOSTILE: 3},
        dropped={HOSTILE: 1},
        metrics={HOSTILE: 0.5},
        split=HOSTILE,
        convention=HOSTILE,
        watched=HOSTILE,
        settings={"objective": HOSTILE, HOSTILE: {HOSTILE: HOSTILE}},
        bands=[
            {
                "band": HOSTILE,
                "labels": 5,
                "from_count": 1,
                "to_count": 2,
                "macro_f1": 0.1,
                "micro_f1": 0.2,
            }
        ],
        confused=[{"true": HOSTILE, "chosen": HOSTILE, "count": 1, "examples": [HOSTILE]}],
        versions={HOSTILE: HOSTILE},
        warnings=[HOSTILE],
        card=HOSTILE,
    )
    page = read_page(fit_report(facts))
    assert page.faults == []
    assert len(page.named("script")) == 1
    assert len(page.named("style")) == 1
    assert page.named("img") == []
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "49" not in page.text("h1")
    assert page.text("h1") == HOSTILE


def test_nothing_is_fetched(many_labels, read_page):
    page = read_page(many_labels)
    addresses = [
        v
        for _, a in page.tags
        for k, v in a.items()
        if k in ("src", "href", "xlink:href", "data", "action")
    ]
    assert addresses == []
    assert set(re.findall(r"https?://[^\s\"'<]+", many_labels)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"url\(|@import|data:image|<image", many_labels)


def test_policy_allows_only_our_script(many_labels, read_page):
    page = read_page(many_labels)
    policy = next(
        a["content"] for a in page.named("meta") if a.get("http-equiv") == "Content-Security-Policy"
    )
    script = page.text("script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize(
    ("names", "section"),
    [
        (["history"], "training"),
        (["per_label"], "labels"),
        (["bands"], "frequency"),
        (["confused"], "confused"),
        (["threshold_curve"], "decision"),
        (["calibration"], "decision"),
        (["settings"], "record"),
        (["card"], "record"),
        (["metrics"], "results"),
        (["warnings"], "warnings"),
        ([], "data"),
    ],
)
def test_a_fact_brings_its_section_and_no_other(make_fit, read_page, names, section):
    absent = {name: value for name, value in ABSENT.items() if name not in names}
    page = read_page(fit_report(make_fit(2, **absent)))
    assert page.faults == []
    assert {name for name in page.ids() if name in (*SECTIONS, "warnings")} == {section, "data"}


def test_only_the_required_facts_are_required(read_page):
    facts = FitFacts(
        title="t", label_names=["a", "b"], label_counts=[3, 0], exclusive=True, metrics={}
    )
    assert read_page(fit_report(facts)).faults == []


def test_argmax_shows_no_threshold(make_fit, read_page):
    page = read_page(fit_report(make_fit(5, exclusive=True)))
    assert "threshold" not in "\n".join(
        text for tag, text in page.texts if tag not in ("script", "style")
    )


def test_a_model_that_was_trained_again_says_so_beside_its_figures(make_fit, read_page):
    sentence = (
        "trained again on train and dev (4,864 texts); the figures are of the model before that."
    )
    assert sentence in read_page(fit_report(make_fit(refitted_on=4864))).text("p")
    assert "trained again" not in read_page(fit_report(make_fit())).text("p")


def test_one_evaluation_is_drawn(make_fit, read_page):
    history = [{"step": 7, "loss": 0.25, "score": 0.61}]
    page = read_page(fit_report(make_fit(2, **{**ABSENT, "history": history}, best_step=7)))
    assert "Best at step 7" in page.text("figcaption")
    assert "0.610" in page.text("text")


def test_best_step_is_marked_with_its_score(many_labels, read_page):
    assert "0.780" in read_page(many_labels).text("text").split("\n")


def test_long_history_is_thinned(make_fit):
    history = [{"step": i, "loss": 1.0, "score": 0.5} for i in range(50_000)]
    assert len(fit_report(make_fit(2, **{**ABSENT, "history": history}))) < 300_000


def test_undefined_scores_are_dashes_and_sort_last(make_fit, read_page):
    scores = {"f1": [0.5, np.nan], "support": [1, 2], "predicted": [0, 2]}
    page = read_page(fit_report(make_fit(2, per_label=scores, **FEW_PLOTS)))
    assert "–" in page.text("td").split("\n")
    assert {"data-value": "-1.0"} in page.named("td")


def test_a_label_never_predicted_is_set_apart(make_fit, read_page):
    scores = {"f1": [0.5, 0.0], "support": [1, 2], "predicted": [1, 0]}
    page = read_page(fit_report(make_fit(2, per_label=scores, **FEW_PLOTS)))
    assert [a["data-value"] for a in page.named("td") if a.get("class") == "alert"] == ["0.0"]
    assert "Never predicted though dev has them: 1 label." in page.text()


def test_calibration_error_is_the_weighted_gap(make_fit, read_page):
    bins = {"centers": [0.25, 0.5, 0.75], "observed": [0.5, np.nan, 0.5], "counts": [30, 0, 10]}
    page = read_page(fit_report(make_fit(2, **{**ABSENT, "calibration": bins})))
    assert "off by 0.250 on average" in page.text("figcaption")


def test_plots_take_their_colors_from_the_page(many_labels):
    drawn = "".join(re.findall(r"<svg.*?</svg>", many_labels, re.S))
    assert set(re.findall(r"(?:fill|stroke)=\"([^\"]+)\"", drawn)) <= {
        *("none", "transparent"),
        *(f"var(--{name})" for name in ("accent", "second", "ink", "muted", "line", "surface")),
    }
    assert "prefers-color-scheme: dark" in many_labels


def test_settings_can_be_copied_as_toml(many_labels, read_page):
    page = read_page(many_labels)
    assert "settings-text" in page.ids()
    assert "[fit]\nepochs = 3.0" in page.text("pre")


def test_ids_are_unique(many_labels, read_page):
    ids = read_page(many_labels).ids()
    assert len(ids) == len(set(ids))


texts = st.text(st.characters(codec="utf-8"), max_size=30)
scores = st.one_of(st.floats(0, 1), st.just(float("nan")))


@settings(max_examples=6, deadline=None)
@given(
    title=texts,
    labels=st.lists(
        st.tuples(texts, st.integers(0, 10**6), scores),
        min_size=2,
        max_size=30,
        unique_by=lambda t: t[0],
    ),
    history=st.lists(st.tuples(st.floats(0, 9), scores), max_size=4),
    examples=st.lists(texts, max_size=3),
)
def test_any_facts_give_a_balanced_page(read_page, title, labels, history, examples):
    names, counts, values = zip(*labels)
    facts = FitFacts(
        title=title,
        label_names=names,
        label_counts=np.array(counts),
        exclusive=False,
        metrics={"macro_f1": values[0]},
        history=[
            {"step": i, "loss": loss, "score": score} for i, (loss, score) in enumerate(history)
        ],
        best_step=0,
        per_label={
            "f1": np.array(values),
            "support": np.array(counts),
            "threshold": np.array(values),
        },
        confused=[{"true": names[0], "chosen": names[1], "count": 1, "examples": examples}],
    )
    assert read_page(fit_report(facts)).faults == []

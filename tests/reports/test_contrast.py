import math

import numpy as np
import pytest

from tagwright.reports import contrast
from tagwright.reports.compare_tables import difference_table

from .compare_cases import difference, make_compare, run, summary


def texts_of(figure, read_page):
    return read_page(figure.svg).text("text").split("\n")


def gains_of(labels, difference):
    """Facts with as many labels, whose F1 differs so from the baseline's."""
    own = [("bce", np.full(labels, 0.5)), ("zlpr", 0.5 + np.asarray(difference))]
    return make_compare(
        gains=[
            {
                "objective": n,
                "encoder": "cnn",
                "f1": f1,
                "base": own[0][1],
                "spread": np.zeros(labels),
            }
            for n, f1 in own
        ],
        label_names=[f"label {i}" for i in range(labels)],
        label_counts=np.ones(labels),
    )


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ([True, True], "95% intervals over seeds and texts, not corrected"),
        ([False, False], "95% intervals over seeds alone, not corrected"),
        ([False, True], "95% intervals over seeds, some over texts too, not corrected"),
    ],
)
def test_the_caption_tells_what_intervals_speak_of(over, words):
    found = [
        {**difference(n, "cnn", 0.1, 0.1, 0.5), "over_texts": o}
        for n, o in zip(("zlpr", "focal"), over)
    ]
    caption = contrast.standing(make_compare(differences=found))[0].caption
    assert words in caption
    assert "p < 0.05 after Holm's correction" in caption
    assert caption.endswith("Further right is better.")


def test_one_seed_speaks_of_texts_alone():
    facts = make_compare(rows=[run(name, "cnn", 0, 0.5) for name in ("bce", "zlpr")])
    assert "95% intervals over texts alone, not corrected" in contrast.standing(facts)[0].caption
    assert {row[4].text for row in difference_table(facts).rows} == {"texts"}


def test_the_caption_tells_where_lower_is_better():
    facts = make_compare(lower_is_better=["macro_f1"])
    assert contrast.standing(facts)[0].caption.endswith("Further left is better.")


def test_the_baseline_has_a_line_at_zero_and_differences_of_other_metrics_none(read_page):
    other = {**difference("zlpr", "cnn", 9.0, 0.1, 0.5), "metric": "lrap"}
    forest, runs = contrast.standing(
        make_compare(differences=[difference("zlpr", "cnn", 0.1, 0.1, 0.5), other])
    )
    page = read_page(forest.svg)
    assert (
        len([a for a in page.named("path") if a.get("stroke") == "var(--accent)" and "A" in a["d"]])
        == 2
    )
    assert [text for text in texts_of(runs, read_page) if text.isalpha()] == [
        "zlpr",
        "bce",
        "focal",
    ]
    assert [text for text in texts_of(forest, read_page) if text.isalpha()] == [
        "zlpr",
        "bce",
        "focal",
    ]


def test_without_differences_runs_are_drawn_alone():
    assert [figure.title for figure in contrast.standing(make_compare(differences=()))] == [
        "Every run"
    ]
    assert contrast.standing(make_compare(summary=[summary("bce", "cnn", 0.0, finished=0)])) == []


def test_a_long_name_of_the_baseline_does_not_leave_the_plot(read_page):
    name = "a baseline with a very long name"
    rows = [summary(n, "cnn", 0.5) for n in (name, "zlpr")]
    forest = contrast.standing(make_compare(baseline=name, summary=rows))[0]
    assert forest.title == "Better than the baseline?"
    assert "macro-F1 minus that of the baseline" in texts_of(forest, read_page)


def test_one_band_alone_is_not_drawn():
    facts = make_compare(bands=[band for band in make_compare().bands if band["band"] == "head"])
    assert contrast.by_frequency(facts) is None
    undefined = [{**band, "macro_f1": math.nan} for band in make_compare().bands]
    assert contrast.by_frequency(make_compare(bands=undefined)) is None


def test_few_labels_all_have_a_bar_in_the_order_of_their_gain(read_page):
    difference = np.r_[np.linspace(-0.2, 0.2, 19), np.nan]
    [found] = contrast.by_label(gains_of(20, difference))
    [figure] = found.figures
    names = [text for text in texts_of(figure, read_page) if text.startswith("label")]
    assert names == [f"label {i}" for i in reversed(range(19))]


def test_of_many_labels_both_ends_have_bars_and_all_are_a_curve(read_page):
    difference = np.random.default_rng(1).permutation(
        np.r_[np.linspace(-0.3, -0.1, 13), np.linspace(0.1, 0.3, 7), [0.0] * 21]
    )
    [found] = contrast.by_label(gains_of(41, difference))
    order = sorted(range(41), key=lambda i: -difference[i])
    bars, curve = found.figures
    names = [text for text in texts_of(bars, read_page) if text.startswith("label")]
    assert names == [f"label {i}" for i in order[:7] + order[-10:]]
    assert bars.caption == "The 7 labels that gained most and the 10 that lost most."
    assert curve.caption == "7 labels gained, 13 lost, 21 stayed."


def test_labels_need_scores_of_both():
    facts = make_compare()
    assert (
        contrast.by_label(
            make_compare(gains=[row for row in facts.gains if row["objective"] != "bce"])
        )
        == []
    )
    assert (
        contrast.by_label(
            make_compare(gains=[row for row in facts.gains if row["objective"] != "zlpr"])
        )
        == []
    )
    assert contrast.by_label(make_compare(shown={})) == []
    [nothing] = contrast.by_label(gains_of(3, [math.nan] * 3))
    assert nothing.figures == []
    assert len(nothing.table.rows) == 3


def test_a_setting_has_a_figure_with_its_best_value_and_the_baseline():
    found = contrast.by_setting(make_compare())
    assert [figure.title for figure in found.figures] == ["loss.gamma"]
    assert found.figures[0].caption.startswith("Best: focal at 1 (0.500). Dashed: bce (0.520).")
    lower = contrast.by_setting(make_compare(lower_is_better=["macro_f1"]))
    assert lower.figures[0].caption.startswith("Best: focal at 0 (0.400).")


def test_every_setting_of_every_encoder_has_a_figure():
    facts = make_compare(("cnn", "bow"))
    sweeps = [
        *facts.sweeps,
        {**facts.sweeps[0], "objective": "zlpr"},
        {**facts.sweeps[1], "setting": "mask.tau"},
    ]
    found = contrast.by_setting(make_compare(("cnn", "bow"), sweeps=sweeps))
    assert [figure.title for figure in found.figures] == [
        "cnn: loss.gamma",
        "bow: loss.gamma",
        "bow: mask.tau",
    ]
    assert [key.name for key in found.legend] == ["focal", "zlpr"]


def test_a_sweep_without_a_baseline_or_without_a_score():
    facts = make_compare(summary=())
    assert "Dashed" not in contrast.by_setting(facts).figures[0].caption
    assert (
        contrast.by_setting(make_compare(sweeps=[{**facts.sweeps[0], "means": [math.nan] * 3}]))
        is None
    )


def test_score_and_loss_have_a_figure_where_there_are_any():
    assert [f.title for f in contrast.while_training(make_compare()).figures] == [
        "micro-F1 on dev",
        "training loss",
    ]
    curves = [{**curve, "losses": [math.nan] * 3} for curve in make_compare().curves]
    assert [f.title for f in contrast.while_training(make_compare(curves=curves)).figures] == [
        "micro-F1 on dev"
    ]
    assert contrast.while_training(make_compare(curves=())) is None


def test_probabilities_have_a_figure_an_encoder():
    found = contrast.of_probabilities(make_compare(("cnn", "bow")))
    assert [figure.title for figure in found.figures] == ["cnn", "bow"]
    assert [key.name for key in found.legend] == ["bce", "zlpr", "focal"]


def test_details_are_about_the_objective_that_is_shown():
    facts = make_compare(("cnn", "bow"), shown={"cnn": "focal", "bow": "zlpr"})
    assert [(found.encoder, found.objective) for found in contrast.of_pairs(facts)] == [
        ("cnn", "focal"),
        ("bow", "zlpr"),
    ]
    assert [(found.encoder, found.objective) for found in contrast.of_texts(facts)] == [
        ("cnn", "focal"),
        ("bow", "zlpr"),
    ]
    for found in contrast.of_texts(facts):
        assert {flip["objective"] for _, first, _ in found.lists for flip in first} == {
            found.objective
        }


def test_texts_come_by_how_many_seeds_flipped():
    [found] = contrast.of_texts(make_compare())
    assert [
        (title, [flip["text"] for flip in first], list(more)) for title, first, more in found.lists
    ] == [
        ("Now right: 2 texts", ["text that gained", "text that nearly gained"], []),
        ("Now wrong: 1 text", ["text that lost"], []),
    ]

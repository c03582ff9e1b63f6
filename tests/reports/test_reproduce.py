"""Results of a recipe as Markdown."""

from tagwright.reports.reproduce import Line, RecipeFacts, ResultTable, RivalTable, reproduce_report


def line(variant="new", **changes):
    facts = {
        "scores": [0.5, 0.6],
        "over_seeds": (0.05, -0.01, 0.11),
        "over_texts": (0.05, -0.02, 0.12),
    }
    return Line(
        variant=variant,
        **{**facts, "p_value": 0.2, "verdict": "no difference shown", "seconds": 1.26, **changes},
    )


def page(*lines, also=(), amounts=False, encoders=("cnn",), rivals=(), **changes):
    table = {"data": "trec", "cut": "", "parts": 1, "texts": 500, "lines": lines}
    facts = RecipeFacts(
        also=also,
        amounts=amounts,
        rivals=rivals,
        title="A title",
        paper="A paper, Table 2",
        note="Its numbers",
        metric="accuracy",
        command="tagwright reproduce x",
        date="2026-01-02",
        versions={"torch": "2.11"},
        devices=["A GPU"],
        seeds=2,
        runs=4,
        finished=3,
        settings={"fit": {"epochs": 3}},
        own_settings={"new": {"objective": "bce", "loss": {"labels": "mean"}, "rdrop": {}}},
        tables=[ResultTable(**{**table, "encoder": encoder, **changes}) for encoder in encoders],
    )
    return reproduce_report(facts)


def test_the_head_says_what_was_run_and_with_what():
    found = page(line())
    for words in (
        "# A title",
        "A paper, Table 2. Its numbers",
        "2026-01-02",
        "A GPU",
        "torch 2.11",
        "3 of 4",
    ):
        assert words in found
    assert "`tagwright reproduce x`" in found
    assert "[fit]\nepochs = 3" in found
    assert '- new: `objective="bce"`, `loss.labels="mean"`, `rdrop`' in found


def test_a_row_has_mean_spread_difference_intervals_and_words():
    row = (
        "| new | 0.5500 ± 0.0707 | 2 | +0.0500 | [-0.0100, +0.1100] | [-0.0200, +0.1200] | no"
        " difference shown | 1.3 |"
    )
    assert row in page(line()).splitlines()


def test_one_seed_has_no_spread_and_no_bounds():
    found = page(line(scores=[0.5], over_seeds=(0.05, float("-inf"), float("inf"))))
    assert "| new | 0.5000 | 1 | +0.0500 |  | [-0.0200, +0.1200] |" in found
    assert "inf" not in found


def test_equal_intervals_are_shown_once():
    assert page(line(over_texts=(0.05, -0.01, 0.11))).count("[-0.0100, +0.1100]") == 1


def test_what_failed_is_told_once_for_all_variants_it_befell():
    broken = {
        "scores": [],
        "over_seeds": None,
        "over_texts": None,
        "seconds": float("nan"),
        "failed": ["a | b\nc"] * 2,
    }
    found = page(line("one", **broken), line("two", **broken))
    assert "| one | failed | 0, 2 failed |" in found
    assert found.count("a \\| b c") == 1
    assert "- failed: one; two: a \\| b c" in found


def test_what_was_not_run_yet_is_not_called_failed():
    text = page(line("old"), line(scores=[], over_seeds=None, over_texts=None))
    assert "Not run yet: trec, cnn (new)." in text.splitlines()
    assert "| new |" not in text
    assert "Not run yet" not in page(line("old"))


def test_a_table_of_which_nothing_was_run_is_left_out():
    text = page(line(scores=[], over_seeds=None, over_texts=None))
    assert "Not run yet: trec, cnn." in text.splitlines()
    assert "## trec" not in text


def test_what_no_fitted_threshold_gives_has_a_column_where_it_is_known():
    assert "| variant | accuracy | untuned | seeds |" in page(line(untuned=[0.4, 0.5]))
    assert "| new | 0.5500 ± 0.0707 | 0.4500 ± 0.0707 | 2 |" in page(line(untuned=[0.4, 0.5]))
    assert "| untuned |" not in page(line())


def test_metrics_beside_are_columns_and_the_difference_says_of_what():
    found = page(line(beside={"macro_f2": [0.7, 0.8]}), also=["macro_f2"]).splitlines()
    header = (
        "| variant | accuracy | macro_f2 | seeds | difference in accuracy | over seeds | over seeds"
        " and texts | |"
    )
    assert f"{header} seconds |" in found
    assert any(
        row.startswith("| new | 0.5500 ± 0.0707 | 0.7500 ± 0.0707 | 2 | +0.0500 |") for row in found
    )
    assert "| metric | accuracy on test; beside it macro_f2 |" in found


def test_where_tokens_are_counted_no_interval_over_texts_is_claimed():
    found = page(line(over_texts=(0.05, -0.01, 0.11)), tokens=1234)
    assert "500 texts of test with 1,234 tokens." in found
    assert "| variant | accuracy | seeds | difference | over seeds | | seconds |" in found
    assert (
        "| new | 0.5500 ± 0.0707 | 2 | +0.0500 | [-0.0100, +0.1100] | no difference shown | 1.3 |"
        in found
    )
    assert "| over seeds and texts" not in found


def test_every_row_has_the_columns_of_its_table():
    for tokens in (None, 9):
        rows = page(
            line(beside={"lrap": [0.5]}), line("b", scores=[]), also=["lrap"], tokens=tokens
        ).splitlines()
        start = next(number for number, row in enumerate(rows) if row.startswith("| variant"))
        assert len({row.count("|") for row in rows[start : start + 4]}) == 1


def test_amounts_are_shown_where_asked_for_beside_the_truth():
    lines = [
        line("one", amounts={"KEY": (30.0, 40.0)}),
        line("two", amounts={"KEY": (5000.4, 40.0)}),
        line("three"),
    ]
    rows = page(*lines, amounts=True).splitlines()
    assert rows[-5:] == [
        "| tokens predicted | KEY |",
        "|---|---|",
        "| truth | 40 |",
        "| one | 30 (75%) |",
        "| two | 5,000 (12501%) |",
    ]
    assert "tokens predicted" not in page(*lines)


def test_several_encoders_come_with_their_means_at_a_glance():
    beside = {"macro_f2": [0.71, 0.72]}
    lines = [line("one", beside=beside), line("two", scores=[], beside={})]
    rows = page(*lines, also=["macro_f2"], encoders=("cnn", "bat")).splitlines()
    start = rows.index("## At a glance")
    assert rows[start + 2] == "Means in percent: accuracy / macro_f2."
    assert rows[start + 4 : start + 8] == [
        "| trec | cnn | bat |",
        "|---|---|---|",
        "| one | 55.0 / 71.5 | 55.0 / 71.5 |",
        "",
    ]
    assert "At a glance" not in page(*lines)


def test_a_cut_is_named_with_the_number_of_its_training_sets_and_what_was_kept():
    found = page(line(), cut="each 1:100", parts=4, notes=["keep: 3 of 300 train texts with a"])
    assert "## trec, cnn, each 1:100" in found
    assert "500 texts of test, means over 4 training sets." in found
    assert "keep: 3 of 300 train texts with a." in found


def test_rival_encoders_stand_against_the_first_of_them():
    first = line("bat", over_seeds=None, over_texts=None, verdict="baseline")
    rivals = [
        RivalTable(data="trec", cut="", variant=name, lines=[first, line("muse")])
        for name in ("ce", "wce")
    ]
    found = page(line(), rivals=rivals).splitlines()
    assert "## bat and the other encoders" in found
    assert found.count("### trec") == 1
    assert "| ce | bat | 0.5500 ± 0.0707 | 2 |  |  |  | baseline |" in found
    row = (
        "| wce | muse | 0.5500 ± 0.0707 | 2 | +0.0500 | [-0.0100, +0.1100] | [-0.0200, +0.1200] |"
        " no difference shown |"
    )
    assert row in found


def test_without_rivals_there_is_no_such_table():
    assert "other encoders" not in page(line())

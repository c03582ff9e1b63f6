from tagwright.reports.bar_plots import amounts, ranges


def test_numbers_too_small_for_an_axis_are_drawn_as_nothing(read_page):
    spans = [{"tenth": -1e-320, "median": 5e-324, "ninetieth": 1e-320}]
    assert read_page(ranges(["a"], spans, title="x")).faults == []


def test_amounts_pair_what_is_true_with_what_is_predicted(read_page):
    page = read_page(amounts(["<b>", "手机"], [30, 4], [7, 0], title="spans"))
    drawn = page.text("text").split("\n")
    assert {"true", "predicted", "<b>", "手机", "30", "4", "7", "0"} <= set(drawn)
    for color in ("var(--accent)", "var(--second)"):
        # two bars and the legend's square
        assert len([a for a in page.named("path") if a.get("fill") == color]) == 3

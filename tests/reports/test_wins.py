"""How often each variant of a recipe is the best."""

from tagwright.reports.reproduce import Line, ResultTable
from tagwright.reports.wins import wins


def line(variant, *scores, ranking=()):
    about = {"over_seeds": None, "over_texts": None, "p_value": None, "verdict": "", "seconds": 1.0}
    return Line(
        variant=variant,
        scores=scores,
        beside={"ranking_loss": ranking or [0.5] * len(scores)},
        **about,
    )


def table(*lines, data="news"):
    return ResultTable(data=data, encoder="cnn", cut="", parts=1, texts=500, lines=lines)


def rows(*tables, also=("ranking_loss",)):
    return [
        found.strip("| ").split(" | ")
        for found in wins(tables, "macro_f1", also)
        if found.startswith("| ")
    ]


def test_the_best_mean_wins_and_a_loss_is_best_when_it_is_small():
    first = table(
        line("bce", 0.5, 0.7, ranking=[0.1, 0.1]), line("zlpr", 0.5, 0.6, ranking=[0.3, 0.2])
    )
    second = table(line("bce", 0.8, ranking=[0.1]), line("zlpr", 0.9, ranking=[0.2]))
    assert rows(first, second) == [
        ["variant", "macro_f1", "ranking_loss"],
        ["bce", "1", "2"],
        ["zlpr", "1", "0"],
    ]


def test_equals_win_together():
    same = table(line("bce", 0.5), line("zlpr", 0.5))
    assert rows(same, same, also=())[1:] == [["bce", "2"], ["zlpr", "2"]]


def test_a_table_that_lacks_a_variant_does_not_count():
    whole, part = table(line("bce", 0.5), line("zlpr", 0.6)), table(line("bce", 0.5), line("zlpr"))
    assert rows(whole, whole, part, also=())[1:] == [["bce", "0"], ["zlpr", "2"]]
    assert rows(whole, part) == []
    assert rows(whole) == []

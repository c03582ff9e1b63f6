"""Who looks on while runs are made."""

from tagwright.experiments.plan import Planned
from tagwright.experiments.progress import Lines, Under, Watch, came_to, named
from tagwright.experiments.recipe import TrainCut

RUN = Planned(data="shop", encoder="cnn", cut=TrainCut(), part="", variant="bce", seed=1, key="k")
ROW = {"scored": {"macro_f1": 0.5}, "on": "test", "dev": {"macro_f1": 0.625}, "seconds": 3.21}


def test_one_that_sees_nothing_says_nothing(capsys):
    watch = Watch()
    watch.begin([RUN], [None])
    watch.under_way(0, Under("fit", 1, 2, None))
    watch.end(0, ROW)
    watch.say("x")
    assert capsys.readouterr() == ("", "")


def test_lines_tell_how_many_there_are_and_what_each_came_to():
    said = []
    watch = Lines("macro_f1", said.append)
    watch.begin([RUN, RUN, RUN], [None, ROW, None])
    watch.under_way(2, Under("fit", 1, 2, None))
    watch.end(2, ROW)
    assert said == [
        "3 runs, 1 of them are there",
        "run 3 of 3: shop, cnn, bce, seed 1: macro_f1 0.5000 on test (dev 0.6250), 3.2 s",
    ]


def test_scores_of_dev_are_told_as_such_and_once():
    row = {**ROW, "scored": {"macro_f1": 0.625}, "on": "dev"}
    assert came_to(row, "macro_f1") == "macro_f1 0.6250 on dev, 3.2 s"


def test_a_failure_is_told_and_shortened():
    assert came_to({"failed": "OSError: " + "no room " * 60}, "macro_f1").startswith(
        "failed (OSError: no room"
    )
    assert len(came_to({"failed": "OSError: " + "no room " * 60}, "macro_f1")) < 220


def test_a_metric_that_was_not_measured_is_no_number():
    assert came_to({**ROW, "scored": {}}, "macro_f1").startswith("macro_f1 nan")


def test_a_run_is_named_by_its_place():
    assert named(RUN) == "shop, cnn, bce, seed 1"

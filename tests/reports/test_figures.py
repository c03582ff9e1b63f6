import pytest

from tagwright.metrics.of_tokens import metrics_of_tokens
from tagwright.reports.figures import MEASURES, figures_of_tags

METRICS = {name: place / 100 for place, name in enumerate(metrics_of_tokens())}


@pytest.mark.parametrize(
    ("tags", "first", "rows"),
    [
        (["O", "B-X", "I-X"], "whole spans, all together", 6),
        (["O", "BRAND"], "whole spans, all together", 6),
        (["B-X", "I-X"], "whole spans, all together", 4),
        (["NOUN", "VERB"], "all tokens together", 2),
    ],
)
def test_tags_get_the_figures_they_can_tell_spans_first(tags, first, rows):
    found = figures_of_tags(METRICS, tags)
    assert found[0].counted == first
    assert len(found) == rows


def test_every_figure_is_the_metric_of_its_row():
    found = {one.counted: one.values for one in figures_of_tags(METRICS, ["O", "B-X"])}
    assert found["whole spans, mean over types"] == tuple(
        METRICS[f"entity_macro_{name}"] for name in MEASURES
    )
    assert found["tokens but O, mean over tags"] == tuple(
        METRICS[f"macro_{name}_without_o"] for name in MEASURES
    )
    assert found["all tokens together"] == tuple(METRICS[f"micro_{name}"] for name in MEASURES)


def test_what_was_not_measured_has_no_row():
    assert figures_of_tags({"entity_f1": 0.5}, ["O", "B-X"]) == []

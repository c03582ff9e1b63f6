"""What a run came to."""

from tagwright.experiments.scored_run import only_metrics


def test_facts_that_are_no_metrics_are_left_out():
    found = {"accuracy": 0.5, "true_cardinality": 1.0, "nonsense": 2}
    assert only_metrics(found) == {"accuracy": 0.5}

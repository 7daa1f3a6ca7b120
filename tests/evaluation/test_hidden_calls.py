"""A cutoff that one call of an agent fills hides its later calls."""

import retrieval_metrics as rm
from retrieval_metrics.evaluation.hidden_calls import find_hidden_calls


def test_a_cutoff_within_the_first_call_hides_the_later_ones() -> None:
    run = rm.RetrievedRun({"q1": ["a", "b", "c"], "q2": ["a", "b"]}, calls={"q1": [1, 1, 2], "q2": [1, 2]})
    metrics = [rm.Metric("recall", 3), rm.Metric("recall", 2)]
    hidden = find_hidden_calls(metrics, run)
    assert hidden is not None
    assert (hidden.metric, hidden.k, hidden.first_query) == (metrics[1], 2, "q1")
    assert (hidden.n_queries, hidden.n_with_calls) == (1, 2)


def test_without_a_cutoff_or_calls_nothing_is_hidden() -> None:
    run = rm.RetrievedRun({"q1": ["a", "b"]}, calls={"q1": [1, 2]})
    assert find_hidden_calls([rm.Metric("map"), rm.Metric.parse("recall@1calls")], run) is None
    assert find_hidden_calls([rm.Metric("recall", 1)], {"q1": ["a", "b"]}) is None

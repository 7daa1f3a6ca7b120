"""Metrics whose values are given."""

import pytest

import retrieval_metrics as rm


def test_the_values_of_a_given_metric_cannot_be_computed() -> None:
    result = rm.Evaluation.of_scores({"faithfulness": {"q": 0.5}}, bounds=(0, 1))
    (metric,) = result.metrics
    assert metric.definition.given
    assert metric.definition.bounds == (0, 1)
    with pytest.raises(ValueError, match="faithfulness cannot be computed, its values are given; add them"):
        rm.evaluate({"q": ["a"]}, {"q": ["a"]}, metric)

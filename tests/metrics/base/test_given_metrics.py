"""Metrics whose values are given rather than computed."""

import pickle
from math import inf
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.given_metrics import (
    as_given_metric,
    read_bounds,
    read_lower_is_better,
    require_same_properties,
)


def test_the_values_of_a_given_metric_cannot_be_computed() -> None:
    result = rm.Evaluation.from_scores({"faithfulness": {"q": 0.5}}, bounds=(0, 1))
    (metric,) = result.metrics
    assert metric.definition.is_given
    assert metric.definition.bounds == (0, 1)
    with pytest.raises(ValueError, match="faithfulness cannot be computed, its values are given; add them"):
        rm.evaluate({"q": ["a"]}, {"q": ["a"]}, metric)


def test_a_given_metric_has_its_bounds_and_its_direction() -> None:
    latency = as_given_metric("latency_given", (0, inf), lower_is_better=True)
    assert str(latency) == "latency_given"
    assert latency.definition.summary == "given, from 0 to inf; lower is better"
    assert as_given_metric("score_given", None, lower_is_better=False).definition.summary == "given, without bounds"
    assert pickle.loads(pickle.dumps(latency)) == latency == rm.Metric.parse("latency_given")
    assert hash(latency) == hash(rm.Metric.parse("latency_given"))


def test_a_metric_that_is_known_here_keeps_its_properties() -> None:
    assert as_given_metric("nDCG@10", None, lower_is_better=False) == rm.Metric("ndcg", 10)
    with pytest.raises(ValueError, match="'ndcg@10' is the name of a metric of this package, ndcg@10, from 0 to 1"):
        as_given_metric("ndcg@10", (0, 5), lower_is_better=False)
    with pytest.raises(ValueError, match="must be printable and not blank, got ' '"):
        as_given_metric(" ", None, lower_is_better=False)


def test_bounds_are_one_pair_or_a_pair_by_metric() -> None:
    assert read_bounds(["a", "b"], (0, None)) == {"a": (0, inf), "b": (0, inf)}
    assert read_bounds(["a", "b"], {"b": (None, 1)}) == {"a": None, "b": (-inf, 1)}
    assert read_bounds(["a"], None) == {"a": None}
    assert read_lower_is_better(["a", "b"], "b") == {"b"}


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        ((0,), TypeError, r"the smallest and the largest value, such as \(0, 1\), got \(0,\)"),
        ((0, True), TypeError, "the smallest and the largest value"),
        ((1, 0), ValueError, "the lower bound must be below the upper"),
        ({"c": (0, 1)}, ValueError, "bounds has 'c', which has no scores; the scores are a, b"),
    ],
)
def test_what_is_no_bound_is_refused(bounds: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_bounds(["a", "b"], bounds)


def test_evaluations_must_agree_on_a_metric() -> None:
    ours = as_given_metric("quality_given", (0, 1), lower_is_better=False)
    theirs = as_given_metric("quality_given", (0, 5), lower_is_better=False)
    require_same_properties([ours], [ours, rm.Metric("map")])
    with pytest.raises(
        ValueError, match="quality_given is not the same in all: given, from 0 to 1 in one, given, from 0 to 5"
    ):
        require_same_properties([ours], [theirs])

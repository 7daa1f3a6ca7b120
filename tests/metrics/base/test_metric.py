"""Names of metrics: read, printed, compared."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.metric import as_metrics
from retrieval_metrics.metrics.base.registry import DEFINITIONS

BUILT_IN = [definition for definition in DEFINITIONS.values() if definition.recipe is None]


@st.composite
def metrics(draw: st.DrawFn) -> rm.Metric:
    definition = draw(st.sampled_from(BUILT_IN))
    values: dict[str, Any] = {
        "alpha": st.floats(0, 1),
        "rel": st.sampled_from([1, 2, 0.5]),
        "norm": st.sampled_from(["retrieved"]),
        "p": st.floats(0.01, 0.99),
        "gain": st.sampled_from(["linear", "exponential", "binary"]),
        "gains": st.sampled_from(["1:0", "1:1;2:3"]),
        "ideal": st.sampled_from(["all", "retrieved"]),
        "of": st.sampled_from(["groups", "documents"]),
        "per": st.sampled_from(["query", "group"]),
        "max_grade": st.integers(1, 9),
        "recall": st.floats(0, 1),
        "rounding": st.sampled_from(["up", "nearest"]),
        "grade": st.sampled_from([-1, -2, -0.5]),
    }
    chosen = (
        draw(st.lists(st.sampled_from(sorted(definition.parameters)), unique=True)) if definition.parameters else []
    )
    budgets = st.builds(rm.Budget, st.integers(1, 10**6), st.sampled_from(["chars", "tokens"]))
    k = draw(st.none() | st.integers(1, 10**6) | budgets) if definition.takes_cutoff else None
    return rm.Metric(definition.name, k, **{key: draw(values[key]) for key in chosen})


@given(metrics())
def test_a_printed_name_is_read_back_as_the_same_metric(metric: rm.Metric) -> None:
    again = rm.Metric.parse(str(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert pickle.loads(pickle.dumps(metric)) == copy.deepcopy(metric) == metric


def test_a_cutoff_given_as_a_value_is_checked_too() -> None:
    with pytest.raises(ValueError, match="cutoff k of ndcg must be a positive integer or None, got 0"):
        rm.Metric("ndcg", 0)
    with pytest.raises(TypeError, match=r"got 1.5 \(float\)"):
        rm.Metric("ndcg", 1.5)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match=r"got True \(bool\)"):
        rm.Metric("ndcg", True)


def test_only_text_is_a_name() -> None:
    with pytest.raises(TypeError, match="must be a str such as 'ndcg@10', got 10"):
        rm.Metric.parse(10)  # type: ignore[arg-type]  # the point of the test


def test_metrics_are_given_by_one_name_by_many_or_as_objects_and_count_once() -> None:
    assert as_metrics("map") == (rm.Metric("map"),)
    assert as_metrics(["map", "AP", rm.Metric("map"), "mrr@10"]) == (rm.Metric("map"), rm.Metric("mrr", 10))
    with pytest.raises(ValueError, match="there are no metrics"):
        as_metrics([])
    with pytest.raises(TypeError, match="metrics must be names"):
        as_metrics(10)  # type: ignore[arg-type]  # the point of the test


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        rm.Metric("map").k = 3  # type: ignore[misc]  # the point of the test

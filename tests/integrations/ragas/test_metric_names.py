"""The name of a metric says everything that changes its value, and is read back."""

import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from ragas_retrieval_metrics import NDCG, Precision, RetrievalMetric, metric_suite
from ragas_retrieval_metrics.metric_names import By, MetricName, OnUnjudged
from retrieval_metrics.integration_api import DEFINITIONS

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


LEGAL_IN_MLFLOW = re.compile(r"[/\w.\- :]+")


@st.composite
def metric_names(draw: st.DrawFn) -> MetricName:
    name = draw(st.sampled_from(sorted(DEFINITIONS)))
    definition = DEFINITIONS[name]
    parameters = {}
    for key, parameter in definition.parameters.items():
        if draw(st.booleans()):
            parameters[key] = draw(st.sampled_from(parameter.examples))
    by: By = "texts" if definition.needs_places else draw(st.sampled_from(get_args(By)))
    cutoffs: st.SearchStrategy[Any] = st.none() | st.integers(1, 1000)
    if by == "texts":
        cutoffs |= st.builds(rm.Budget, st.integers(1, 9999), st.just("chars"))
    k = draw(cutoffs) if definition.takes_cutoff else None
    return MetricName(rm.Metric(name, k, **parameters), by, draw(st.sampled_from(get_args(OnUnjudged))))


@given(metric_names())
def test_every_name_is_legal_and_read_back(name: MetricName) -> None:
    assert MetricName.parse(str(name)) == name
    assert LEGAL_IN_MLFLOW.fullmatch(str(name))


@given(metric_names())
def test_a_metric_is_rebuilt_from_its_name_alone(name: MetricName) -> None:
    metric = RetrievalMetric(str(name))
    assert (metric.name, metric.metric, metric.by, metric.on_unjudged, None) == (str(name), *name)
    assert RetrievalMetric(name=metric.name).name == metric.name


@pytest.mark.parametrize("metric", [*metric_suite(), *metric_suite(k=None, by="texts", on_unjudged="zero")])
def test_classes_are_rebuilt_as_haystack_does(metric: RetrievalMetric) -> None:
    again = type(metric)(name=metric.name)
    assert (again.metric, again.by, again.on_unjudged) == (metric.metric, metric.by, metric.on_unjudged)


def test_names_are_those_people_know() -> None:
    assert [metric.name for metric in metric_suite(k=10)] == [
        "hit_rate_at_10",
        "mrr_at_10",
        "map_at_10",
        "ndcg_at_10",
        "precision_at_10",
        "recall_at_10",
        "f1_at_10",
    ]
    assert NDCG().name == "ndcg"
    assert NDCG(10, gain="exponential").name == "ndcg_at_10-gain-exponential"
    assert Precision(5, rel=2, by="texts", on_unjudged="zero").name == "precision_at_5-rel-2-by-texts-unjudged-zero"


def test_a_suite_has_every_name_once_because_ragas_keeps_one_of_each() -> None:
    names = [metric.name for metric in metric_suite(k=(1, 3, 5, 10, None, 1))]
    assert len(names) == len(set(names)) == 35


@pytest.mark.parametrize("spelling", ["ndcg@10", "ndcg_at_10", "nDCG@10", "ndcg_cut_10"])
def test_spellings_of_the_core_are_read(spelling: str) -> None:
    assert RetrievalMetric(spelling).name == NDCG(k=10).name == NDCG(name=spelling).name == "ndcg_at_10"


@pytest.mark.parametrize("name", ["precision_at_5-rel-2-rel-3", "mrr_at_10-by-ids-by-texts"])
def test_an_option_that_is_named_twice_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' has '(rel|by)' twice"):
        MetricName.parse(name)

"""A name says everything that changes the number, is legal everywhere, and is the way back to the metric."""

import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from ragas_retrieval_metrics import NDCG, Precision, RetrievalMetric, metric_suite
from ragas_retrieval_metrics.metric import By, Named, OnUnjudged
from retrieval_metrics.scoring.table import DEFINITIONS

LEGAL_IN_MLFLOW = re.compile(r"[/\w.\- :]+")


def any_of(wrong: Any) -> Any:
    """Return what the type checker would refuse, as a user without one may pass it."""
    return wrong


@st.composite
def named(draw: st.DrawFn) -> Named:
    name = draw(st.sampled_from(sorted(DEFINITIONS)))
    definition = DEFINITIONS[name]
    parameters = {
        key: draw(st.sampled_from(parameter.examples))
        for key, parameter in definition.parameters.items()
        if draw(st.booleans())
    }
    by: By = "texts" if definition.needs_places else draw(st.sampled_from(get_args(By)))
    cutoffs: st.SearchStrategy[Any] = st.none() | st.integers(1, 1000)
    if by == "texts":
        cutoffs |= st.builds(rm.Budget, st.integers(1, 9999), st.just("chars"))
    k = draw(cutoffs) if definition.takes_cutoff else None
    return Named(rm.Metric.of(name, k, **parameters), by, draw(st.sampled_from(get_args(OnUnjudged))))


@given(named())
def test_every_name_is_legal_and_read_back(said: Named) -> None:
    assert Named.parse(str(said)) == said
    assert LEGAL_IN_MLFLOW.fullmatch(str(said))


@given(named())
def test_a_metric_is_rebuilt_from_its_name_alone(said: Named) -> None:
    metric = RetrievalMetric(str(said))
    assert (metric.name, metric.metric, metric.by, metric.on_unjudged, None) == (str(said), *said)
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


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: NDCG(name="mrr_at_10"),
            ValueError,
            r"not one of NDCG; rebuild it with RetrievalMetric\('mrr_at_10'\)",
        ),
        (lambda: NDCG(name="my favourite"), ValueError, "'my favourite' is not a metric name"),
        (lambda: NDCG(5, name="ndcg_at_10"), ValueError, "has k=10, but k=5 is passed too"),
        (lambda: NDCG(k=0), ValueError, "k of ndcg must be a positive integer"),
        (lambda: NDCG(k=any_of(2.5)), TypeError, "k of ndcg must be a positive integer or None, got 2.5"),
        (lambda: NDCG(by=any_of("text")), ValueError, "by must be one of 'ids', 'texts', 'auto', got 'text'"),
        (lambda: NDCG(on_unjudged=any_of("drop")), ValueError, "on_unjudged must be one of 'nan', 'zero', got 'drop'"),
        (lambda: NDCG(name="ndcg_at_10-by-vibes"), ValueError, "by must be one of"),
        (lambda: NDCG(rel=2), ValueError, "ndcg has no parameter 'rel'"),
        (
            lambda: NDCG(rm.Budget(800, "chars")),
            ValueError,
            r"ndcg@800chars needs the texts .* by='texts'",
        ),
        (lambda: NDCG(rm.Budget(800, "tokens"), by="texts"), ValueError, "counts tokens, but rows of ragas have none"),
        (lambda: RetrievalMetric("coverage@3", by="auto"), ValueError, "needs the texts that were retrieved"),
        (lambda: RetrievalMetric("context_precision"), ValueError, "unknown metric 'context_precision'"),
        (lambda: RetrievalMetric(any_of(10)), TypeError, "must be a str"),
        (lambda: metric_suite(k=()), ValueError, "at least one cut-off"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()

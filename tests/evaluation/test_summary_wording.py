"""What is said below the means."""

import math
from math import nan
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation import summary_wording as wording
from retrieval_metrics.evaluation.summary import ClusterSummary, MetricSummary
from retrieval_metrics.evaluation.tie_range import TieRange
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.statistics.means import Interval
from retrieval_metrics.types import Counts, QueryScore

NO_ISSUES = Counts(
    queries=9,
    scored=9,
    missing=0,
    failed=0,
    unjudged_queries=0,
    no_relevant=0,
    duplicates=0,
    excluded=0,
    ties=0,
    unlocated=0,
    invalid_offsets=0,
    ambiguous_locations=0,
)
ALL_ISSUES = Counts(
    queries=9,
    scored=9,
    missing=3,
    failed=1,
    unjudged_queries=3,
    no_relevant=4,
    duplicates=5,
    excluded=2,
    ties=6,
    unlocated=7,
    invalid_offsets=8,
    ambiguous_locations=9,
)
MRR = rm.Metric("mrr")


def make_given_metric(bounds: tuple[float | None, float | None], *, lower_is_better: bool = False) -> rm.Metric:
    names = "latency" if lower_is_better else ()
    evaluation = rm.Evaluation.from_scores({"latency": {"q": 1.0}}, bounds=bounds, lower_is_better=names)
    return evaluation.metrics[0]


def summarize_metric(metric: rm.Metric, n_queries: int, residual: float | None = None) -> MetricSummary:
    return MetricSummary(metric, str(metric), 0.5, n_queries, Interval(nan, nan), residual)


def test_every_issue() -> None:
    assert wording.describe_counts(ALL_ISSUES, as_rules("standard"), [MRR]) == [
        "9 queries",
        "2 with nothing retrieved, scored 0",
        "1 for which the retriever failed, scored 0",
        "3 in the run but not judged, left out",
        "4 without a relevant document, undefined and out of the means",
        "6 in which a judged document ties with another",
        "5 repeated documents, which earn nothing",
        "2 documents left out of the rankings by exclude=",
        "7 retrieved items whose position in a source is unknown, so no span was found in them",
        "8 retrieved items whose offsets do not fit their text or source and were ignored",
        "9 items that occur in their source more than once; a place with a judged span was used",
    ]


@pytest.mark.parametrize(
    ("rules", "changes", "metrics", "lines"),
    [
        (rm.Rules(name="standard"), {"queries": 1}, [MRR], ["1 query"]),
        (rm.Rules(name="mine"), {}, [MRR], ["9 queries, mine rules"]),
        (
            rm.Rules(name="standard", unjudged="condensed"),
            {},
            [MRR],
            ["9 queries, unjudged documents removed from the rankings"],
        ),
        (
            rm.Rules(name="standard", missing="skip", no_relevant="zero", duplicates="count"),
            {"missing": 2, "failed": 1, "no_relevant": 1, "duplicates": 1},
            [MRR],
            [
                "9 queries",
                "1 with nothing retrieved; those not in the run left out",
                "1 for which the retriever failed",
                "1 without a relevant document, scored 0",
                "1 repeated documents, which are hits again",
            ],
        ),
        (
            rm.Rules(name="standard"),
            {"no_relevant": 1},
            [rm.Metric("leak", 5)],
            ["9 queries", "1 without a relevant document, out of the means that need one"],
        ),
    ],
)
def test_issues_under_other_rules(rules: rm.Rules, changes: Any, metrics: Any, lines: list[str]) -> None:
    counts: Any = {**NO_ISSUES, **changes}
    assert wording.describe_counts(counts, rules, metrics) == lines


def make_clusters(n_clusters: int, *, by_source: bool) -> Clusters:
    queries = [f"q{number}" for number in range(2 * n_clusters)]
    names = [(f"c{number // 2}",) for number in range(2 * n_clusters)]
    return Clusters(queries, names, by_source)


def test_clusters() -> None:
    assert wording.cluster_notes(ClusterSummary(make_clusters(20, by_source=True), {MRR: 1.25})) == [
        "intervals by cluster: 20 clusters, by the source of their judgments (clusters=None turns that off)",
        "design effect (variance relative to independent queries): mrr 1.2",
    ]
    assert wording.cluster_notes(ClusterSummary(make_clusters(2, by_source=False), {})) == [
        "intervals by cluster: 2 clusters, as given",
        "2 clusters are few: intervals from fewer than 20 are rough",
    ]


def test_too_few_queries() -> None:
    unbounded = make_given_metric((0, math.inf))
    few_unbounded = (
        "without an upper bound, a 95 % interval from fewer than 25 queries may be right in only 77 to 94 of 100 cases"
    )
    assert wording.query_count_notes([summarize_metric(MRR, 3), summarize_metric(unbounded, 24)]) == [
        "n too small: an interval of fewer than 4 queries says little",
        few_unbounded,
    ]
    assert wording.query_count_notes([summarize_metric(MRR, 4), summarize_metric(unbounded, 25)]) == []
    assert wording.query_count_notes([summarize_metric(make_given_metric((0, 100)), 24)]) == []
    assert wording.query_count_notes([summarize_metric(MRR, 0)]) == []


def test_residuals() -> None:
    summaries = [summarize_metric(MRR, 9), summarize_metric(rm.Metric("rbp"), 9, 0.125)]
    assert wording.residual_notes(summaries) == [
        "rbp: residual 0.125, what unjudged and unseen documents could add to the mean"
    ]


def test_directions_and_missing_bounds() -> None:
    unbounded = make_given_metric((0, None), lower_is_better=True)
    assert wording.metric_notes([MRR, unbounded, rm.Metric("leak", 5)]) == [
        "lower is better in latency, leak@5",
        (
            "without bounds: latency; what was seen stands in for them, so a rare larger value could shift the mean "
            "further than is said here"
        ),
    ]
    assert wording.metric_notes([MRR]) == []


def test_ties() -> None:
    tie_range = TieRange({"mrr": (0.75, 1.0), "map": (0.5, 0.5), "rbp": (0.1, 0.2)}, {"mrr": 1, "map": 0, "rbp": 2})
    assert tie_range.notes() == [
        "mrr: between 0.750 and 1.000, by the order of equal scores in 1 query",
        "rbp: between 0.100 and 0.200, by the order of equal scores in 2 queries",
    ]


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (QueryScore(0.5, (2, 4), 2, 5), "2 relevant, 5 retrieved; ranks of the relevant: 2, 4"),
        (
            QueryScore(np.nan, (), 0, 1),
            "undefined and left out of the mean: 0 relevant, 1 retrieved; ranks of the relevant: none",
        ),
        (QueryScore(0.0, (), 1, 0, "timeout"), "1 relevant, 0 retrieved; ranks of the relevant: none; timeout"),
    ],
)
def test_the_reason_of_a_query(score: QueryScore, text: str) -> None:
    assert score.reason == text

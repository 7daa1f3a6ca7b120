"""The lines below the means are what the golden file holds."""

import math
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from retrieval_metrics.evaluation import summary_wording as wording
from retrieval_metrics.evaluation.ranking_depths import UNKNOWN_DEPTHS, DepthCounts
from retrieval_metrics.evaluation.summary import ClusterSummary, MetricSummary
from retrieval_metrics.evaluation.tie_range import TieRange
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.statistics.mean_intervals import Interval
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
    without_match_value=0,
    near_misses=0,
    **UNKNOWN_DEPTHS,
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
    without_match_value=3,
    near_misses=2,
    longest_ranking=10,
    rankings=9,
    cut_rank=4,
    cut_rankings=6,
)
MRR = rm.Metric("mrr")
GOLDEN = Path(__file__).parent / "golden" / "summary_wording.txt"


def make_depths(longest_ranking: int, **limits: int) -> DepthCounts:
    """Return the depths of nine rankings that end at the same rank."""
    depths = DepthCounts(longest_ranking=longest_ranking, rankings=9, cut_rank=longest_ranking, cut_rankings=9)
    depths.update(limits)  # type: ignore[typeddict-item]
    return depths


def make_given_metric(bounds: tuple[float | None, float | None], *, lower_is_better: bool = False) -> rm.Metric:
    names = "latency" if lower_is_better else ()
    evaluation = rm.Evaluation.from_scores({"latency": {"q": 1.0}}, bounds=bounds, lower_is_better=names)
    return evaluation.metrics[0]


def summarize_metric(metric: rm.Metric, n_queries: int, residual: float | None = None) -> MetricSummary:
    return MetricSummary(metric, str(metric), 0.5, n_queries, Interval(nan, nan), residual)


def describe(counts: dict[str, int], rules: rm.Rules, metrics: list[rm.Metric]) -> list[str]:
    changed: Any = {**NO_ISSUES, **counts}
    return wording.describe_counts(changed, rules, metrics)


def make_clusters(n_clusters: int, *, by_source: bool) -> Clusters:
    queries = [f"q{number}" for number in range(2 * n_clusters)]
    names = [(f"c{number // 2}",) for number in range(2 * n_clusters)]
    return Clusters(queries, names, by_source)


def make_texts() -> dict[str, list[str]]:
    standard = rm.Rules(name="standard")
    lenient = rm.Rules(name="standard", missing="skip", no_relevant="zero", duplicates="count")
    single = dict.fromkeys(ALL_ISSUES, 1) | {"missing": 2}
    unbounded = make_given_metric((0, math.inf))
    latency = make_given_metric((0, None), lower_is_better=True)
    tie_range = TieRange({"mrr": (0.75, 1.0), "map": (0.5, 0.5), "rbp": (0.1, 0.2)}, {"mrr": 1, "map": 0, "rbp": 2})
    defaults = list(map(rm.Metric.parse, rm.DEFAULT_METRICS))
    scores = [
        QueryScore(0.5, (2, 4), 2, 5),
        QueryScore(0.5, (2,), 2, 2),
        QueryScore(np.nan, (), 0, 1),
        QueryScore(0.0, (), 1, 0, "timeout"),
    ]
    return {
        "issues": wording.describe_counts(ALL_ISSUES, as_rules("standard"), [MRR]),
        "one of each issue": describe(single, standard, [MRR]),
        "rules": [
            *describe({}, rm.Rules(name="mine"), [MRR]),
            *describe({}, rm.Rules(name="standard", unjudged="condensed"), [MRR]),
            *describe({"missing": 2, "failed": 1, "no_relevant": 1, "duplicates": 1}, lenient, [MRR]),
            *describe({"no_relevant": 1}, standard, [rm.Metric("leak", 5)]),
            *describe({"missing": 3, "failed": 1}, standard, [rm.Metric("leak", 5)]),
            *describe({"missing": 3, "failed": 1}, standard, [rm.Metric("leak", 5), MRR]),
        ],
        "clusters": [
            *wording.cluster_notes(ClusterSummary(make_clusters(20, by_source=True), {MRR: 1.25})),
            *wording.cluster_notes(ClusterSummary(make_clusters(2, by_source=False), {})),
        ],
        "few queries": wording.query_count_notes([summarize_metric(MRR, 3), summarize_metric(unbounded, 24)]),
        "depth": [
            *wording.depth_notes(make_depths(4), [rm.Metric.parse("recall@10")]),
            *wording.depth_notes(make_depths(1), [rm.Metric.parse("ndcg@10")]),
            *wording.depth_notes(make_depths(2), defaults),
            *wording.depth_notes(make_depths(5), defaults),
            *wording.depth_notes(ALL_ISSUES, [rm.Metric.parse("recall@10")]),
            *wording.depth_notes(ALL_ISSUES, defaults),
            *wording.depth_notes(make_depths(9, most_excluded=1), defaults),
            *wording.depth_notes(Counts({**ALL_ISSUES, "most_excluded": 2, "corpus_size": 11}), defaults),
            *wording.depth_notes(make_depths(5, corpus_size=8), defaults),
            *wording.depth_notes(make_depths(7, most_excluded=1, corpus_size=8), defaults),
        ],
        "residuals": wording.residual_notes([summarize_metric(MRR, 9), summarize_metric(rm.Metric("rbp"), 9, 0.125)]),
        "directions and bounds": [
            *wording.metric_notes([MRR, latency, rm.Metric("leak", 5)]),
            *wording.metric_notes([MRR, rm.Metric("leak", 1), rm.Metric("leak", 3), rm.Metric("leak", 5)]),
        ],
        "ties": tie_range.notes(),
        "single queries": [score.reason for score in scores],
    }


def test_texts_are_the_golden_ones() -> None:
    check_golden_texts(GOLDEN, make_texts())


def test_enough_queries_need_no_note() -> None:
    unbounded = make_given_metric((0, math.inf))
    assert wording.query_count_notes([summarize_metric(MRR, 4), summarize_metric(unbounded, 25)]) == []
    assert wording.query_count_notes([summarize_metric(make_given_metric((0, 100)), 24)]) == []
    assert wording.query_count_notes([summarize_metric(MRR, 0)]) == []


def test_a_metric_of_which_nothing_is_to_be_known_has_no_note() -> None:
    assert wording.metric_notes([MRR]) == []
    assert wording.depth_notes(make_depths(10), [rm.Metric.parse("recall@10"), MRR]) == []
    assert wording.depth_notes(UNKNOWN_DEPTHS, [rm.Metric.parse("recall@10")]) == []

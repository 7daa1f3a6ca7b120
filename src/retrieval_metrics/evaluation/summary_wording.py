"""The lines below the means: issues in the data, clusters, directions, residuals and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.query_scores import QueryScore
    from retrieval_metrics.evaluation.summary import ClusterSummary, MetricSummary, Summary
    from retrieval_metrics.evaluation.tie_range import TieRange
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


# Intervals of fewer queries are printed with a warning.
MIN_QUERIES = 4
# The interval of a mean of skewed values without a bound holds less often than it says from fewer queries.
MIN_QUERIES_UNBOUNDED = 25
# Intervals from fewer clusters are rough.
MIN_CLUSTERS = 20

DUPLICATE_TREATMENTS = {
    "ignore": "earn nothing",
    "count": "are hits again",
    "error": "are refused",
}


def summary_notes(summary: Summary) -> list[str]:
    """Return the lines below the table of the means."""
    metrics = [metric_summary.metric for metric_summary in summary.metrics]
    notes = describe_counts(summary.counts, summary.rules, metrics)
    if summary.clusters is not None:
        notes += cluster_notes(summary.clusters)
    notes += [f"{budget}: {fill}" for budget, fill in summary.budget_fills.items()]
    notes += query_count_notes(summary.metrics)
    if summary.tie_range is not None:
        notes += summary.tie_range.notes()
    notes += residual_notes(summary.metrics)
    notes += metric_notes(metrics)
    return notes


# Issues in the data.


def describe_counts(counts: Counts, rules: Rules, metrics: Sequence[Metric] = ()) -> list[str]:
    """Return the issues in words, one line each, without those that did not occur."""
    notes = [_format_queries(counts["queries"], rules)]
    # A failed query is told as such, not as one for which nothing was retrieved.
    n_by_issue: Mapping[str, int] = {**counts, "missing": max(counts["missing"] - counts["failed"], 0)}  # type: ignore[dict-item]  # all are numbers
    for issue, text in _issue_texts(rules, metrics).items():
        if n_by_issue[issue]:
            notes.append(f"{n_by_issue[issue]} {text}")
    return notes


def _format_queries(n_queries: int, rules: Rules) -> str:
    text = f"{n_queries} {'query' if n_queries == 1 else 'queries'}"
    if rules.name != "standard":
        text += f", {rules.name} rules"
    if rules.unjudged == "condensed":
        text += ", unjudged documents removed from the rankings"
    return text


def _issue_texts(rules: Rules, metrics: Sequence[Metric]) -> dict[str, str]:
    scored_zero = ", scored 0"
    is_missing_zero = rules.missing == "zero"
    missing_treatment = scored_zero if is_missing_zero else "; those not in the run left out"
    failure_treatment = scored_zero if is_missing_zero else ""
    if rules.no_relevant == "zero":
        no_relevant_treatment = scored_zero
    elif any(not (metric.definition.higher_is_better or metric.definition.needs_relevant) for metric in metrics):
        no_relevant_treatment = ", out of the means that need one"
    else:
        no_relevant_treatment = ", undefined and out of the means"
    return {
        "missing": f"with nothing retrieved{missing_treatment}",
        "failed": f"for which the retriever failed{failure_treatment}",
        "unjudged_queries": "in the run but not judged, left out",
        "no_relevant": f"without a relevant document{no_relevant_treatment}",
        "ties": "in which a judged document ties with another",
        "duplicates": f"repeated documents, which {DUPLICATE_TREATMENTS[rules.duplicates]}",
        "excluded": "documents left out of the rankings by exclude=",
        "unlocated": "retrieved items whose position in a source is unknown, so no span was found in them",
        "invalid_offsets": "retrieved items whose offsets do not fit their text or source and were ignored",
        "ambiguous_locations": "items that occur in their source more than once; a place with a judged span was used",
    }


# Clusters of queries.


def cluster_notes(summary: ClusterSummary) -> list[str]:
    """Return how the queries are clustered, and the design effects."""
    notes = [f"intervals by cluster: {format_cluster_count(summary.clusters)}"]
    design_effects = [f"{metric} {design_effect:.1f}" for metric, design_effect in summary.design_effects.items()]
    if design_effects:
        notes.append(f"design effect (variance relative to independent queries): {', '.join(design_effects)}")
    return notes + cluster_count_notes(summary.clusters.count)


def format_cluster_count(clusters: Clusters) -> str:
    """Return how many clusters there are, and where they come from."""
    reason = "as given"
    if clusters.by_source:
        reason = "by the source of their judgments (clusters=None turns that off)"
    return f"{numbers.format_count(clusters.count, 'cluster')}, {reason}"


def cluster_count_notes(n_clusters: int) -> list[str]:
    """Return the warning that there are too few clusters, if there are."""
    if n_clusters >= MIN_CLUSTERS:
        return []
    clusters = numbers.format_count(n_clusters, "cluster")
    return [f"{clusters} are few: intervals from fewer than {MIN_CLUSTERS} are rough"]


# Metrics.


def query_count_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return the warnings that there are too few queries for an interval, if there are."""
    has_few_queries = False
    has_few_unbounded = False
    for summary in metrics:
        if 0 < summary.n_queries < MIN_QUERIES:
            has_few_queries = True
        if 0 < summary.n_queries < MIN_QUERIES_UNBOUNDED:
            has_few_unbounded |= summary.metric.definition.is_given and not _has_bounds(summary.metric)
    notes = []
    if has_few_queries:
        notes.append(f"n too small: an interval of fewer than {MIN_QUERIES} queries says little")
    if has_few_unbounded:
        queries = f"fewer than {MIN_QUERIES_UNBOUNDED} queries"
        notes.append(
            f"without an upper bound, a 95 % interval from {queries} may be right in only 77 to 94 of 100 cases"
        )
    return notes


def _has_bounds(metric: Metric) -> bool:
    return bool(np.isfinite(metric.definition.bounds).all())


def residual_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return how much could be added to the mean of each metric that has a residual."""
    notes = []
    for summary in metrics:
        if summary.residual is not None:
            residual = numbers.format_value(summary.residual)
            notes.append(
                f"{summary.name}: residual {residual}, what unjudged and unseen documents could add to the mean"
            )
    return notes


def metric_notes(metrics: Sequence[Metric]) -> list[str]:
    """Return in which metrics lower is better, and which have no bounds."""
    notes = []
    lower_is_better = []
    unbounded = []
    for metric in metrics:
        if not metric.definition.higher_is_better:
            lower_is_better.append(str(metric))
        if metric.definition.is_given and not _has_bounds(metric):
            unbounded.append(str(metric))
    if lower_is_better:
        notes.append(f"lower is better in {', '.join(lower_is_better)}")
    if unbounded:
        notes.append(
            f"without bounds: {', '.join(unbounded)}; what was seen stands in for them, so a rare larger value could "
            "shift the mean further than is said here"
        )
    return notes


def tie_range_notes(tie_range: TieRange) -> list[str]:
    """Return a line for each metric that depends on the order of equal scores."""
    notes = []
    for name, n_queries in tie_range.n_queries.items():
        if n_queries:
            lowest, highest = map(numbers.format_value, tie_range.means[name])
            queries = f"{n_queries} {'query' if n_queries == 1 else 'queries'}"
            notes.append(f"{name}: between {lowest} and {highest}, by the order of equal scores in {queries}")
    return notes


# Single queries.


def format_query_score(score: QueryScore) -> str:
    """Return what the value of a query is computed from, and what went wrong."""
    ranks = ", ".join(map(str, score.relevant_ranks)) or "none"
    text = f"{score.n_relevant} relevant, {score.n_retrieved} retrieved; ranks of the relevant: {ranks}"
    if not score.is_defined:
        text = f"undefined and left out of the mean: {text}"
    return text if score.failure is None else f"{text}; {score.failure}"

"""The lines below the means: issues in the data, clusters, directions, residuals and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.empty_rankings import find_treatment
from retrieval_metrics.evaluation.ranking_depths import find_cut_metrics
from retrieval_metrics.metrics.base.metric import replace_cutoff
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.empty_rankings import Treatment
    from retrieval_metrics.evaluation.query_scores import QueryScore
    from retrieval_metrics.evaluation.ranking_depths import DepthCounts
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

# What follows a number of documents.
EXCLUDED = " excluded from the rankings before scoring (exclude=)"
DUPLICATE_TREATMENTS = {
    "ignore": "not credited",
    "count": "credited again",
    "error": "refused",
}
# What follows queries with no results. Where lower is better, an empty ranking scores 0, and a lacking one nothing.
MISSING_TREATMENTS: dict[Treatment, str] = {
    "zero": ", scored 0",
    "zero_if_higher_is_better": ", scored 0 where higher is better",
    "excluded": "; queries absent from the run are excluded, others score 0",
    "skipped": "; queries absent from the run are excluded",
}
# What follows queries on which the retriever failed.
FAILURE_TREATMENTS: dict[Treatment, str] = {
    "zero": ", scored 0",
    "zero_if_higher_is_better": ", scored 0 where higher is better, else excluded from the means",
    "excluded": ", excluded from the means",
    "skipped": "",
}

# From this number on, the metrics in which lower is better are not listed if only a few others are left to list.
MANY_LOWER_IS_BETTER = 3


def summary_notes(summary: Summary, *, has_warnings: bool = True) -> list[str]:
    """Return the lines below the table of the means, with or without what `system_wide_warnings` has, too."""
    metrics = [metric_summary.metric for metric_summary in summary.metrics]
    notes = describe_counts(summary.counts, summary.rules, metrics)
    if has_warnings and summary.unused_exclusion is not None:
        # Imported here because few evaluations leave documents out.
        from retrieval_metrics.evaluation.data_warning_wording import format_unused_exclusion

        notes.append(format_unused_exclusion(summary.unused_exclusion))
    if summary.clusters is not None:
        notes += cluster_notes(summary.clusters)
    notes += depth_notes(summary.counts, metrics)
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
        count = n_by_issue[issue]
        if count:
            noun = numbers.format_count(count, COUNTED_NOUNS.get(issue, "result"))
            if issue in QUERY_ISSUES:
                noun = numbers.format_query_count(count)
            notes.append(f"{noun}{text}")
    return notes


# What is counted, of issues that are not counted in queries or results.
COUNTED_NOUNS = {"duplicates": "duplicate result", "near_misses": "relevant document", "excluded": "document"}
# The issues that are counted in queries.
QUERY_ISSUES = frozenset({"missing", "failed", "unjudged_queries", "no_relevant", "ties"})


def _format_queries(n_queries: int, rules: Rules) -> str:
    text = numbers.format_query_count(n_queries)
    if rules.name != "standard":
        text += f", {rules.name} rules"
    if rules.unjudged == "condensed":
        text += ", condensed lists (unjudged documents removed)"
    return text


def _issue_texts(rules: Rules, metrics: Sequence[Metric]) -> dict[str, str]:
    treatment = find_treatment(metrics, rules)
    if rules.no_relevant == "zero":
        no_relevant_treatment = ", scored 0"
    elif any(not (metric.definition.higher_is_better or metric.definition.needs_relevant) for metric in metrics):
        no_relevant_treatment = ": excluded from the means of metrics that need them"
    else:
        no_relevant_treatment = ": undefined, excluded from the means"
    tie_remedy = ""
    if rules.ties != "expected":
        tie_remedy = " (ties='expected' shows the effect)"
    return {
        "missing": f" with no results{MISSING_TREATMENTS[treatment]}",
        "failed": f" on which the retriever failed{FAILURE_TREATMENTS[treatment]}",
        "unjudged_queries": " in the run but without judgments, ignored",
        "no_relevant": f" without relevant documents{no_relevant_treatment}",
        "ties": f" in which a judged document is tied on score{tie_remedy}",
        "duplicates": f", {DUPLICATE_TREATMENTS[rules.duplicates]}",
        "near_misses": " retrieved under another ID, counted as not found",
        "excluded": EXCLUDED,
        "unlocated": " with unknown source position, not matched against spans",
        "invalid_offsets": " whose offsets contradict their text or source; offsets ignored",
        "without_match_value": " without a value for match=, not compared with judged IDs",
        "ambiguous_locations": (
            " with text that occurs more than once in the source; the occurrence with a judged span was used, or else "
            "the first"
        ),
    }


def format_treatment(treatment: Treatment | None, n_queries: int) -> str:
    """Return what queries without an answer score, such as `score 0`; the treatment None says that they differ."""
    scores, are = ("scores", "is") if n_queries == 1 else ("score", "are")
    if treatment == "zero":
        return f"{scores} 0"
    if treatment == "zero_if_higher_is_better":
        return f"{scores} 0 where higher is better"
    if treatment == "excluded":
        return f"{are} excluded from the means"
    if treatment == "skipped":
        return f"{are} excluded if absent from the run"
    return f"{are} excluded unless an empty ranking was returned"


# Clusters of queries.


def cluster_notes(summary: ClusterSummary) -> list[str]:
    """Return how the queries are clustered, and the design effects."""
    notes = [f"clustered CIs: {format_cluster_count(summary.clusters)}"]
    design_effects = [f"{metric} {design_effect:.1f}" for metric, design_effect in summary.design_effects.items()]
    if design_effects:
        notes.append(f"design effect: {', '.join(design_effects)}")
    return notes + cluster_count_notes(summary.clusters.count)


def format_cluster_count(clusters: Clusters) -> str:
    """Return how many clusters there are, and where they come from."""
    count = numbers.format_count(clusters.count, "cluster")
    if clusters.by_source:
        return f"{count} by source of the judgments (clusters=None disables clustering)"
    return f"{count}, user-defined"


def cluster_count_notes(n_clusters: int) -> list[str]:
    """Return the warning that there are too few clusters, if there are."""
    if n_clusters >= MIN_CLUSTERS:
        return []
    clusters = numbers.format_count(n_clusters, "cluster")
    return [f"only {clusters}: CIs from fewer than {MIN_CLUSTERS} are approximate"]


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
        notes.append(f"CIs from fewer than {MIN_QUERIES} queries are uninformative")
    if has_few_unbounded:
        notes.append(
            f"unbounded metric with n < {MIN_QUERIES_UNBOUNDED}: the 95% CI may cover the mean in only 77 to 94% of "
            "samples"
        )
    return notes


def _has_bounds(metric: Metric) -> bool:
    return bool(np.isfinite(metric.definition.bounds).all())


def depth_notes(depths: DepthCounts, metrics: Sequence[Metric]) -> list[str]:
    """Return the line that says which metrics look further than all or most rankings go; none if none does."""
    depth = depths["longest_ranking"]
    if not depth:
        return []
    cut_metrics = find_cut_metrics(depths, metrics)
    if cut_metrics:
        return [_format_cut_rankings(depths, cut_metrics)]
    unchanged = []
    limited = []
    largest_cutoff = 0
    for metric in metrics:
        if metric.definition.is_given or not isinstance(metric.k, int) or metric.k <= depth:
            continue
        largest_cutoff = max(largest_cutoff, metric.k)
        if metric.definition.only_cuts_ranking:
            unchanged.append(metric)
        else:
            limited.append(metric)
    effects = []
    if len(unchanged) == 1:
        shown_metric = replace_cutoff(unchanged[0], depth)
        effects.append(f"{unchanged[0]} equals {shown_metric}")
    elif unchanged:
        effects.append(f"{numbers.join_names(list(map(str, unchanged)))} equal their values at cutoff {depth}")
    if limited:
        verb = "covers" if len(limited) == 1 else "cover"
        effects.append(f"{numbers.join_names(list(map(str, limited)))} {verb} only {depth}")
    if not effects:
        return []
    effect_text = ", and ".join(effects)
    longest = numbers.format_count(depth, "result")
    advice = _advise_on_depth(depths, depth, largest_cutoff)
    return [f"no ranking has more than {longest}, so {effect_text}; {advice}"]


def _advise_on_depth(depths: DepthCounts, depth: int, largest_cutoff: int) -> str:
    """Return how many documents to retrieve so that a cutoff is reached after some are left out, if there are any."""
    n_excluded = depths.get("most_excluded", 0)
    corpus_size = depths.get("corpus_size", 0)
    n_needed = largest_cutoff + n_excluded
    if not corpus_size or n_needed < corpus_size:
        return f"retrieve {n_needed} or more"
    if depth + n_excluded >= corpus_size:
        return f"the corpus has only {numbers.format_count(corpus_size, 'document')}"
    return f"retrieve all {numbers.format_count(corpus_size, 'document')}"


def _format_cut_rankings(depths: DepthCounts, cut_metrics: Sequence[Metric]) -> str:
    """Return how many rankings end early, and which metrics look further."""
    names = numbers.join_names(list(map(str, cut_metrics)))
    verb = "covers" if len(cut_metrics) == 1 else "cover"
    results = numbers.format_count(depths["cut_rank"], "result")
    largest_cutoff = max(metric.k for metric in cut_metrics if isinstance(metric.k, int))
    return (
        f"{depths['cut_rankings']:,} of {depths['rankings']:,} rankings end at rank {depths['cut_rank']}, so {names} "
        f"{verb} only {results} there; {_advise_on_depth(depths, depths['cut_rank'], largest_cutoff)}"
    )


def residual_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return how much could be added to the mean of each metric that has a residual."""
    notes = []
    for summary in metrics:
        if summary.residual is not None:
            residual = numbers.format_value(summary.residual)
            notes.append(
                f"{summary.name} residual {residual}: maximum contribution of unjudged and unretrieved documents to "
                "the mean"
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
        others = [str(metric) for metric in metrics if metric.definition.higher_is_better]
        if len(lower_is_better) >= MANY_LOWER_IS_BETTER and len(others) == 1:
            notes.append(f"lower is better for all metrics except {others[0]}")
        else:
            notes.append(f"lower is better for {', '.join(lower_is_better)}")
    if unbounded:
        notes.append(
            f"no bounds given for {', '.join(unbounded)}: the observed range is used, so a rare larger value could "
            "shift the mean beyond the stated limits"
        )
    return notes


def tie_range_notes(tie_range: TieRange) -> list[str]:
    """Return a line for each metric that depends on the order of equal scores."""
    notes = []
    for name, n_queries in tie_range.n_queries.items():
        if n_queries:
            lowest, highest = map(numbers.format_value, tie_range.means[name])
            queries = numbers.format_query_count(n_queries)
            notes.append(f"{name}: {lowest} to {highest} depending on tie-breaking ({queries})")
    return notes


# Single queries.


def format_query_score(score: QueryScore) -> str:
    """Return what the value of a query is computed from, and what went wrong."""
    text = f"{score.n_relevant} relevant, {score.n_retrieved} retrieved"
    if score.relevant_ranks:
        ranks = "rank" if len(score.relevant_ranks) == 1 else "ranks"
        text += f"; relevant at {ranks} {', '.join(map(str, score.relevant_ranks))}"
    elif score.n_retrieved:
        text += "; no relevant document retrieved"
    if not score.is_defined:
        # Some metrics are undefined for other reasons, such as judged if nothing was retrieved.
        if not score.n_relevant:
            text = f"no relevant document, {score.n_retrieved} retrieved"
        text = f"undefined, excluded from the mean: {text}"
    return text if score.failure is None else f"{text}; {score.failure}"

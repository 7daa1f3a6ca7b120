"""Make the tables that are printed of a comparison, and the notes about how it was made."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.comparison.comparison_wording import format_judged_shares
from retrieval_metrics.comparison.suffix_wording import format_graded_documents
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes, format_cluster_count, metric_notes
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds


# The largest number of pairs for which a comparison prints every difference; for more it prints the ranking.
MAX_PRINTED_PAIRS = 2

# The quantiles of the time of a query that are printed, by their names in the header.
QUANTILES = {"median": 0.5, "95th percentile": 0.95, "longest": 1.0}

# What the columns mean, for readers of a report.
GLOSSARY = {
    "judged": "how many of a system's first documents have a judgment. The others count as not relevant, unless they "
    "were taken out of the rankings.",
    "interval": "those of all comparisons made here together contain the true values with the given probability, and "
    "each excludes 0 exactly if p is small enough for a finding. A - means that there are too few for an interval.",
    "p": "the probability that any of the comparisons made here would show this much if no two systems differed. It is "
    "computed by exchanging the systems on random choices of queries, the same for all metrics, and assumes that a "
    "difference is as likely as its opposite; at most 0.05 counts as a finding at 95 %.",
    "effect": "the mean difference in standard deviations of the differences.",
    "won/tied/lost": "the number of queries on which the first system is better, equal and worse.",
    "detects": "a true difference of this size would be found in 80 % of such evaluations, if it is spread over the "
    "queries as the differences seen are. A - means that it is unknown: there are too few queries, or none differs.",
}


def comparison_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return the means, the differences and the conclusions of each pair, or only the ranking if there are many."""
    if len(comparison.differences.by_pair) <= MAX_PRINTED_PAIRS:
        return _tables_of_few_pairs(comparison)
    return _tables_of_many_pairs(comparison)


def _tables_of_few_pairs(comparison: ComparisonRecord) -> list[Table]:
    tables = [means_table(comparison)]
    tables += [differences.table() for differences in comparison.differences.by_pair.values()]
    tables.append(Table((), (), [*comparison.conclusions.sentences, *method_notes(comparison)]))
    return [*tables, *retrieval_tables(comparison), *notes_tables(comparison)]


def _tables_of_many_pairs(comparison: ComparisonRecord) -> list[Table]:
    conclusions = comparison.conclusions
    ranking = comparison.ranking
    times = retrieval_tables(comparison)
    n_pairs = numbers.format_count(len(comparison.differences.by_pair), "pair")
    notes = [
        *conclusions.caveats,
        *ranking.sentences,
        *conclusions.selection_bias_notes,
        f"print(comparison.conclusions) says what each of the {n_pairs} shows",
        *method_notes(comparison, has_conclusions=False),
    ]
    if times:
        # The times stand in their own table.
        ranking = replace(ranking, seconds={})
    ranking_table, *further_tables = ranking.tables
    ranking_table = ranking_table._replace(notes=[*ranking_table.notes, *_judged_notes(comparison)])
    return [ranking_table, *further_tables, *times, *notes_tables(comparison), Table((), (), notes)]


def means_table(comparison: ComparisonRecord) -> Table:
    """Return the mean of every system in every metric, with its interval."""
    rows = []
    for name, mean_by_system in comparison.means.items():
        interval_by_system = comparison.intervals[name]
        cells = [numbers.format_mean(mean, interval_by_system[system]) for system, mean in mean_by_system.items()]
        rows.append([name, *cells, str(comparison.n[name])])
    return Table(["metric", *comparison.systems, "n"], rows, _judged_notes(comparison))


def _judged_notes(comparison: ComparisonRecord) -> list[str]:
    """Return how much of each system is judged, and the bounds of the means over all grades, if they were computed."""
    notes = []
    if comparison.judged_coverage is not None:
        notes.append(f"judged {format_judged_shares(comparison.judged_coverage)}")
    if comparison.unjudged is not None:
        notes += [_format_mean_bounds(comparison.unjudged, metric) for metric in comparison.unjudged.means]
    return notes


def _format_mean_bounds(bounds: UnjudgedBounds, metric: str) -> str:
    """Return the bounds of the means of a metric over all grades of the unjudged documents."""
    grades = ", ".join(f"{grade:g}" for grade in bounds.grades)
    ranges = []
    for system, (low, high) in bounds.means[metric].items():
        ranges.append(f"{system} {numbers.format_value(low)} to {numbers.format_value(high)}")
    n_outer = bounds.outer[metric]
    exactness = "exact"
    if n_outer:
        exactness = f"outer bounds: too many grades to try in {numbers.format_query_count(n_outer)}"
    documents = format_graded_documents(bounds.depths[metric], bounds.unretrieved_relevant)
    return f"{metric} with any grades ({grades}) of {documents}: {', '.join(ranges)} ({exactness})"


def retrieval_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return a table with one row per system whose run has times or errors; no table if there is none."""
    rows = []
    notes = []
    for name, scores in comparison.scores.items():
        errors = scores.errors
        if scores.seconds or errors:
            rows.append([name, str(len(errors)), *_format_quantiles(scores.seconds.values())])
        if errors:
            query, error = next(iter(errors.items()))
            notes.append(
                f"{name} failed for {numbers.format_query_count(len(errors))}, for example {query!r}: "
                f"{type(error).__name__}: {error}"
            )
    return [Table(["system", "failed", *QUANTILES], rows, notes, "seconds per query")] if rows else []


def notes_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return what differs besides the rankings, if saved evaluations were compared."""
    return [Table([], [], comparison.notes, "what differs besides the rankings")] if comparison.notes else []


def _format_quantiles(seconds: Collection[float]) -> list[str]:
    if not seconds:
        return ["-"] * len(QUANTILES)
    quantiles = np.quantile(list(seconds), list(QUANTILES.values())).tolist()
    return [numbers.format_three_digits(quantile) for quantile in quantiles]


def method_notes(comparison: ComparisonRecord, *, has_conclusions: bool = True) -> list[str]:
    """Return how the differences were tested, and what was left out.

    Args:
        comparison: The comparison.
        has_conclusions: Whether the conclusion of every pair stands above these notes.
    """
    notes = [_format_test(comparison)]
    notes += _missing_interval_notes(comparison)
    notes += metric_notes(comparison.metrics)
    notes += _cluster_notes(comparison)
    if comparison.margin is not None:
        notes.append(_format_margin_level(comparison, has_conclusions=has_conclusions))
    notes += _left_out_notes(comparison)
    return notes


def _format_test(comparison: ComparisonRecord) -> str:
    is_exact = all(difference.paired.exact for difference in comparison.differences)
    # All differences of a comparison were corrected for the same number of tests and choices.
    difference = comparison.differences[0]
    corrections = []
    if difference.comparisons > 1:
        corrections.append(f"for {difference.comparisons} comparisons")
    if difference.selected_from > 1:
        corrections.append(f"for the choice from {difference.selected_from:,} pairs of results")
    test = "Exact randomisation test" if is_exact else "Randomisation test"
    return f"{test}, corrected {' and '.join(corrections)}" if corrections else test


def _missing_interval_notes(comparison: ComparisonRecord) -> list[str]:
    """Return a note if some metrics have too few queries, or clusters, for an interval."""
    n_units = []
    metrics: dict[str, None] = {}
    for difference in comparison.differences:
        if difference.n and isnan(difference.interval.low):
            n_units.append(difference.n_units)
            metrics[difference.metric] = None
    if not n_units:
        return []
    max_units = max(n_units)
    units = numbers.format_query_count(max_units)
    if comparison.differences[0].clusters is not None:
        units = numbers.format_count(max_units, "cluster")
    verb = "is" if max_units == 1 else "are"
    level = f"{100 * comparison.level:g} %"
    return [
        f"no interval of {numbers.join_names(list(metrics))} can be given at {level}: {units} {verb} too few for one"
    ]


def _format_margin_level(comparison: ComparisonRecord, *, has_conclusions: bool) -> str:
    level = f"by itself at a one-sided level of {100 * comparison.level:g} %"
    if has_conclusions:
        return f"margin: each sentence {level}"
    where = "" if comparison.baseline is not None else " (print(comparison.conclusions) has it)"
    return f"margin{where}: each system and metric {level}"


def _left_out_notes(comparison: ComparisonRecord) -> list[str]:
    """Return a note for each metric whose means leave out queries that some system does not have."""
    is_defined = ~np.isnan(comparison.paired_values.values)
    max_n_by_metric = is_defined.sum(axis=1).max(axis=0).tolist()
    notes = []
    for max_n, (name, n_paired) in zip(max_n_by_metric, comparison.n.items(), strict=True):
        if max_n > n_paired:
            queries = numbers.format_query_count(n_paired)
            notes.append(f"{name}: means over the {queries} that every system has, of {max_n:,}")
    return notes


def _has_clusters(comparison: ComparisonRecord) -> bool:
    return comparison.clusters is not None and comparison.clusters.labels is not None


def _cluster_notes(comparison: ComparisonRecord) -> list[str]:
    clusters = comparison.clusters
    if clusters is None or clusters.labels is None:
        return []
    note = f"queries in {format_cluster_count(clusters)}; intervals and tests take whole clusters"
    return [note, *cluster_count_notes(clusters.count)]


def design_effect_notes(comparison: ComparisonRecord) -> list[str]:
    """Return a note on how much clusters enlarge the variances of the differences, if there are clusters."""
    effects = []
    for difference in comparison.differences:
        if difference.paired.design_effect > 0:
            effects.append(difference.paired.design_effect)
    if not effects or not _has_clusters(comparison):
        return []
    lowest = f"{min(effects):.1f}"
    highest = f"{max(effects):.1f}"
    effect_range = lowest if lowest == highest else f"{lowest} to {highest}"
    return [f"design effect of the differences (variance relative to independent queries): {effect_range}"]

"""Make the tables that are printed of a comparison, and the notes about how it was made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.redaction import show_error
from retrieval_metrics.comparison.comparison_wording import format_judged_shares, judged_coverage_note
from retrieval_metrics.comparison.difference import difference_cells
from retrieval_metrics.comparison.suffix_wording import format_graded_documents
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes, format_cluster_count, metric_notes
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.conclusions import Conclusions
    from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds
    from retrieval_metrics.inputs.items import QueryTexts


# The largest number of pairs for which a comparison prints every difference; for more it prints the ranking.
MAX_PRINTED_PAIRS = 2

# A longer name of a difference, such as `new - old`, would make its column too wide.
MAX_DIFFERENCE_NAME = 24

MDE_MEANING = "MDE: minimum detectable effect, detected with about 80% power if spread over the queries as observed"
EFFECT_SIZE_MEANING = "d_z: effect size, the mean difference in standard deviations of the differences"

# The quantiles of the time of a query that are printed, by their names in the header.
QUANTILES = {"median": 0.5, "95th percentile": 0.95, "longest": 1.0}

# What the columns mean, for readers of a report.
GLOSSARY = {
    "judged@k": "the share of a system's first k documents that is judged. The others count as not relevant, unless "
    "they were removed from the rankings (condensed lists).",
    "CI": "confidence interval of a difference, simultaneous over all comparisons made here: together they have the "
    "given coverage, and each excludes 0 exactly if p is significant. A - means that there are too few queries.",
    "p": "the probability that any comparison made here shows a difference this large if no two systems differ "
    "(randomisation test: the systems are exchanged on random sets of queries, the same for all metrics; assumes "
    "differences symmetric about 0); at most 0.05 is significant at 95%.",
    "d_z": "the effect size: the mean difference in standard deviations of the differences.",
    "W/T/L": "wins/ties/losses: the number of queries on which the first system is better, equal and worse.",
    "MDE": "minimum detectable effect: a true difference of this size is detected with about 80% power if it is "
    "spread over the queries as observed. A - means that it is unknown: there are too few queries, or none differs.",
}


def comparison_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return the means, the differences and the conclusions of each pair, or only the ranking if there are many."""
    n_pairs = len(comparison.differences.by_pair)
    if n_pairs > MAX_PRINTED_PAIRS:
        return _tables_of_many_pairs(comparison)
    if n_pairs == 1:
        tables = [_pair_table(comparison)]
    else:
        tables = [means_table(comparison)]
        tables += [differences.table() for differences in comparison.differences.by_pair.values()]
    tables.append(Table((), (), [*comparison.conclusions.sentences, *method_notes(comparison)]))
    return [*tables, *retrieval_tables(comparison), *notes_tables(comparison)]


@dataclass(frozen=True, eq=False)
class ComparisonDetails(Printed):
    """The numbers behind a comparison: means with their intervals, effect sizes, MDEs and the largest changes.

    Attributes:
        comparison: The comparison.
    """

    comparison: ComparisonRecord

    def _tables(self) -> list[Table]:
        comparison = self.comparison
        tables = [means_table(comparison)]
        for differences in comparison.differences.by_pair.values():
            tables.append(differences.table(whole=True, texts=_query_texts(comparison)))
        notes = [*design_effect_notes(comparison), MDE_MEANING, EFFECT_SIZE_MEANING]
        return [*tables, Table((), (), notes)]

    def __repr__(self) -> str:
        return f"<ComparisonDetails: {numbers.format_count(len(self.comparison.differences), 'difference')}>"


def _query_texts(comparison: ComparisonRecord) -> QueryTexts:
    """Return the texts of the queries, as far as the judgments came with them."""
    for scores in comparison.scores.values():
        if scores.query_texts:
            return scores.query_texts
    return {}


def _pair_table(comparison: ComparisonRecord) -> Table:
    """Return the means and the difference of the only two systems, in one row per metric."""
    differences = comparison.differences
    system, baseline = comparison.pairs[0]
    difference_name = f"{system} - {baseline}"
    if len(difference_name) > MAX_DIFFERENCE_NAME:
        difference_name = "difference"
    interval_name = numbers.level_name(comparison.level)
    header = ["metric", *comparison.systems, difference_name, interval_name, "p", "W/T/L", "n"]
    rows = []
    for difference in differences:
        name = difference.metric
        means = [numbers.format_value(mean) for mean in comparison.means[name].values()]
        rows.append([name, *means, *difference_cells(difference), str(comparison.n[name])])
    return Table(header, rows, _judged_notes(comparison))


def _tables_of_many_pairs(comparison: ComparisonRecord) -> list[Table]:
    conclusions = comparison.conclusions
    ranking = comparison.ranking
    times = retrieval_tables(comparison)
    n_pairs = numbers.format_count(len(comparison.differences.by_pair), "pair")
    notes = [
        *conclusions.caveats,
        *ranking.sentences,
        *conclusions.selection_bias_notes,
        f"print(comparison.conclusions) lists all {n_pairs}",
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
    """Return how much of each system is judged, and the bounds of the means over all grades, if they were computed.

    The share that is judged is left out where everything is judged, or where a caveat says it.
    """
    notes = []
    coverage = comparison.judged_coverage
    if coverage is not None:
        is_all_judged = all(share == 1 for share in coverage.shares.values())
        if not is_all_judged and not judged_coverage_note(comparison):
            notes.append(format_judged_shares(coverage))
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
        exactness = f"outer bounds: not enumerated for {numbers.format_query_count(n_outer)}"
    documents = format_graded_documents(bounds.depths[metric], bounds.unretrieved_relevant)
    return f"{metric} bounds over all grades ({grades}) of {documents}: {', '.join(ranges)} ({exactness})"


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
                f"{show_error(error)}"
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
    test = [_format_test(comparison)]
    if comparison.margin is not None:
        test.append(_format_margin_level(comparison, has_conclusions=has_conclusions))
    if _name_an_mde(comparison.conclusions):
        test.append(MDE_MEANING)
    test += _missing_interval_notes(comparison)
    notes = ["; ".join(test)]
    notes += metric_notes(comparison.metrics)
    notes += _cluster_notes(comparison)
    notes += _left_out_notes(comparison)
    return notes


def _name_an_mde(conclusions: Conclusions) -> bool:
    """Return whether a sentence names a minimum detectable effect, without computing that of every pair."""
    for conclusion in conclusions:
        is_undecided = conclusion.kind == "not_significant" and not conclusion.has_too_few_units
        if is_undecided and isfinite(conclusion.details.mde().spread):
            return True
    return False


def _format_test(comparison: ComparisonRecord) -> str:
    is_exact = all(difference.paired.exact for difference in comparison.differences)
    # All differences of a comparison were corrected for the same number of tests and choices.
    difference = comparison.differences[0]
    corrections = []
    if difference.comparisons > 1:
        corrections.append(f"for {difference.comparisons} comparisons")
    if difference.selected_from > 1:
        corrections.append(f"for selection from {difference.selected_from:,} pairs of results")
    test = "Exact randomisation test" if is_exact else "Randomisation test"
    return f"{test}; p values and CIs corrected {' and '.join(corrections)}" if corrections else test


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
    level = numbers.level_name(comparison.level)
    return [f"no {level} of {numbers.join_names(list(metrics))}: {units} {verb} too few"]


def _format_margin_level(comparison: ComparisonRecord, *, has_conclusions: bool) -> str:
    where = ""
    if not has_conclusions and comparison.baseline is None:
        where = " (in print(comparison.conclusions))"
    level = f"{100 * comparison.level:g}%"
    return f"non-inferiority{where}: one-sided {level} tests, not corrected for multiple comparisons"


def _left_out_notes(comparison: ComparisonRecord) -> list[str]:
    """Return a note for each metric whose means leave out queries that some system does not have."""
    is_defined = ~np.isnan(comparison.paired_values.values)
    max_n_by_metric = is_defined.sum(axis=1).max(axis=0).tolist()
    notes = []
    for max_n, (name, n_paired) in zip(max_n_by_metric, comparison.n.items(), strict=True):
        if max_n > n_paired:
            queries = numbers.format_query_count(n_paired)
            notes.append(f"{name}: means over the {queries} common to all systems (of {max_n:,})")
    return notes


def _has_clusters(comparison: ComparisonRecord) -> bool:
    return comparison.clusters is not None and comparison.clusters.labels is not None


def _cluster_notes(comparison: ComparisonRecord) -> list[str]:
    clusters = comparison.clusters
    if clusters is None or clusters.labels is None:
        return []
    note = f"queries in {format_cluster_count(clusters)}; CIs and tests treat clusters as units"
    return ["; ".join([note, *cluster_count_notes(clusters.count)])]


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
    return [f"design effect of the differences: {effect_range}"]

"""Write how the differences of a comparison were tested, and what its columns mean."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.summary_wording import cluster_count_notes, format_cluster_count, metric_notes
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.conclusions import Conclusions

MINIMUM_DETECTABLE_EFFECT = (
    "minimum detectable effect, with about 80% power if differences vary over queries as observed"
)
EFFECT_SIZE = "effect size, the mean difference divided by the SD of the differences"
# Notes that say what these columns are.
MDE_MEANING = f"MDE: {MINIMUM_DETECTABLE_EFFECT}"
EFFECT_SIZE_MEANING = f"d_z: {EFFECT_SIZE}"
COUNTS_MEANING = (
    "W/T/L: numbers of queries on which the first system in the difference (a in a - b) wins, ties and loses"
)

# What the columns mean, for readers of a report.
GLOSSARY = {
    "judged@k": "the share of a system's first k documents that is judged. The others count as not relevant, unless "
    "they were removed from the rankings (condensed lists).",
    "CI": "confidence interval of a difference, simultaneous over all comparisons made here: together they have the "
    "given coverage, and each excludes 0 exactly if p is significant. A dash means that there are too few queries, or "
    "that the systems are not comparable.",
    "p": "the probability that any comparison made here shows a difference this large if no two systems differ "
    "(randomisation test: the systems are exchanged on random sets of queries, the same for all metrics; assumes "
    "differences symmetric about 0); at most 0.05 is significant at 95%.",
    "d_z": f"{EFFECT_SIZE}.",
    "W/T/L": "wins/ties/losses: the number of queries on which the first system in the difference (a in a - b) is "
    "better, equal and worse.",
    "MDE": f"{MINIMUM_DETECTABLE_EFFECT}. A dash means that it is unknown: there are too few queries, none "
    "differs, or the systems are not comparable.",
}


def method_notes(comparison: ComparisonRecord, *, has_conclusions: bool = True) -> list[str]:
    """Return how the differences were tested, and what was left out.

    Args:
        comparison: The comparison.
        has_conclusions: Whether the conclusion of every pair stands above these notes.
    """
    method_parts = []
    if any(difference.comparable for difference in comparison.differences):
        method_parts.append(_format_test(comparison))
        if comparison.margin is not None:
            method_parts.append(_format_margin_level(comparison, has_conclusions=has_conclusions))
    if _mentions_mde(comparison.conclusions):
        method_parts.append(MDE_MEANING)
    method_parts += _missing_interval_notes(comparison)
    notes = ["; ".join(method_parts)] if method_parts else []
    notes += metric_notes(comparison.metrics)
    notes += _cluster_notes(comparison)
    notes += _left_out_notes(comparison)
    return notes


def _mentions_mde(conclusions: Conclusions) -> bool:
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
        corrections.append(f"for {difference.comparisons} comparisons (step-down)")
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

"""What is printed of a comparison: its tables, and the notes about how it was made."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.comparison.system_ranking import rank_systems
from retrieval_metrics.evaluation.summary import (
    few_clusters_notes,
    format_cluster_count,
    given_metric_notes,
)
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.comparison.system_ranking import ComparisonRecord


FEW_PAIRS = 2
"""The largest number of pairs for which a comparison prints every difference; for more it prints the ranking."""
QUANTILES = {"median": 0.5, "95th percentile": 0.95, "longest": 1.0}
"""How long a retriever takes."""

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
"""What the columns mean, for readers of a report."""


def comparison_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return the means, the differences of each pair and the conclusions; of many pairs, the ranking instead."""
    timed, notes = retrieval_tables(comparison), notes_tables(comparison)
    conclusions, pairs = comparison.conclusions, comparison.differences.by_pair
    if len(pairs) <= FEW_PAIRS:
        words = Table((), (), [*conclusions.sentences, *method_notes(comparison)])
        return [means_table(comparison), *(those.table() for those in pairs.values()), words, *timed, *notes]
    ranking = rank_systems(comparison)
    more = python_or_cli_text("print(comparison.conclusions)", "--format json")
    said = [
        *conclusions.caveats,
        *ranking.sentences,
        *conclusions.selection_bias_notes,
        f"{more} says what each of the {numbers.format_count(len(pairs), 'pair')} shows",
        *method_notes(comparison, pairs=False),
    ]
    ranked, *further = (replace(ranking, seconds={}) if timed else ranking).tables  # not the seconds twice
    ranked = ranked._replace(notes=[*ranked.notes, *_said_of_judged(comparison)])
    return [ranked, *further, *timed, *notes, Table((), (), said)]


def means_table(comparison: ComparisonRecord) -> Table:
    """Return the mean of every system in every metric, with its interval."""
    rows = []
    for name, by_system in comparison.means.items():
        ends = comparison.intervals[name]
        cells = [numbers.mean(mean, ends[system]) for system, mean in by_system.items()]
        rows.append([name, *cells, str(comparison.n[name])])
    return Table(["metric", *comparison.systems, "n"], rows, _said_of_judged(comparison))


def _said_of_judged(comparison: ComparisonRecord) -> list[str]:
    """Return how much of each system is judged, and the means with any grades of the rest, if that was asked."""
    notes = [] if comparison.judged_coverage is None else [f"judged {comparison.judged_coverage.shares_in_words}"]
    if (bounds := comparison.unjudged) is None:
        return notes
    grades = ", ".join(f"{grade:g}" for grade in bounds.grades)
    for metric, of_systems in bounds.means.items():
        ends = ", ".join(
            f"{name} {numbers.value(low)} to {numbers.value(high)}" for name, (low, high) in of_systems.items()
        )
        outer = bounds.outer[metric]
        kind = f"outer bounds: too many grades to try in {numbers.format_query_count(outer)}" if outer else "exact"
        notes.append(f"{metric} with any grades ({grades}) of {bounds.graded(metric)}: {ends} ({kind})")
    return notes


def retrieval_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return a table with one row per system whose run has times or errors; no table if there is none."""
    rows, notes = [], []
    for name, scores in comparison.scores.items():
        seconds, errors = scores.seconds, scores.errors
        if seconds or errors:
            rows.append([name, str(len(errors)), *_quantiles(seconds.values())])
        for query, error in list(errors.items())[:1]:
            notes.append(
                f"{name} failed for {numbers.format_query_count(len(errors))}, for example {query!r}: "
                f"{type(error).__name__}: {error}"
            )
    return [Table(["system", "failed", *QUANTILES], rows, notes, "seconds per query")] if rows else []


def notes_tables(comparison: ComparisonRecord) -> list[Table]:
    """Return what differs besides the rankings, if saved evaluations were compared."""
    return [Table([], [], comparison.notes, "what differs besides the rankings")] if comparison.notes else []


def _quantiles(seconds: Collection[float]) -> list[str]:
    if not seconds:
        return ["-"] * len(QUANTILES)
    return [numbers.three(value) for value in np.quantile(list(seconds), list(QUANTILES.values())).tolist()]


def method_notes(comparison: ComparisonRecord, *, pairs: bool = True) -> list[str]:
    """Return how the differences were tested, and what was left out."""
    tests = comparison.differences[0].comparisons
    exact = all(each.paired.exact for each in comparison.differences)
    corrected = f", corrected for {tests} comparisons" if tests > 1 else ""
    if (looks := comparison.differences[0].selected_from) > 1:
        corrected += f"{' and' if corrected else ', corrected'} for the choice from {looks:,} pairs of results"
    notes = [f"{'Exact randomisation test' if exact else 'Randomisation test'}{corrected}"]
    short = {each.n_units for each in comparison.differences if each.n and isnan(each.interval.low)}
    if short:
        most = max(short)
        what = (
            numbers.format_query_count(most)
            if comparison.differences[0].clusters is None
            else numbers.format_count(most, "cluster")
        )
        few = "is too few" if most == 1 else "are too few"
        notes.append(f"no interval can be given at {100 * comparison.level:g} %: {what} {few} for one")
    notes += given_metric_notes(comparison.metrics)
    notes += _said_of_clusters(comparison)
    if comparison.margin is not None:
        each = "sentence" if pairs else "system and metric"
        shown = python_or_cli_text("print(comparison.conclusions)", "--format json")
        where = "" if pairs or comparison.baseline is not None else f" ({shown} has it)"
        notes.append(f"margin{where}: each {each} by itself at a one-sided level of {100 * comparison.level:g} %")
    defined = (~np.isnan(comparison.paired_values.values)).sum(axis=1).max(axis=0).tolist()
    for most, (name, paired_on) in zip(defined, comparison.n.items(), strict=True):
        if most > paired_on:
            notes.append(
                f"{name}: means over the {numbers.format_query_count(paired_on)} that every system has, of {most:,}"
            )
    return notes


def _said_of_clusters(comparison: ComparisonRecord) -> list[str]:
    clusters = comparison.clusters
    if clusters is None or clusters.labels is None:
        return []
    said = f"queries in {format_cluster_count(clusters)}; intervals and tests take whole clusters"
    return [said, *few_clusters_notes(clusters.count)]


def design_effect_notes(comparison: ComparisonRecord) -> list[str]:
    """Return by how much clusters enlarge the variances of the differences, if there are clusters."""
    effects = [each.paired.design_effect for each in comparison.differences if each.paired.design_effect > 0]
    if comparison.clusters is None or comparison.clusters.labels is None or not effects:
        return []
    ends = " to ".join(dict.fromkeys(f"{effect:.1f}" for effect in (min(effects), max(effects))))
    return [f"design effect of the differences (variance relative to independent queries): {ends}"]

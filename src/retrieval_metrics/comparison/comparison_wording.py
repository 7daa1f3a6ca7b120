"""The notes about a comparison as a whole: what the data allow, and what differs besides the rankings."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.comparison.common_ground import CommonGround, MetricMismatch, QueryMismatch
    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
    from retrieval_metrics.comparison.selection_bias import SelectionBias

# The number of queries named as those that moved most.
MAX_CHANGES = 3


def largest_changes_note(difference: Difference) -> str:
    """Return which queries changed most in a metric, in either direction."""
    changes = [f"{query} {numbers.format_signed(change)}" for query, change in difference.largest_changes(MAX_CHANGES)]
    return f"moved most in {difference.metric}: {', '.join(changes) or 'none'}"


def selection_bias_notes(biases: Sequence[SelectionBias]) -> list[str]:
    """Return the means to expect of the best systems on new questions, for all metrics in which that can be seen."""
    visible = [bias for bias in biases if _is_visible(bias)]
    if not visible:
        return []
    means = numbers.join_names(list(map(_format_expected_mean, visible)), most=MAX_NAMES)
    n_systems = visible[0].n_systems
    return [f"The best of {n_systems} systems is flattered by the choice: on new questions, expect {means}."]


def _is_visible(bias: SelectionBias) -> bool:
    """Return whether the expected mean is lower than the observed one, as printed."""
    return bias.is_optimistic and numbers.format_value(bias.expected) != numbers.format_value(bias.observed)


def _format_expected_mean(bias: SelectionBias) -> str:
    expected = numbers.format_value(bias.expected)
    observed = numbers.format_value(bias.observed)
    return f"about {expected} in {bias.metric} ({bias.system} has {observed} here)"


def format_judged_shares(coverage: JudgedCoverage) -> str:
    """Return how much of each system is judged."""
    return f"of the first {coverage.k} retrieved: {_format_shares(coverage.shares)}"


def _format_shares(shares: Mapping[str, float]) -> str:
    texts = []
    for name, share in shares.items():
        percentage = "-" if isnan(share) else f"{100 * share:.0f} %"
        texts.append(f"{name} {percentage}")
    return ", ".join(texts)


def judged_coverage_note(comparison: ComparisonRecord) -> str:
    """Return how unjudged documents were treated, where that alone could explain a difference."""
    coverage = comparison.judged_coverage
    if coverage is None:
        return ""
    shares = format_judged_shares(coverage)
    if any(scores.rules.unjudged == "condensed" for scores in comparison.scores.values()):
        favoured = ""
        if coverage.least_judged is not None:
            favoured = f", so it favours {coverage.least_judged}"
        return (
            "Unjudged documents were taken out of the rankings, which favours the system that is judged less "
            f"(Sakai and Kando 2008): judged {shares}{favoured}."
        )
    if not coverage.is_unbalanced:
        return ""
    remedy = ""
    if comparison.unjudged is None:
        remedy = "; unjudged='bounds' shows how much"
    return (
        f"The systems are not judged alike ({shares}). Unjudged documents count as not relevant, "
        f"which alone can make a difference{remedy}."
    )


# What differs between evaluations.


def common_ground_notes(ground: CommonGround) -> list[str]:
    """Return what differs between the compared evaluations, besides their rankings."""
    notes = list(map(format_query_mismatch, ground.query_mismatches))
    if notes:
        notes.append(f"Compared on {numbers.format_query_count(ground.n_queries)} that are the same in all.")
    notes += map(format_metric_mismatch, ground.metric_mismatches)
    return notes


def format_query_mismatch(mismatch: QueryMismatch) -> str:
    """Return how many queries of two evaluations cannot be compared, and why."""
    systems = " and ".join(map(repr, mismatch.systems))
    if mismatch.kind == "only_in_one":
        reason = f"only in {systems}"
    elif mismatch.kind == "worded_differently":
        reason = f"worded differently in {systems}"
    else:
        reason = f"judged differently in {systems}"
    total = numbers.format_query_count(mismatch.n_total)
    return f"{mismatch.n_queries:,} of {total} {reason}, such as {mismatch.example!r}."


def format_metric_mismatch(mismatch: MetricMismatch) -> str:
    """Return why a metric cannot be compared."""
    if mismatch.missing_in:
        return f"{mismatch.metric} was not computed in {', '.join(map(repr, mismatch.missing_in))}."
    return f"{mismatch.metric} divides by the largest grade, which differs, so it is left out."

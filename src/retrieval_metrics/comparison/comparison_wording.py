"""Write the notes about a comparison as a whole: unequal judgments, the selection bias, the largest changes."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
    from retrieval_metrics.comparison.selection_bias import SelectionBias

# The number of queries that are named because their values changed most.
MAX_CHANGES = 3


def largest_changes_note(difference: Difference) -> str:
    """Return which queries changed most in a metric, in either direction."""
    changes = [f"{query} {numbers.format_signed(change)}" for query, change in difference.largest_changes(MAX_CHANGES)]
    return f"moved most in {difference.metric}: {', '.join(changes) or 'none'}"


def selection_bias_notes(biases: Sequence[SelectionBias]) -> list[str]:
    """Return the means to expect of the best systems on new questions, for the metrics in which the bias is visible."""
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
        percentage = "-" if isnan(share) else f"{100 * share:.0f}%"
        texts.append(f"{name} {percentage}")
    return ", ".join(texts)


def judged_coverage_note(comparison: ComparisonRecord) -> str:
    """Return how unjudged documents were treated, if that alone could explain a difference."""
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

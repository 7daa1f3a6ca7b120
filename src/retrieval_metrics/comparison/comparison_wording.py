"""Write the notes about a comparison as a whole: what is unjudged, the selection bias, the largest changes."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.comparison.suffix_wording import format_graded_documents
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import quote_query_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds
    from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
    from retrieval_metrics.comparison.selection_bias import SelectionBias

# What the column `effect` of documents to judge is.
EFFECT_MEANING = (
    "effect: the largest change in a mean difference, over all metrics and pairs, if the document had the highest grade"
)

# The number of queries that are named because their values changed most.
MAX_CHANGES = 3


def largest_changes_note(difference: Difference, texts: Mapping[Any, str]) -> str:
    """Return which queries changed most in a metric, in either direction; empty if none changed.

    Args:
        difference: The difference.
        texts: The texts of the queries that are known, by query id; they are shown beside the ids.
    """
    changes = []
    for query, change in difference.largest_changes(MAX_CHANGES):
        name = f"{query}{quote_query_text(query, texts)}"
        changes.append(f"{name} {numbers.format_signed(change)}")
    if not changes:
        return ""
    return f"largest changes in {difference.metric}: {', '.join(changes)}"


def format_shown_pairs(comparison: ComparisonRecord, shown_systems: Collection[str]) -> str:
    """Return of which systems a report shows the pairs and the queries, and where the others are."""
    n_pairs = numbers.format_count(len(comparison.pairs), "pair")
    return (
        f"Only {len(shown_systems)} of {len(comparison.systems):,} systems are shown: the best, and any baseline; "
        f"print(comparison.conclusions) lists all {n_pairs}."
    )


def selection_bias_notes(biases: Sequence[SelectionBias]) -> list[str]:
    """Return the means to expect of the best systems on new questions, for the metrics in which the bias is visible."""
    visible = [bias for bias in biases if _is_visible(bias)]
    if not visible:
        return []
    means = numbers.join_names(list(map(_format_expected_mean, visible)), most=MAX_NAMES)
    n_systems = visible[0].n_systems
    expectation = f"on new questions, expect the best of {n_systems} systems to average {means}"
    return [f"Selection bias: {expectation}; out-of-bag estimates."]


def _is_visible(bias: SelectionBias) -> bool:
    """Return whether the expected mean is lower than the observed one, as printed."""
    return bias.is_optimistic and numbers.format_value(bias.expected) != numbers.format_value(bias.observed)


def _format_expected_mean(bias: SelectionBias) -> str:
    expected = numbers.format_value(bias.expected)
    observed = numbers.format_value(bias.observed)
    return f"about {expected} in {bias.metric} (observed for {bias.system}: {observed})"


def format_judged_shares(coverage: JudgedCoverage) -> str:
    """Return the share of the first results of each system that is judged."""
    return f"judged@{coverage.k}: {_format_shares(coverage.shares)}"


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
            favoured = f", here {coverage.least_judged}"
        return (
            "Condensed lists (unjudged documents removed) favour the system with the lower judged@k"
            f"{favoured} (Sakai and Kando 2008; {shares})."
        )
    # Where ids do not match, that is why little is judged, and another warning says so.
    is_any_pair_measured = any(difference.measured for difference in comparison.differences)
    if not coverage.is_unbalanced or not is_any_pair_measured:
        return ""
    remedy = ""
    if comparison.unjudged is None:
        remedy = "; unjudged='bounds' quantifies it"
    return (
        f"Judgment coverage differs ({shares}). Unjudged documents count as not relevant, "
        f"which can shift a difference in either direction{remedy}."
    )


def judged_notes(comparison: ComparisonRecord) -> list[str]:
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
        for metric, means in comparison.unjudged.means.items():
            if not all(isnan(bounds.low) for bounds in means.values()):  # NaN: the systems share no query
                notes.append(_format_mean_bounds(comparison.unjudged, metric))
    return notes


def _format_mean_bounds(bounds: UnjudgedBounds, metric: str) -> str:
    """Return the bounds of the means of a metric over all grades of the unjudged documents."""
    grades = ", ".join(f"{grade:g}" for grade in bounds.grades_of(metric))
    ranges = []
    for system, (low, high) in bounds.means[metric].items():
        ranges.append(f"{system} {numbers.format_value(low)} to {numbers.format_value(high)}")
    n_outer = bounds.outer[metric]
    exactness = "exact bounds"
    if n_outer:
        queries = numbers.format_query_count(n_outer)
        exactness = f"outer bounds: for {queries}, there are too many combinations of grades to enumerate"
    documents = format_graded_documents(bounds.depths[metric], bounds.unretrieved_relevant)
    return f"{metric} over all possible grades ({grades}) of {documents}: {', '.join(ranges)} ({exactness})"

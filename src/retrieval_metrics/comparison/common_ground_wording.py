"""Write the notes on what compared evaluations do not have in common: queries and metrics that are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.comparison.common_ground import CommonGround, MetricMismatch, QueryMismatch


def common_ground_notes(ground: CommonGround) -> list[str]:
    """Return what differs between the compared evaluations, besides their rankings."""
    notes = list(map(format_query_mismatch, ground.query_mismatches))
    if notes:
        queries = numbers.format_query_count(ground.n_queries)
        verb = "is" if ground.n_queries == 1 else "are"
        notes.append(f"Compared on the {queries} that {verb} the same in all evaluations.")
    notes += map(format_metric_mismatch, ground.metric_mismatches)
    return notes


def format_query_mismatch(mismatch: QueryMismatch) -> str:
    """Return how many queries of two evaluations cannot be compared, and why."""
    systems = " and ".join(map(repr, mismatch.systems))
    have = "has" if mismatch.n_queries == 1 else "have"
    if mismatch.kind == "only_in_one":
        verb = "is" if mismatch.n_queries == 1 else "are"
        reason = f"{verb} only in {systems}"
    elif mismatch.kind == "worded_differently":
        reason = f"{have} different text in {systems}"
    else:
        reason = f"{have} different judgments in {systems}"
    total = numbers.format_query_count(mismatch.n_total)
    example = numbers.format_example(mismatch.n_queries, repr(mismatch.example))
    return f"{mismatch.n_queries:,} of {total} {reason} ({example})."


def format_metric_mismatch(mismatch: MetricMismatch) -> str:
    """Return why a metric cannot be compared."""
    if mismatch.missing_in:
        return f"{mismatch.metric} was not computed in {', '.join(map(repr, mismatch.missing_in))}."
    return f"{mismatch.metric} is excluded: it divides by the largest grade, which differs."

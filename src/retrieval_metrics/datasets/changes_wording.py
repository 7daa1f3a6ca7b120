"""Format the notes about the changes between two runs, from finished numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import QueryId


def format_change_bounds_meaning(*, has_loss: bool, has_gain: bool) -> str:
    """Return what the columns of largest losses and gains are; `changes` may have only one of them."""
    if has_loss and has_gain:
        return "max_loss and max_gain: the largest loss and gain that any grades of the documents could produce"
    side = "loss" if has_loss else "gain"
    return f"max_{side}: the largest {side} that any grades of the documents could produce"


def format_unchanged(
    n_unchanged: int, n_queries: int, depth: int, column: str, moved: Sequence[tuple[QueryId, float]], *, is_bound: bool
) -> str:
    """Return how many queries have the same first documents, and which changed most."""
    text = f"identical top {depth} in {n_unchanged} of {numbers.format_query_count(n_queries)}"
    if not moved:
        return text
    most_moved = ", ".join(f"{query} ({numbers.format_value(value)})" for query, value in moved)
    extreme = "highest" if is_bound else "lowest"
    return f"{text}; {extreme} {column}: {most_moved}"


def format_changed_documents(n_documents: int, depth: int) -> str:
    """Return how many documents entered or left the first `depth`, and which metric their grades would settle."""
    documents = numbers.format_count(n_documents, "document")
    grades = "its grade determines" if n_documents == 1 else "their grades determine"
    return (
        f"{documents} (counted per query) entered or left the top {depth}: {grades} the change in precision@{depth}; "
        ".pool(questions) collects them"
    )


def format_wide_bounds(columns: Sequence[str]) -> str:
    """Return which bounds are too large to be informative about the change."""
    verb = "is" if len(columns) == 1 else "are"
    names = numbers.join_names(list(columns))
    return f"{names} {verb} too large to be informative; grade the documents, then compare the runs using those grades"


def format_cut_rankings(queries: Sequence[QueryId], depth: int) -> str:
    """Return for how many queries it is unknown what ties with the last document."""
    rankings = "ranking ends" if len(queries) == 1 else "rankings end"
    example = numbers.format_example(len(queries), repr(queries[0]))
    return (
        f"{len(queries):,} {rankings} exactly at rank {depth} ({example}), so ties at rank {depth} are invisible; keep "
        f"more than {depth} results"
    )


def format_extrapolated_weight(share: float) -> str:
    """Return how much of rank-biased overlap lies beyond the rankings."""
    return (
        f"rbo: {share:.0%} of its weight lies beyond the last rank and is extrapolated; deeper rankings could change it"
    )


def format_missing_queries(queries: Sequence[QueryId]) -> str:
    """Return how many queries the later run does not have."""
    n_queries = numbers.format_query_count(len(queries))
    example = numbers.format_example(len(queries), repr(queries[0]))
    return f"{n_queries} missing from the run 'after' ({example}), treated as having no results"


def format_added_queries(n_added: int) -> str:
    """Return how many queries the earlier run does not have."""
    return f"{numbers.format_query_count(n_added)} only in the run 'after', excluded"

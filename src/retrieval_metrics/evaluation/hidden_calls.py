"""Find metrics whose cutoff hides the later calls of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.inputs.items import NO_TEXTS
from retrieval_metrics.inputs.retrieved_run import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.metrics.base.metric import Metric


class HiddenCalls(NamedTuple):
    """Queries whose first k results come from one call though later calls returned some.

    Attributes:
        metric: The first metric whose cutoff hides the later calls.
        k: Its cutoff.
        n_queries: The number of such queries.
        n_with_calls: The number of queries whose calls are known.
        first_query: The first such query.
        query_texts: The texts of the queries that are known.
    """

    metric: Metric
    k: int
    n_queries: int
    n_with_calls: int
    first_query: QueryId
    query_texts: QueryTexts = NO_TEXTS


def find_hidden_calls(
    metrics: Iterable[Metric], run: object, query_texts: QueryTexts | None = None
) -> HiddenCalls | None:
    """Return the queries in which one call fills a cutoff, so that a metric cannot see the later calls."""
    calls_by_query: Mapping[QueryId, Sequence[int]] = run.calls if isinstance(run, RetrievedRun) else {}
    for metric in metrics:
        if not isinstance(metric.k, int):
            continue
        queries = [query for query, calls in calls_by_query.items() if _hides_calls(calls, metric.k)]
        if queries:
            return HiddenCalls(metric, metric.k, len(queries), len(calls_by_query), queries[0], query_texts or {})
    return None


def _hides_calls(calls: Sequence[int], k: int) -> bool:
    """Return whether one call fills the first k results and another call follows.

    `calls` holds the number of the call that found each result, in rank order.
    """
    if len(calls) <= k:
        return False
    is_filled_by_one_call = calls[0] == calls[k - 1]
    has_later_call = calls[-1] != calls[k - 1]
    return bool(is_filled_by_one_call and has_later_call)

"""Find queries for which nothing was retrieved though something should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.evaluation.counts import expects_results, find_failed_queries
from retrieval_metrics.inputs.items import NO_TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts


class EmptyRankings(NamedTuple):
    """Queries for which nothing was retrieved though something should be.

    Attributes:
        n_empty: How many queries these are.
        n_expected: How many judged queries should have results.
        is_every_query_expected: Whether those are all judged queries.
        is_whole_run: Whether nothing was retrieved for any query.
        first_query: The first query without results.
        scored_zero: Whether such queries score 0; if not, queries absent from the run are left out.
        failures: The errors of the queries whose retriever raised.
        query_texts: The texts of the queries that are known.
    """

    n_empty: int
    n_expected: int
    is_every_query_expected: bool
    is_whole_run: bool
    first_query: QueryId
    scored_zero: bool
    failures: Mapping[QueryId, Exception]
    query_texts: QueryTexts = NO_TEXTS


def find_empty_rankings(scores: Scores) -> EmptyRankings | None:
    """Return the queries for which nothing was retrieved though something should be; None if there are none."""
    n_empty = scores.counts["missing"]
    if not n_empty:
        return None
    origin = scores.require_origin("checked for data problems")
    judged = origin.judged
    # An empty ranking is correct for a query without a relevant document.
    is_expected = expects_results(judged, origin.run)
    is_empty = is_expected & (judged.n_retrieved == 0)
    return EmptyRankings(
        n_empty=n_empty,
        n_expected=int(is_expected.sum()),
        is_every_query_expected=bool(is_expected.all()),
        is_whole_run=not judged.n_retrieved.any(),
        first_query=judged.qrels.queries[int(is_empty.argmax())],
        scored_zero=scores.rules.missing == "zero",
        failures=find_failed_queries(judged, origin.run),
        query_texts=judged.qrels.texts,
    )

"""Find queries for which nothing was retrieved though something should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics.evaluation.counts import expects_results, find_failed_queries
from retrieval_metrics.inputs.items import NO_TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules

# What queries without an answer score: 0 in every metric; 0 where higher is better, and nothing elsewhere; nothing in
# any metric; or nothing if the run does not hold them, because the rules skip them.
Treatment: TypeAlias = Literal["zero", "zero_if_higher_is_better", "excluded", "skipped"]


def find_treatment(metrics: Sequence[Metric], rules: Rules) -> Treatment:
    """Return what queries score that the retriever failed for, or that the run does not hold.

    Where lower is better, 0 would be the best value, so they are left out of the mean. Given metrics have their own
    values and do not count here.
    """
    if rules.missing != "zero":
        return "skipped"
    directions = {metric.definition.higher_is_better for metric in metrics if not metric.definition.is_given}
    if False not in directions:
        return "zero"
    return "zero_if_higher_is_better" if True in directions else "excluded"


class EmptyRankings(NamedTuple):
    """Queries for which nothing was retrieved though something should be.

    Attributes:
        n_empty: How many queries these are.
        n_expected: How many judged queries should have results.
        is_every_query_expected: Whether those are all judged queries.
        is_whole_run: Whether nothing was retrieved for any query.
        first_query: The first query without results.
        treatment: What such queries score; None if some of them score 0 and others nothing in the same metric.
        failures: The errors of the queries whose retriever raised.
        query_texts: The texts of the queries that are known.
    """

    n_empty: int
    n_expected: int
    is_every_query_expected: bool
    is_whole_run: bool
    first_query: QueryId
    treatment: Treatment | None
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
    treatment: Treatment | None = find_treatment(scores.metrics, scores.rules)
    if treatment in {"zero_if_higher_is_better", "excluded"}:
        # An empty ranking that was returned scores 0 where lower is better, too.
        is_unanswered = np.zeros_like(is_empty) if judged.unanswered is None else is_empty & judged.unanswered
        if not is_unanswered.any():
            treatment = "zero"
        elif treatment == "excluded" and int(is_unanswered.sum()) < n_empty:
            treatment = None
    return EmptyRankings(
        n_empty=n_empty,
        n_expected=int(is_expected.sum()),
        is_every_query_expected=bool(is_expected.all()),
        is_whole_run=not judged.n_retrieved.any(),
        first_query=judged.qrels.queries[int(is_empty.argmax())],
        treatment=treatment,
        failures=find_failed_queries(judged, origin.run),
        query_texts=judged.qrels.texts,
    )

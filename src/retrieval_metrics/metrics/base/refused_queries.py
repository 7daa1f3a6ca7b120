"""Find the queries that a rule set refuses, before any metric is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.rules import Rules


class RefusedQueries(NamedTuple):
    """The queries that a rule refuses.

    Attributes:
        is_refused: Shape (queries,), whether the rule refuses each.
        reason: Why, with `{query}` for the query.
        remedy: What to do about it.
    """

    is_refused: BoolArray
    reason: str
    remedy: str


def require_accepted_queries(judged: JudgedRun, rules: Rules) -> None:
    """Raise if the rules refuse a query."""
    for rule, refused in find_refused_queries(judged, rules).items():
        if refused.is_refused.any():
            query = judged.qrels.queries[int(refused.is_refused.argmax())]
            raise ValueError(
                f'{refused.reason.format(query=repr(query))}, which {rules.name} refuses ({rule}="error"); '
                f"{refused.remedy}"
            )


def find_refused_queries(judged: JudgedRun, rules: Rules) -> dict[str, RefusedQueries]:
    """Return, for each rule that refuses something, the queries it refuses and the reason."""
    refused: dict[str, RefusedQueries] = {}
    if rules.duplicates == "error":
        refused["duplicates"] = RefusedQueries(
            judged.n_duplicates > 0,
            "the ranking of query {query} holds a document twice",
            "remove it, or use rules='standard', where only the first counts",
        )
    if rules.no_relevant == "error":
        refused["no_relevant"] = RefusedQueries(
            judged.n_relevant() == 0,
            "query {query} has no relevant document",
            "remove the query, or use rules='standard', where it is counted but left out of the mean",
        )
    if rules.empty == "error":
        refused["empty"] = RefusedQueries(
            judged.n_retrieved == 0,
            "nothing was retrieved for query {query}",
            "remove the query, or use rules='standard', where it scores 0",
        )
    return refused


def has_fractional_grades(qrels: Qrels) -> BoolArray:
    """Return which queries have a grade that is not a whole number, shape (queries,)."""
    is_fractional = qrels.document_grade % 1 != 0
    has_fractional: BoolArray = np.bincount(qrels.document_query, is_fractional, minlength=len(qrels)) > 0
    return has_fractional

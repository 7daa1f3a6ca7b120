"""Check that a ranking is one, and say what is wrong with it otherwise."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import DocumentId, QueryId

ITEMS = 'their ids, or items: [rm.Retrieved(row["id"], row["text"]) for row in found]'
"""What to give instead of dicts."""


def as_list(ranking: Any, query: QueryId) -> Sequence[Any]:
    """Return a ranking in rank order as a list.

    Raises:
        TypeError: If it is a bare string, has no order, or holds pairs, lists or dicts.
    """
    if isinstance(ranking, (list, tuple, range)):
        ranked: Sequence[DocumentId] = ranking
    elif isinstance(ranking, (str, bytes)):
        raise TypeError(f"the ranking of query {query!r} is the bare string {ranking!r}; write a list: [{ranking!r}]")
    elif hasattr(ranking, "tolist"):
        ranked = ranking.tolist()
    else:
        msg = (
            f"the ranking of query {query!r} must be a list of document ids, best first, or a mapping of document ids "
            f"to scores, got {type(ranking).__name__}"
        )
        if isinstance(ranking, (set, frozenset)):
            msg += "; a set has no order"
        raise TypeError(msg)
    if ranked and isinstance(ranked[0], (tuple, list)):
        if lists_of_ids(ranked[0]):
            raise TypeError(
                f"the ranking of query {query!r} holds lists such as {ranked[0]!r}; pass one list of ids, best first"
            )
        raise TypeError(
            f"the ranking of query {query!r} holds pairs such as {ranked[0]!r}; pass dict(ranking) for scored documents"
        )
    if ranked and isinstance(ranked[0], Mapping):
        raise TypeError(f"the ranking of query {query!r} holds {keyed(ranked[0])}; pass {ITEMS}")
    return ranked


def lists_of_ids(first: Sequence[Any]) -> bool:
    """Tell whether the first item of a ranking holds ids and nothing else, so that it is no pair of id and score."""
    return len(first) != 1 + 1 or all(isinstance(one, str) for one in first)


def keyed(row: Mapping[Any, Any]) -> str:
    """Return words for a list of dicts, of which this is the first."""
    return f"dicts with keys {', '.join(map(repr, row)) or 'none'}"


def refuse_bad_score(ranking: Mapping[Any, float], query: QueryId) -> None:
    """Raise for the first score that is not finite; finite scores with an infinite sum are not an error."""
    for document, score in ranking.items():
        if not isinstance(score, Real):
            raise TypeError(
                f"the score of document {document!r} for query {query!r} must be a number, got {score!r} "
                f"({type(score).__name__})"
            )
        if not abs(score) <= sys.float_info.max:
            raise ValueError(
                f"the score of document {document!r} for query {query!r} is {score!r}; scores must be finite"
            )

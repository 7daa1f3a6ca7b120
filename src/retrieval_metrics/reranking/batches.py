"""Maximal marginal relevance for many queries at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.reranking.engine.problem import read_problem
from retrieval_metrics.reranking.engine.solve import solve
from retrieval_metrics.reranking.vectors import cutoff, matrix, trade_off

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.selection import Selection

_SHARED = 2  # the number of dimensions of candidates that all queries share


def mmr_batch(
    queries: npt.ArrayLike | None,
    candidates: npt.ArrayLike | Sequence[npt.ArrayLike],
    *,
    k: int | None = None,
    lambda_mult: float = 0.5,
    relevance: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
) -> list[Selection]:
    """Select by maximal marginal relevance for many queries, each as in `mmr`.

    It is faster than a loop over `mmr` if each query has few candidates (several queries are then computed together) or
    if all queries share their candidates.

    Args:
        queries: The vectors of the queries, shape (q, d). Not used, and may be None, if `relevance` is given.
        candidates: The candidates of each query, shape (n, d); n may differ from query to query: an array of shape
            (q, n, d) or a list of q. Or one list of vectors, shape (n, d), that all queries share.
        k: How many to select for each query; None, or more than it has candidates, selects all.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance).
        relevance: The relevance of each query's candidates, shape (n,). None uses the cosine with the query.

    Raises:
        TypeError: If a vector holds something other than real numbers, or `k` is not an integer.
        ValueError: If a number is NaN or infinite (the message names query and row), shapes do not fit together, `k` is
            not positive, `lambda_mult` is outside [0, 1], or queries and relevance are both None.

    Example:
        >>> candidates = [[1, 0], [1, 0], [0, 1]]
        >>> [list(selection) for selection in mmr_batch([[3, 1], [1, 3]], candidates, k=2)]  # shared
        [[0, 2], [2, 0]]
        >>> [list(selection) for selection in mmr_batch([[3, 1], [1, 3]], [candidates, candidates[1:]], k=2)]
        [[0, 2], [1, 0]]
    """
    weight = trade_off(lambda_mult)
    cutoff(k, 0)
    if queries is None and relevance is None:
        raise ValueError("queries and relevance are both None; pass one of them")
    shared = _depth(candidates) == _SHARED
    return solve(_read(queries, candidates, relevance, shared=shared), k, weight)


def _read(queries: Any, candidates: Any, relevance: Any, *, shared: bool) -> list[Problem]:
    count = len(queries if relevance is None else relevance)
    if shared:
        candidates = repeat(matrix(candidates, "candidates"), count)
    elif len(candidates) != count:
        what = "queries" if relevance is None else "lists of relevance"
        raise ValueError(f"{count} {what} but {len(candidates)} lists of candidates; there must be one for each query")
    asked = queries if relevance is None else repeat(None, count)
    given = repeat(None, count) if relevance is None else relevance
    problems = []
    for i, problem in enumerate(zip(asked, candidates, given, strict=True)):
        names = f"queries[{i}]", "candidates" if shared else f"candidates[{i}]", f"relevance[{i}]"
        problems.append(read_problem(*problem, names))
    return problems


def _depth(values: Any) -> int:
    """Return the number of dimensions of nested lists and arrays, judging by the first that is not empty."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        return np.ndim(values)
    return 1 + next((_depth(value) for value in values if not isinstance(value, Sequence) or len(value)), 0)

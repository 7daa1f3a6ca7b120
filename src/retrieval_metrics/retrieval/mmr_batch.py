"""Exact MMR for several queries at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.retrieval.mmr_methods import select_by_mmr
from retrieval_metrics.retrieval.mmr_problem import ProblemNames, read_problem
from retrieval_metrics.retrieval.vectors import read_matrix, require_lambda, resolve_k

if TYPE_CHECKING:
    from numpy import typing as npt

    from retrieval_metrics.retrieval.mmr_problem import MmrProblem
    from retrieval_metrics.retrieval.selection import Selection


# Candidates that all queries share are a list of vectors; others are a list of such lists.
N_SHARED_DIMENSIONS = 2


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
    checked_lambda = require_lambda(lambda_mult)
    resolve_k(k, 0)  # an invalid k is refused before the vectors are read
    if queries is None and relevance is None:
        raise ValueError("queries and relevance are both None; pass one of them")
    return select_by_mmr(_read_problems(queries, candidates, relevance), k, checked_lambda)


def _read_problems(queries: Any, candidates: Any, relevance: Any) -> list[MmrProblem]:
    is_shared = _count_dimensions(candidates) == N_SHARED_DIMENSIONS
    n_problems = len(queries if relevance is None else relevance)
    if is_shared:
        candidates = repeat(read_matrix(candidates, "candidates"), n_problems)
    elif len(candidates) != n_problems:
        subject = "queries" if relevance is None else "lists of relevance"
        raise ValueError(
            f"{n_problems} {subject} but {len(candidates)} lists of candidates; there must be one for each query"
        )
    no_values = repeat(None, n_problems)
    query_vectors = queries if relevance is None else no_values
    relevance_lists = no_values if relevance is None else relevance
    problems = []
    for index, (query, query_candidates, query_relevance) in enumerate(
        zip(query_vectors, candidates, relevance_lists, strict=True)
    ):
        names = ProblemNames(
            query=f"queries[{index}]",
            candidates="candidates" if is_shared else f"candidates[{index}]",
            relevance=f"relevance[{index}]",
        )
        problems.append(read_problem(query, query_candidates, query_relevance, names))
    return problems


def _count_dimensions(values: Any) -> int:
    """Return the number of dimensions of nested lists and arrays, judging by the first that is not empty."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        return np.ndim(values)
    for value in values:
        if not isinstance(value, Sequence) or len(value):
            return 1 + _count_dimensions(value)
    return 1

"""Maximal marginal relevance of one query and of many, and the diversity of what it selects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.retrieval.mmr_selection import UnitVectors, read_problem, select_by_mmr
from retrieval_metrics.retrieval.similarity import Selection, as_lambda, as_numbers, cutoff, matrix

if TYPE_CHECKING:
    from numpy import typing as npt

    from retrieval_metrics.retrieval.mmr_selection import MmrProblem


def mmr(
    query: npt.ArrayLike | None,
    candidates: npt.ArrayLike,
    *,
    k: int | None = None,
    lambda_mult: float = 0.5,
    relevance: npt.ArrayLike | None = None,
) -> Selection:
    """Select candidates that are relevant to the query and unlike those already selected.

        next = argmax over unselected d of  lambda * rel(d) - (1 - lambda) * max over selected s of sim(d, s)

    where sim is the cosine, and rel(d) is the cosine of d with the query or the value given as `relevance`. Each pick
    comes with its score at the time it was picked; if relevance is a cosine too, the score is in [-1, 1]. The first
    pick is the most relevant candidate, also at lambda 0, and its score is lambda * rel. Ties go to the lowest index. A
    zero vector has cosine 0 with every vector. Repeated candidates are not dropped, but come late. Without candidates
    the selection is empty.

    The result is exact for every size: it equals the formula evaluated in float64 with cosines a.b / (|a| |b|),
    whichever method is used to compute it. Source: Carbonell and Goldstein, The Use of MMR, Diversity-Based Reranking
    for Reordering Documents and Producing Summaries (1998).

    Args:
        query: The vector of the query, shape (d,). Not used, and may be None, if `relevance` is given.
        candidates: The vectors of the candidates, shape (n, d). A float32 array is the fastest: converting lists of
            Python floats takes longer than selecting from them.
        k: How many to select; None, or more than n, selects all.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance).
        relevance: How relevant each candidate is, shape (n,). Lambda weighs it against cosines, so a scale such as
            [0, 1] is best. None uses the cosine with the query.

    Raises:
        TypeError: If a vector holds something other than real numbers, or `k` is not an integer.
        ValueError: If a number is NaN or infinite (the message names its row), shapes do not fit together, `k` is not
            positive, `lambda_mult` is outside [0, 1], or query and relevance are both None.

    Example:
        >>> candidates = [[1, 0], [1, 0], [0, 1]]
        >>> mmr([3, 1], candidates, k=2)  # 0.5 * 0.9487; then 0.5 * 0.3162 - 0, since the repeat has 0.5 * 0.9487 - 0.5
        Selection(indices=[0, 2], scores=[0.4743, 0.1581])
        >>> mmr(None, candidates, relevance=[0.1, 0.9, 0.3], lambda_mult=1)
        Selection(indices=[1, 2, 0], scores=[0.9, 0.3, 0.1])
    """
    weight = as_lambda(lambda_mult)
    return select_by_mmr([read_problem(query, candidates, relevance)], k, weight)[0]


def mmr_from_similarity(
    relevance: npt.ArrayLike, similarity: npt.ArrayLike, *, k: int | None = None, lambda_mult: float = 0.5
) -> Selection:
    """Select by maximal marginal relevance from given relevance and similarity, of any kind.

    The formula and its rules are those of `mmr`, with rel(d) and sim(d, s) as given.

    Args:
        relevance: How relevant each candidate is, shape (n,).
        similarity: sim(d, s) in row d, column s, shape (n, n). The diagonal is ignored, and the matrix may be
            asymmetric.
        k: How many to select; None, or more than n, selects all.
        lambda_mult: The weight of relevance, from 0 (only diversity) to 1 (only relevance).

    Raises:
        TypeError: If an array holds something other than real numbers, or `k` is not an integer.
        ValueError: If a number is NaN or infinite (the message names its position), shapes do not fit together, `k` is
            not positive, or `lambda_mult` is outside [0, 1].

    Example:
        >>> similarity = [[1, 0.3, 0.4], [0.3, 1, 0.5], [0.4, 0.5, 1]]
        >>> mmr_from_similarity([0.8, 0.5, 0.4], similarity)  # 0.4; 0.25 - 0.15 against 0.2 - 0.2; 0.2 - 0.25
        Selection(indices=[0, 1, 2], scores=[0.4, 0.1, -0.05])
    """
    weight = as_lambda(lambda_mult)
    relevant = as_numbers(relevance, "relevance").astype(np.float64)
    n = len(relevant)
    picks = cutoff(k, n)
    if not n:
        return Selection.of([], [])
    similar = as_numbers(similarity, "similarity", (n, n))
    gain = weight * relevant
    rows = [int(relevant.argmax())]
    reached, scores = [gain[rows[0]]], np.full(n, np.inf)
    while len(rows) < picks:
        scores = np.minimum(scores, gain - (1 - weight) * similar[:, rows[-1]].astype(np.float64, copy=False))
        scores[rows] = -np.inf
        rows.append(int(scores.argmax()))
        reached.append(scores[rows[-1]])
    return Selection.of(rows, reached)


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
    weight = as_lambda(lambda_mult)
    cutoff(k, 0)
    if queries is None and relevance is None:
        raise ValueError("queries and relevance are both None; pass one of them")
    shared = _depth(candidates) == _SHARED
    return select_by_mmr(_read(queries, candidates, relevance, shared=shared), k, weight)


def _read(queries: Any, candidates: Any, relevance: Any, *, shared: bool) -> list[MmrProblem]:
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


def intra_list_diversity(vectors: npt.ArrayLike, *, k: int | None = None) -> float:
    """Return the mean cosine distance between two of the first `k` items.

        ILD@k = 2 / (m (m - 1)) * sum over i < j <= m of (1 - cos(x_i, x_j)),    m = min(k, n)

    Range [0, m / (m - 1)]: 0 if all items point in the same direction, 1 if they are orthogonal, and more if they point
    in opposite directions. A zero vector has distance 1 to every vector. The order of the items does not matter. A
    repeat counts as an item, at distance 0 from the first. With fewer than two items there are no pairs and the
    diversity is NaN.

    Source: Smyth and McClave, Similarity vs. Diversity (2001), where it is a mean over pairs; Ziegler et al.,
    Improving Recommendation Lists Through Topic Diversification (2005), whose intra-list similarity is its counterpart.

    Args:
        vectors: The vectors of the items in rank order, shape (n, d).
        k: Cut-off in items; None uses all.

    Raises:
        TypeError: If a vector holds something other than real numbers, or `k` is not an integer.
        ValueError: If a number is NaN or infinite (the message names its row), `vectors` is not a list of vectors, or
            `k` is not positive.

    Example:
        >>> intra_list_diversity([[1, 0], [0, 1], [0, -1]])  # (1 + 1 + 2) / 3
        1.3333333333333333
        >>> intra_list_diversity([[1, 0], [0, 1], [0, -1]], k=2)
        1.0
    """
    items = matrix(vectors, "vectors")
    count = cutoff(k, len(items))
    if count <= 1:
        return math.nan
    directions = UnitVectors(items[:count].astype(np.float64), "vectors")
    units = directions.units()
    total = units.sum(axis=0)
    # The square of the sum contains each pair twice, and each vector's product with itself.
    twice = float(total @ total - np.einsum("ij,ij->", units, units))
    return max(0.0, 1 - twice / (count * (count - 1)))  # rounding can leave -1e-16 for equal vectors

"""Select by maximal marginal relevance for one query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.retrieval.mmr_methods import select_by_mmr
from retrieval_metrics.retrieval.mmr_problem import read_problem
from retrieval_metrics.retrieval.vectors import require_lambda

if TYPE_CHECKING:
    from numpy import typing as npt

    from retrieval_metrics.retrieval.selection import Selection


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
    checked_lambda = require_lambda(lambda_mult)
    problem = read_problem(query, candidates, relevance)
    (selection,) = select_by_mmr([problem], k, checked_lambda)
    return selection

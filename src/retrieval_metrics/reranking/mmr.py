"""Maximal marginal relevance: rank by relevance while avoiding redundancy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.problem import read_problem
from retrieval_metrics.reranking.engine.solve import solve
from retrieval_metrics.reranking.selection import Selection
from retrieval_metrics.reranking.vectors import cutoff, numbers, trade_off

if TYPE_CHECKING:
    import numpy.typing as npt


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
    weight = trade_off(lambda_mult)
    return solve([read_problem(query, candidates, relevance)], k, weight)[0]


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
    weight = trade_off(lambda_mult)
    relevant = numbers(relevance, "relevance").astype(np.float64)
    n = len(relevant)
    picks = cutoff(k, n)
    if not n:
        return Selection.of([], [])
    similar = numbers(similarity, "similarity", (n, n))
    gain = weight * relevant
    rows = [int(relevant.argmax())]
    reached, scores = [gain[rows[0]]], np.full(n, np.inf)
    while len(rows) < picks:
        scores = np.minimum(scores, gain - (1 - weight) * similar[:, rows[-1]].astype(np.float64, copy=False))
        scores[rows] = -np.inf
        rows.append(int(scores.argmax()))
        reached.append(scores[rows[-1]])
    return Selection.of(rows, reached)

"""Greedy selection: at every step the candidate with the largest marginal relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.reranking.engine.marginal_relevance import MarginalRelevance
    from retrieval_metrics.reranking.vectors import Vectors

    Picks = tuple[list[int], list[float]]  # in the order of selection, with the score of each at that step


def greedy(
    first: tuple[int, float],
    k: int,
    beside: Callable[[int], Vectors],
    take: Callable[[Vectors, list[int]], tuple[int, float]],
) -> Picks:
    """Return `k` >= 1 picks, each the best at its step.

    Args:
        first: The first pick and its score.
        k: How many to pick, at most n.
        beside: Returns every candidate's score, shape (n,), given a single pick. The score given several picks is the
            minimum of these, because only the largest similarity counts.
        take: Removes the best candidate from the scores, given the picks so far, and returns it with its score.
    """
    picks, reached = [first[0]], [first[1]]
    scores: Vectors | float = np.inf
    while len(picks) < k:
        scores = np.minimum(scores, beside(picks[-1]))
        scores[picks[-1]] = -np.inf
        pick, score = take(scores, picks)
        picks.append(pick)
        reached.append(score)
    return picks, reached


def gram(mmr: MarginalRelevance, k: int) -> Picks:
    """Compute all cosines in advance: fastest if most of a few candidates are to be picked."""
    table = mmr.beside_each(mmr.candidates.all_cosines)
    return greedy(mmr.first(), k, table.__getitem__, mmr.take)


def running_maximum(mmr: MarginalRelevance, k: int) -> Picks:
    """Compute the products of all candidates with each pick when it is picked, in one pass over the vectors."""
    return greedy(mmr.first(), k, mmr.beside, mmr.take)

"""The fastest exact method for a problem of a given size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reranking.engine.directions import Directions
from retrieval_metrics.reranking.engine.greedy import gram, running_maximum
from retrieval_metrics.reranking.engine.lazy_greedy import lazy_greedy
from retrieval_metrics.reranking.engine.marginal_relevance import MarginalRelevance
from retrieval_metrics.reranking.engine.products import BLOCK, DOUBLE, SINGLE
from retrieval_metrics.reranking.engine.provisional import Provisional
from retrieval_metrics.reranking.selection import Selection
from retrieval_metrics.reranking.vectors import cutoff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.reranking.engine.greedy import Picks
    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.vectors import Vectors

    Method = Callable[[MarginalRelevance, int], Picks]

# Measured with tests/benchmarks/mmr.py.
_GRAM_CANDIDATES = 120
_GRAM_CANDIDATES_PER_PICK = 3
_LAZY_CANDIDATES = 250
_LAZY_BYTES = 50_000_000  # read in all steps together
_USEFUL_RESOLUTION = 0.1  # scores are about 1: with a coarser resolution float32 is not worth trying


def fastest(vectors: Vectors, k: int) -> Method:
    """Return the method that selects `k` of the candidates, shape (n, d), in the least time."""
    if len(vectors) <= min(_GRAM_CANDIDATES, _GRAM_CANDIDATES_PER_PICK * k):
        return gram
    if len(vectors) > _LAZY_CANDIDATES and vectors.nbytes * k > _LAZY_BYTES:
        return lazy_greedy
    return running_maximum


def solve(problems: Sequence[Problem], k: int | None, lambda_mult: float) -> list[Selection]:
    """Select `k` candidates by MMR for each of several problems that share their candidates.

    Raises:
        TypeError: If `k` is not an integer.
        ValueError: If `k` is not positive, or a vector holds a NaN or infinite number.
    """
    vectors = problems[0].vectors
    picks = cutoff(k, len(vectors))
    if not picks:
        return [Selection.of([], []) for _ in problems]
    method = fastest(vectors, picks)
    candidates = Directions(
        vectors,
        problems[0].name,
        precision=DOUBLE if method is gram else None,
        block=vectors.shape[1] if method is running_maximum else BLOCK,
    )
    return [_select(candidates, method, picks, problem, lambda_mult) for problem in problems]


def _select(candidates: Directions, method: Method, k: int, problem: Problem, lambda_mult: float) -> Selection:
    """Select `k` >= 1 candidates by MMR, in float32 if that provably gives the same result, otherwise in float64."""
    if candidates.precision == SINGLE and candidates.resolution(problem.largest) < _USEFUL_RESOLUTION:
        provisional = Provisional(candidates, problem, lambda_mult)
        picks, _ = method(provisional, k)
        scores = provisional.prove(picks)
        if scores is not None:
            return Selection.of(picks, scores)
    return Selection.of(*method(MarginalRelevance(candidates.double, problem, lambda_mult), k))

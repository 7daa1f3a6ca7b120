"""Marginal relevance: the score MMR gives a candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.reranking.directions import DOUBLE
from retrieval_metrics.reranking.exact import exact_cosines, rounding_error

if TYPE_CHECKING:
    from retrieval_metrics.reranking.directions import Directions
    from retrieval_metrics.reranking.relevance import Relevance
    from retrieval_metrics.reranking.vectors import Indices, Vectors


class MarginalRelevance:
    """The score `lambda * relevance - (1 - lambda) * redundancy` of every candidate of one query.

    Scores made from products of matrices are off by up to half of `tolerance`: of two that are further apart, the
    larger is the larger. Where it is closer, the few rivals' scores are computed as the definition reads, in float64;
    so a selection depends neither on the method that found it nor on the BLAS.
    """

    def __init__(self, candidates: Directions, relevance: Relevance, lambda_mult: float) -> None:
        """Take the candidates of one query, their relevance to it and the weight of that relevance."""
        (n, d), dtype = candidates.vectors.shape, candidates.inverse_lengths.dtype
        self.candidates, self.relevance, self.lambda_mult = candidates, relevance, lambda_mult
        self.tolerance = resolution(dtype, d, relevance.largest)
        self.gain = (lambda_mult * relevance.of_all(candidates)).astype(dtype, copy=False)
        self.weight = (1 - lambda_mult) * candidates.inverse_lengths
        # What `_settle` had to find out in float64: the relevance of candidates, and their largest similarity to the
        # first `_compared` picks.
        self._relevance = np.full(n, np.nan)
        self._redundancy = np.full(n, -np.inf)
        self._compared = np.zeros(n, dtype=np.intp)

    def beside(self, products: Vectors) -> Vectors:
        """Turn products with a pick's unit vector, in place, into the candidates' scores if it were the only pick."""
        products *= self.weight
        return np.subtract(self.gain, products, out=products)

    def first(self) -> tuple[int, float]:
        """Return the most relevant candidate and its score: with nothing picked yet, it is the best at every lambda."""
        pick, relevance = self.take(self.relevance.of_all(self.candidates).copy(), [])
        return pick, self.lambda_mult * relevance

    def take(self, scores: Vectors, picks: list[int]) -> tuple[int, float]:
        """Take the best candidate out of `scores` and return it with its score; the lowest index if several are best.

        Args:
            scores: Off by at most half of `tolerance` wherever they may be the largest; -inf for what was taken.
            picks: What was taken before.
        """
        best = int(scores.argmax())
        score = scores[best]
        scores[best] = -np.inf
        if scores[scores.argmax()] >= score - self.tolerance:
            scores[best] = score
            best = self._settle(np.flatnonzero(scores >= score - self.tolerance), scores, picks)
            score, scores[best] = scores[best], -np.inf
        return best, float(score)

    def _settle(self, rivals: Indices, scores: Vectors, picks: list[int]) -> int:  # noqa: ARG002  # see Provisional
        unknown = rivals[np.isnan(self._relevance[rivals])]
        self._relevance[unknown] = self.relevance.exactly(self.candidates.vectors, unknown)
        exact = self._relevance[rivals]
        if picks:
            self._compare(rivals, np.array(picks[self._compared[rivals].min() :]))
            self._compared[rivals] = len(picks)
            exact = self.lambda_mult * exact - (1 - self.lambda_mult) * self._redundancy[rivals]
        return int(rivals[exact.argmax()])

    def _compare(self, rivals: Indices, new: Indices) -> None:
        vectors, inverse_lengths = self.candidates.vectors, self.candidates.inverse_lengths
        similarity = vectors[rivals] @ vectors[new].T * np.outer(inverse_lengths[rivals], inverse_lengths[new])
        largest = np.maximum(similarity.max(axis=1), self._redundancy[rivals])
        reach = resolution(vectors.dtype, vectors.shape[1], 0)
        rival, pick = np.nonzero(similarity >= largest[:, np.newaxis] - reach)  # which could be the largest
        cosines = exact_cosines(vectors, rivals[rival], vectors, new[pick])
        np.maximum.at(self._redundancy, rivals[rival], cosines)


def resolution(dtype: np.dtype[Any], d: int, largest: float) -> float:
    """Return the least distance of two scores that proves which is larger, if `dtype` is their products' precision.

    Args:
        dtype: The precision of the products of vectors.
        d: How many numbers a vector has.
        largest: The largest absolute relevance.
    """
    arithmetic = 4 * float(np.finfo(dtype).eps) * (1 + largest)
    return 2 * (rounding_error(dtype, d) + rounding_error(DOUBLE, d) + arithmetic)

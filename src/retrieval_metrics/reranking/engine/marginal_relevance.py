"""Marginal relevance: the score that MMR assigns to a candidate."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.exact import exact_cosines
from retrieval_metrics.reranking.engine.products import ALL

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.reranking.engine.directions import Directions
    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.vectors import Indices, Vectors


class MarginalRelevance:
    """The score `lambda * relevance - (1 - lambda) * redundancy` of every candidate of one query.

    Scores from matrix products have an error of at most half of `tolerance`, so two scores further apart than that are
    in the right order. Closer ones are recomputed from the definition in float64, so that a selection does not depend
    on the method or the BLAS.
    """

    def __init__(self, candidates: Directions, problem: Problem, lambda_mult: float) -> None:
        """Prepare the scores of one query's candidates; `lambda_mult` is the weight of relevance."""
        self.candidates, self.problem, self.lambda_mult = candidates, problem, lambda_mult
        self.tolerance = candidates.resolution(problem.largest)
        self._relevant = problem.measured(candidates, ALL)
        self.gain = (lambda_mult * self._relevant).astype(candidates.precision, copy=False)

    @cached_property
    def _weight(self) -> Vectors:
        weight: Vectors = (1 - self.lambda_mult) * self.candidates.inverse_lengths
        return weight

    @cached_property
    def _settled(self) -> tuple[FloatArray, FloatArray, Indices]:
        """The exact values that `_settle` has computed: relevance, redundancy, and given how many picks."""
        n = len(self.candidates.vectors)
        return np.full(n, np.nan), np.full(n, -np.inf), np.zeros(n, dtype=np.intp)

    def beside(self, pick: int) -> Vectors:
        """Return the score of every candidate given a single pick, shape (n,)."""
        scores = self.candidates.products(self.candidates.unit(pick))
        scores *= self._weight
        np.subtract(self.gain, scores, out=scores)
        return scores

    def beside_new(self, units: Vectors, rows: Indices | slice) -> Vectors:
        """Return the scores of some candidates given picks with these unit vectors, shape (rows,)."""
        products = np.ascontiguousarray(self.candidates.products(units, rows).T)  # numpy is slow on short rows
        scores: Vectors = self.gain[rows] - self._weight[rows] * products.max(axis=0)
        return scores

    def beside_each(self, cosines: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return scores from the cosines between candidates: row j holds the scores given j as the only pick."""
        scores: Vectors = self.gain[rows] - (1 - self.lambda_mult) * cosines
        return scores

    def first(self) -> tuple[int, float]:
        """Return the most relevant candidate, which is the first pick at every lambda, and its score."""
        pick, relevance = self.take(self._relevant.copy(), [])
        return pick, self.lambda_mult * relevance

    def take(self, scores: Vectors, picks: list[int], rows: Indices | None = None) -> tuple[int, float]:
        """Remove the best candidate from `scores` and return its position and score; ties go to the first.

        Args:
            scores: Accurate to half of `tolerance` wherever they may be the largest; -inf if already taken.
            picks: The candidates taken before.
            rows: The candidates that the scores belong to, ascending; None means all.
        """
        best = int(scores.argmax())
        score = scores[best]
        scores[best] = -np.inf
        next_score = scores[scores.argmax()]
        if next_score >= score - self.tolerance:
            rivals = (scores >= score - self.tolerance).nonzero()[0]
            scores[best] = score
            best = self._settle(best, rivals, float(score - next_score), picks, rows)
            score, scores[best] = scores[best], -np.inf
        return best, float(score)

    def _settle(self, best: int, rivals: Indices, lead: float, picks: list[int], rows: Indices | None) -> int:  # noqa: ARG002  # see Provisional
        """Return the position of the best candidate where others are too close to the largest score to tell.

        Args:
            best: The position of the largest score.
            rivals: The positions of the others.
            lead: The distance from the largest score to the next.
            picks: The candidates taken before.
            rows: The candidate at each position; None means all.
        """
        places = np.sort(np.append(rivals, best))
        close = places if rows is None else rows[places]
        relevance, redundancy, compared = self._settled
        unknown = close[np.isnan(relevance[close])]
        relevance[unknown] = self.problem.exactly(self.candidates.vectors, unknown)
        scores = relevance[close]
        if picks:
            self._compare(close, np.array(picks[compared[close].min() :]), redundancy)
            compared[close] = len(picks)
            scores = self.lambda_mult * scores - (1 - self.lambda_mult) * redundancy[close]
        return int(places[scores.argmax()])

    def _compare(self, rows: Indices, new: Indices, redundancy: FloatArray) -> None:
        similarity = self.candidates.cosines_between(rows, new)
        largest = np.maximum(similarity.max(axis=1), redundancy[rows])
        reach = self.candidates.resolution(0)
        row, pick = np.nonzero(similarity >= largest[:, np.newaxis] - reach)  # which could be the largest
        vectors = self.candidates.vectors
        np.maximum.at(redundancy, rows[row], exact_cosines(vectors, rows[row], vectors, new[pick]))

"""Marginal relevance: the score MMR gives a candidate."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.exact import exact_cosines
from retrieval_metrics.reranking.engine.products import ALL

if TYPE_CHECKING:
    from retrieval_metrics.reranking.engine.directions import Directions
    from retrieval_metrics.reranking.engine.relevance import Relevance
    from retrieval_metrics.reranking.engine.vectors import FloatArray, Indices, Vectors


class MarginalRelevance:
    """The score `lambda * relevance - (1 - lambda) * redundancy` of every candidate of one query.

    Scores made from products of matrices are off by up to half of `tolerance`: of two that are further apart, the
    larger is the larger. Where it is closer, the few rivals' scores are computed as the definition reads, in float64;
    so a selection depends neither on the method that found it nor on the BLAS.
    """

    def __init__(self, candidates: Directions, relevance: Relevance, lambda_mult: float) -> None:
        """Take the candidates of one query, their relevance to it and the weight of that relevance."""
        self.candidates, self.relevance, self.lambda_mult = candidates, relevance, lambda_mult
        self.tolerance = candidates.resolution(relevance.largest)
        self._relevant = relevance.of(candidates, ALL)
        self.gain = (lambda_mult * self._relevant).astype(candidates.precision, copy=False)

    @cached_property
    def _weight(self) -> Vectors:
        weight: Vectors = (1 - self.lambda_mult) * self.candidates.inverse_lengths
        return weight

    @cached_property
    def _settled(self) -> tuple[FloatArray, FloatArray, Indices]:
        """What `_settle` found out of each candidate: relevance, redundancy beside the first so many picks, so many."""
        n = len(self.candidates.vectors)
        return np.full(n, np.nan), np.full(n, -np.inf), np.zeros(n, dtype=np.intp)

    def beside(self, pick: int) -> Vectors:
        """Return the score of every candidate if a pick were the only one, shape (n,)."""
        scores = self.candidates.products(self.candidates.unit(pick))
        scores *= self._weight
        np.subtract(self.gain, scores, out=scores)
        return scores

    def beside_new(self, units: Vectors, rows: Indices | slice) -> Vectors:
        """Return the scores of some candidates if picks with these unit vectors were the only ones, shape (rows,)."""
        products = np.ascontiguousarray(self.candidates.products(units, rows).T)  # numpy is slow along short rows
        scores: Vectors = self.gain[rows] - self._weight[rows] * products.max(axis=0)
        return scores

    def beside_each(self, cosines: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return scores from the cosines between candidates: in row j, that of each if j were the only pick."""
        scores: Vectors = self.gain[rows] - (1 - self.lambda_mult) * cosines
        return scores

    def first(self) -> tuple[int, float]:
        """Return the most relevant candidate and its score: with nothing picked yet, it is the best at every lambda."""
        pick, relevance = self.take(self._relevant.copy(), [])
        return pick, self.lambda_mult * relevance

    def take(self, scores: Vectors, picks: list[int], rows: Indices | None = None) -> tuple[int, float]:
        """Take the best candidate out of `scores`; return its place there and its score, the first if several are best.

        Args:
            scores: Off by at most half of `tolerance` wherever they may be the largest; -inf for what was taken.
            picks: What was taken before.
            rows: Whose scores these are, ascending; None says that they are everyone's.
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
        """Return the place of the best, where that of the largest score has rivals too close to tell.

        Args:
            best: The place of the largest score.
            rivals: The places of the others.
            lead: By how much the largest score is ahead of them all.
            picks: What was taken before.
            rows: The candidates that stand in the places; None says that it is everyone.
        """
        places = np.sort(np.append(rivals, best))
        close = places if rows is None else rows[places]
        relevance, redundancy, compared = self._settled
        unknown = close[np.isnan(relevance[close])]
        relevance[unknown] = self.relevance.exactly(self.candidates.vectors, unknown)
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

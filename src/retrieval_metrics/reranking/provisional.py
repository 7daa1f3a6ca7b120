"""Selecting in float32, which takes half the time, and proving afterwards that float64 selects the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.directions import DOUBLE
from retrieval_metrics.reranking.marginal_relevance import MarginalRelevance, resolution

if TYPE_CHECKING:
    from retrieval_metrics.reranking.directions import Directions
    from retrieval_metrics.reranking.relevance import Relevance
    from retrieval_metrics.reranking.vectors import FloatArray, Indices, Vectors

_NOTED = 8  # more rivals than that at one step are settled at once
_PROVED = 4  # times as many rivals as picks: with more, to select in float64 takes no longer than a proof


class Provisional(MarginalRelevance):
    """Scores in float32: whoever seems best is taken, and where it was close, the rivals are noted for the proof."""

    def __init__(self, candidates: Directions, relevance: Relevance, lambda_mult: float) -> None:
        """Take the candidates of one query, their relevance to it and the weight of that relevance."""
        super().__init__(candidates, relevance, lambda_mult)
        self._tie = 16 * np.finfo(np.float32).eps * (1 + relevance.largest)
        self._steps: list[int] = []
        self._rivals: list[int] = []  # each could have been the best at its step

    def _settle(self, rivals: Indices, scores: Vectors, picks: list[int]) -> int:
        close = scores[rivals]
        best = rivals[close.argmax()]
        ties = np.count_nonzero(close >= scores[best] - self._tie) > 1
        if ties:
            vectors = self.candidates.vectors
            alike = (vectors[rivals] == vectors[best]).all(axis=1) & self.relevance.same(rivals, best)
            best = rivals[alike][0]  # of equal candidates, the lowest index is certain to be the best
            rivals = rivals[~alike | (rivals == best)]
            ties = np.count_nonzero(scores[rivals] >= scores[best] - self._tie) > 1
        if ties or not picks or len(rivals) > _NOTED:
            return super()._settle(rivals, scores, picks)
        others = [rival for rival in rivals.tolist() if rival != best]
        self._rivals += others
        self._steps += [len(picks)] * len(others)
        return int(best)

    def prove(self, picks: list[int]) -> FloatArray | None:
        """Return the float64 score of each pick, or None unless each is certain to be ahead of all its rivals."""
        k = len(picks)
        place = {row: i for i, row in enumerate(dict.fromkeys(picks + self._rivals))}
        if len(place) > (1 + _PROVED) * k:
            return None
        rows = np.array(list(place))
        relevance = self.relevance.exactly(self.candidates.vectors, rows)
        vectors = self.candidates.vectors[rows].astype(DOUBLE)
        products = vectors @ vectors.T
        lengths = np.sqrt(products.diagonal())
        lengths[lengths == 0] = np.inf
        redundancy = np.maximum.accumulate(products[:, :k] / np.outer(lengths, lengths[:k]), axis=1)
        scores = np.empty((len(rows), k))  # of every row at every step
        scores[:, 0] = self.lambda_mult * relevance
        scores[:, 1:] = scores[:, :1] - (1 - self.lambda_mult) * redundancy[:, :-1]
        picked = scores.diagonal().copy()
        lead = picked[self._steps] - scores[[place[rival] for rival in self._rivals], self._steps]
        certain = resolution(DOUBLE, vectors.shape[1], self.relevance.largest)
        return picked if (lead > certain).all() else None

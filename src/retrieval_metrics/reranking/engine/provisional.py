"""Select in float32, which takes half the time, and prove afterwards that float64 selects the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import Directions
from retrieval_metrics.reranking.engine.marginal_relevance import MarginalRelevance
from retrieval_metrics.reranking.engine.products import ALL, DOUBLE, EPS, SINGLE

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.vectors import Indices

_FEW = 8  # fewer rivals than this are settled at once if they seem to tie
_PROVED = 4  # times as many rivals as picks: with more, selecting in float64 is as fast as a proof
_NOTED = 100_000  # bounds memory; with more rivals there is no proof


class Provisional(MarginalRelevance):
    """Scores in float32: the apparent best is taken, and candidates close to it are recorded for the proof."""

    def __init__(self, candidates: Directions, problem: Problem, lambda_mult: float) -> None:
        """Prepare the scores of one query's candidates; `lambda_mult` is the weight of relevance."""
        super().__init__(candidates, problem, lambda_mult)
        self._tie = 4 * EPS[SINGLE] * (1 + problem.largest)
        self._steps: list[int] = []
        self._rivals: list[int] = []  # each could have been the best at that step

    def _settle(self, best: int, rivals: Indices, lead: float, picks: list[int], rows: Indices | None) -> int:
        if len(rivals) < _FEW and (not picks or lead <= self._tie):
            return super()._settle(best, rivals, lead, picks, rows)
        if len(self._rivals) <= _NOTED:
            self._rivals += (rivals if rows is None else rows[rivals]).tolist()
            self._steps += [len(picks)] * len(rivals)
        return best

    def prove(self, picks: list[int]) -> FloatArray | None:
        """Return the float64 score of each pick, or None if one is not certain to be ahead of all its rivals."""
        k, vectors = len(picks), self.candidates.vectors
        place = {row: i for i, row in enumerate(dict.fromkeys(picks + self._rivals))}
        if len(place) > (1 + _PROVED) * k or len(self._rivals) > _NOTED:
            return None
        rows = np.array(list(place))
        chosen = Directions(vectors[rows], "candidates", precision=DOUBLE)
        scores = np.empty((k, len(rows)))  # of every row at every step
        scores[0] = self.lambda_mult * self.problem.measured(chosen, rows)
        redundancy = np.maximum.accumulate(chosen.cosines_between(slice(k - 1), ALL), axis=0)
        np.subtract(scores[0], (1 - self.lambda_mult) * redundancy, out=scores[1:])
        picked = scores.diagonal().copy()
        lead = picked[self._steps] - scores[self._steps, [place[rival] for rival in self._rivals]]
        return picked if (lead > chosen.resolution(self.problem.largest)).all() else None

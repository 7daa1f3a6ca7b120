"""The candidates picked so far, and the decision on the next."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import DOUBLE, resolution
from retrieval_metrics.reranking.engine.exact import exact_cosines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.reranking.engine.directions import Directions
    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.vectors import Indices


class Picks:
    """The candidates picked so far, each with the largest `lambda * relevance - (1 - lambda) * redundancy` at its step.

    Scores from float64 products have an error of at most half of a tolerance, so two that are further apart are in the
    right order. Closer ones are computed again from the definition: a selection does not depend on the BLAS.

    Attributes:
        rows: The picks, in the order of selection.
        scores: The score of each pick at its step; of the first, which is the most relevant at every lambda, relevance.
        wanted: How many are to be picked, at most n.
        lambda_mult: The weight of relevance.
    """

    def __init__(self, candidates: Directions, problem: Problem, wanted: int, lambda_mult: float) -> None:
        """Start without picks."""
        d = candidates.vectors.shape[1]
        self.rows: list[int] = []
        self.scores: list[float] = []
        self.wanted, self.lambda_mult = wanted, lambda_mult
        self._candidates, self._problem = candidates, problem
        self._units = np.empty((wanted, d))  # of the picks, in float64
        self._tolerance = resolution(DOUBLE, d, problem.largest, d)

    def take_exactly(self, rows: Indices) -> bool:
        """Pick the best of some candidates, ascending, and of all; return whether float64 might take another."""
        row, score, ties = self._settle(rows)
        self._units[len(self.rows)] = self._candidates.units(np.array([row]))
        self.rows.append(row)
        self.scores.append(score)
        return ties

    def take_each(self, expected: list[int], close: Sequence[int]) -> bool:
        """Pick as expected for as long as that is right, then what is right; return whether all was as expected.

        Args:
            expected: The candidates that seem to be the best at the next steps.
            close: Those that could be the best instead at one of these steps; they may be repeated.
        """
        before, steps = len(self.rows), len(expected)
        rows = np.array(list(dict.fromkeys([*expected, *close])))
        units = self._candidates.units(rows)
        relevance = self._problem.relevance_of(units, rows)
        gain = self.lambda_mult * relevance
        scores = np.empty((steps, len(rows)))  # of each candidate at each step
        scores[0] = relevance
        if before:
            scores[0] = gain - (1 - self.lambda_mult) * (self._units[:before] @ units.T).max(axis=0)
        scores[1:] = gain - (1 - self.lambda_mult) * (units[: steps - 1] @ units.T)
        scores.ravel()[len(rows) :: len(rows) + 1] = -np.inf  # each pick, at the step after its own
        later = scores if before else scores[1:]
        np.minimum.accumulate(later, axis=0, out=later)
        near = scores >= (scores.diagonal() - self._tolerance)[:, np.newaxis]
        for step, (pick, score, rivals) in enumerate(
            zip(expected, scores.diagonal().tolist(), near.sum(axis=1).tolist(), strict=True)
        ):
            if rivals == 1:
                self.rows.append(pick)
                self.scores.append(score)
                continue
            self.take_exactly(np.sort(rows[near[step]]))
            if self.rows[-1] != pick:
                self._units[before : before + step] = units[:step]
                return False
        if len(self.rows) < self.wanted:
            self._units[before : before + steps] = units[:steps]
        return True

    @cached_property
    def _settled(self) -> tuple[FloatArray, FloatArray, Indices]:
        """The exact values that `_settle` has computed: relevance, redundancy, and given how many picks."""
        n = len(self._candidates.vectors)
        return np.full(n, np.nan), np.full(n, -np.inf), np.zeros(n, dtype=np.intp)

    def _settle(self, rows: Indices) -> tuple[int, float, bool]:
        """Return the best of some candidates, its score from the definition, and if float64 might take another."""
        relevance, redundancy, compared = self._settled
        unknown = rows[np.isnan(relevance[rows])]
        relevance[unknown] = self._problem.exactly(self._candidates.vectors, unknown)
        scores = relevance[rows]
        if self.rows:
            self._compare(rows, int(compared[rows].min()), redundancy)
            compared[rows] = len(self.rows)
            scores = self.lambda_mult * scores - (1 - self.lambda_mult) * redundancy[rows]
        at = int(scores.argmax())
        ties = np.count_nonzero(scores >= scores[at] - self._tolerance)
        return int(rows[at]), float(scores[at]), bool(ties > 1)

    def _compare(self, rows: Indices, since: int, redundancy: FloatArray) -> None:
        """Make the redundancy of some candidates exact, which was so given the picks before `since`."""
        new, vectors = np.array(self.rows[since:]), self._candidates.vectors
        similarity = self._candidates.cosines(rows, new)
        largest = np.maximum(similarity.max(axis=1), redundancy[rows])
        row, pick = np.nonzero(similarity >= (largest - self._candidates.resolution(0))[:, np.newaxis])
        np.maximum.at(redundancy, rows[row], exact_cosines(vectors, rows[row], vectors, new[pick]))

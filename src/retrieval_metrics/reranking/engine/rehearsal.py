"""Rehearse the next steps in the precision of the vectors, to find the few candidates that can be picked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import ALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.reranking.engine.directions import Directions
    from retrieval_metrics.reranking.engine.picks import Picks
    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.vectors import Indices, Vectors

_COMPARED = 200  # the least number of candidates compared with the newer picks at once
_FEW = 32  # more candidates than this that seem to tie are settled at once


class Rehearsal:
    """Upper bounds on the score of every candidate: the score given the picks that it was compared with so far.

    A score never rises from one step to the next, so a candidate whose old score is below the best does not have to be
    compared with the newer picks. Source: Minoux, Accelerated greedy algorithms for maximizing submodular set functions
    (1978). Here a few leading candidates compete until one of the others could be better, and only then others are
    compared, with all newer picks at once, which is much faster than one pick at a time.

    A bound from float32 is wrong by at most half of a tolerance. So the picks of a rehearsal are provisional, and
    `Picks` decides between each of them and the candidates that were too close to it.
    """

    def __init__(self, picks: Picks, candidates: Directions, problem: Problem, leaders: int) -> None:
        """Prepare to let some leaders compete, or all candidates."""
        n = len(candidates.vectors)
        self._picks, self._candidates = picks, candidates
        self._tolerance = candidates.resolution(problem.largest)
        self._relevance = problem.measured(candidates)
        self._gain = picks.lambda_mult * self._relevance
        self._weights = (1 - picks.lambda_mult) * candidates.inverse_lengths
        self._leaders = min(leaders, n)
        self._bounds = np.full_like(self._gain, np.inf)
        self._bounds[picks.rows] = -np.inf
        self._compared = np.zeros(n, dtype=np.intp)  # with how many picks each candidate was compared
        self.blurred = False  # whether most scores are too close for float32, but not for float64

    def pick(self) -> None:
        """Rehearse as many steps as are certain to be among a few candidates, and pick among these."""
        picks, bounds = self._picks, self._bounds
        first = not picks.rows
        rows, beside, least = self._compete()
        scores = self._relevance.copy() if first else bounds[rows]
        steps = 1 if first and self._leaders < len(bounds) else min(len(rows), picks.wanted - len(picks.rows))
        expected, close, scores = self._rehearse(scores, beside, least + self._tolerance, steps)
        if not expected:
            apparent = self._relevance if first else bounds
            near = np.flatnonzero(apparent >= apparent.max() - self._tolerance)
            self.blurred = not picks.take_exactly(near) and 2 * len(near) > len(bounds)
        elif not picks.take_each(rows[expected].tolist(), rows[close].tolist()):
            expected = []
        if len(picks.rows) == picks.wanted:
            return
        if first and (steps == 1 or not expected):
            self._compare(ALL)
        elif expected:
            bounds[rows], self._compared[rows] = scores, len(picks.rows)
        bounds[picks.rows] = -np.inf

    def _rehearse(
        self, scores: Vectors, beside: Callable[[int], Vectors], least: float, steps: int
    ) -> tuple[list[int], list[int], Vectors]:
        """Return the apparent picks, who else could be picked, and the scores at the last step.

        No candidate other than those of `scores` has `least`; `beside` returns scores given a single pick.
        """
        expected: list[int] = []
        close: list[int] = []
        for step in range(steps):
            if step == 1 and not self._picks.rows:  # the scores were the relevance
                scores = beside(expected[0]).copy()
                scores[expected[0]] = -np.inf
            elif step:
                np.minimum(scores, beside(expected[-1]), out=scores)
            at = int(scores.argmax())
            top, scores[at] = scores.item(at), -np.inf
            near = (scores >= top - self._tolerance).nonzero()[0].tolist()
            if top <= least or len(near) >= _FEW:
                scores[at] = top
                break
            expected.append(at)
            close += near
        return expected, close, scores

    def _compete(self) -> tuple[Indices, Callable[[int], Vectors], float]:
        """Return who competes, their scores given one of them as the only pick, and a bound on all others."""
        least = self._tighten() if self._picks.rows else -np.inf
        if self._leaders == len(self._bounds) or not self._picks.rows:
            return np.arange(len(self._bounds)), self._beside, least
        least = max(least, float(np.partition(self._bounds, -self._leaders)[-self._leaders]))
        rows = np.flatnonzero(self._bounds > least)
        table = self._gain[rows] - (1 - self._picks.lambda_mult) * self._candidates.cosines(rows, rows)
        return rows, table.__getitem__, least

    def _beside(self, pick: int) -> Vectors:
        products = self._candidates.products(self._candidates.vectors[pick])
        products *= self._weights * self._candidates.inverse_lengths[pick]
        return self._gain - products

    def _tighten(self) -> float:
        """Update bounds, largest first, until enough candidates are above every old bound, which is returned."""
        reach = max(_COMPARED, self._leaders)
        while 2 * reach < len(self._bounds):  # otherwise compare all, which needs no copy of their vectors
            least = float(np.partition(self._bounds, -reach)[-reach])
            self._compare(np.flatnonzero((self._bounds >= least) & (self._compared < len(self._picks.rows))))
            if np.count_nonzero(self._bounds > least + self._tolerance) >= self._leaders / 2:
                return least
            reach *= 2
        self._compare(ALL)
        return -np.inf

    def _compare(self, rows: Indices | slice) -> None:
        known = len(self._picks.rows)
        since = int(self._compared[rows].min(initial=known))
        if since < known:
            new = self._picks.rows[since:]
            units = self._candidates.vectors[new] * self._candidates.inverse_lengths[new, np.newaxis]
            products = self._candidates.products(units, rows)
            largest = np.ascontiguousarray(products.T).max(axis=0)  # numpy is slow on short rows
            self._bounds[rows] = np.minimum(self._bounds[rows], self._gain[rows] - self._weights[rows] * largest)
            self._compared[rows] = known

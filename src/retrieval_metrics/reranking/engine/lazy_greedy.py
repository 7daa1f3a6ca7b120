"""Lazy greedy selection: the same picks from fewer, larger matrix products, for many candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.reranking.engine.greedy import Picks
    from retrieval_metrics.reranking.engine.marginal_relevance import MarginalRelevance
    from retrieval_metrics.reranking.vectors import Indices

_LEADERS = 16, 100  # least and largest number of candidates that compete at once; in between, k
_COMPARED = 200  # the least number of candidates compared with the newer picks at once


def lazy_greedy(mmr: MarginalRelevance, k: int) -> Picks:
    """Let a few leading candidates compete until one of the others could be better, and only then update the others.

    A score never rises from one step to the next, so an old score is an upper bound: a candidate whose old score is
    below the best does not have to be compared with the newer picks. Source: Minoux, Accelerated greedy algorithms for
    maximizing submodular set functions (1978). Here the products of the leaders with each other are computed at once,
    and those of the others with all newer picks at once, which is much faster than one pick at a time.
    """
    pick, score = mmr.first()
    picks, reached = [pick], [score]
    bounds = _Bounds(mmr, pick, k)
    while len(picks) < k:
        bounds.tighten(picks)
        pick, score = mmr.take(bounds.scores, picks)
        picks.append(pick)
        reached.append(score)
        bounds.compete(picks, reached)
    return picks, reached


class _Bounds:
    """Upper bounds on the scores: each is the score given the picks that its candidate was compared with so far."""

    def __init__(self, mmr: MarginalRelevance, first: int, k: int) -> None:
        candidates = mmr.candidates
        n, d = candidates.vectors.shape
        self._mmr, self._k = mmr, k
        self._leaders = min(max(k, _LEADERS[0]), _LEADERS[1])
        self._units = np.empty((k, d), dtype=candidates.precision)  # of the picks
        self._units[0] = candidates.unit(first)
        self._known = 1  # the number of units filled in
        self._compared = np.ones(n, dtype=np.intp)  # with how many picks each candidate was compared
        self._reach = _COMPARED
        self._least = -np.inf  # bounds above it are up to date
        self.scores = mmr.beside(first)
        self.scores[first] = -np.inf

    def tighten(self, picks: list[int]) -> None:
        """Update bounds, largest first, until the best candidate and enough leaders are above every old bound."""
        candidates, scores = self._mmr.candidates, self.scores
        new = picks[self._known :]
        self._units[self._known : len(picks)] = candidates.vectors[new] * candidates.inverse_lengths[new, np.newaxis]
        self._known = len(picks)
        self._reach = max(_COMPARED, self._reach // 2)
        while 2 * self._reach < len(scores):  # otherwise compare all, which needs no copy of their vectors
            self._least = float(np.partition(scores, -self._reach)[-self._reach])
            self._compare(np.flatnonzero((scores >= self._least) & (self._compared < len(picks))))
            if np.count_nonzero(scores > self._least + self._mmr.tolerance) >= self._leaders / 2:
                return
            self._reach *= 2
        self._least = -np.inf
        self._compare(slice(None))

    def _compare(self, rows: Indices | slice) -> None:
        new = self._units[self._compared[rows].min(initial=self._known) : self._known]
        if len(new):
            self.scores[rows] = np.minimum(self.scores[rows], self._mmr.beside_new(new, rows))
            self._compared[rows] = self._known

    def compete(self, picks: list[int], reached: list[float]) -> None:
        """Pick among the leaders for as long as they are certain to be ahead of all other candidates."""
        least = self._least
        if self._leaders < len(self.scores):
            least = max(least, float(np.partition(self.scores, -self._leaders)[-self._leaders]))
        leaders = np.sort(np.append(np.flatnonzero(self.scores > least), picks[-1]))
        scores = self.scores[leaders]
        table = self._mmr.beside_each(self._mmr.candidates.cosines_between(leaders, leaders), leaders)
        place = int(np.searchsorted(leaders, picks[-1]))
        while True:
            np.minimum(scores, table[place], out=scores)
            if len(picks) == self._k or scores[scores.argmax()] <= least + self._mmr.tolerance:
                break
            place, score = self._mmr.take(scores, picks, leaders)
            picks.append(int(leaders[place]))
            reached.append(score)
        self.scores[leaders] = scores
        self._compared[leaders] = len(picks)

"""Lazy greedy selection: the same picks from fewer products, for more vectors than a cache holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.reranking.greedy import Picks
    from retrieval_metrics.reranking.marginal_relevance import MarginalRelevance
    from retrieval_metrics.reranking.vectors import Indices

_BLOCK = 16  # how many candidates are compared at once, at least


def lazy_greedy(mmr: MarginalRelevance, k: int) -> Picks:
    """Compare a candidate with the newer picks only once it could be the best: best for very many numbers.

    A score never rises from one step to the next, so an old score is an upper bound: whoever is behind the best in
    spite of it need not be compared. Source: Minoux, Accelerated greedy algorithms for maximizing submodular set
    functions (1978).
    """
    pick, score = mmr.first()
    picks, reached = [pick], [score]
    bounds = _Bounds(mmr, pick, k)
    while len(picks) < k:
        bounds.tighten()
        pick, score = mmr.take(bounds.scores, picks)
        bounds.add(pick)
        picks.append(pick)
        reached.append(score)
    return picks, reached


class _Bounds:
    """Upper bounds on the scores: each is the score beside the picks its candidate was compared with so far."""

    def __init__(self, mmr: MarginalRelevance, first: int, k: int) -> None:
        vectors = mmr.candidates.vectors
        self._mmr = mmr
        self._picked = 1
        self._units = np.empty((k, vectors.shape[1]), dtype=vectors.dtype)  # of the picks
        self._units[0] = mmr.candidates.unit(first)
        self.scores = mmr.beside(vectors.dot(self._units[0]))
        self.scores[first] = -np.inf
        self._compared = np.ones(len(vectors), dtype=np.intp)  # with how many picks
        self._block = _BLOCK

    def add(self, pick: int) -> None:
        self._units[self._picked] = self._mmr.candidates.unit(pick)
        self._picked += 1

    def tighten(self) -> None:
        """Compare candidates, most promising first, until no bound reaches the best score that is up to date."""
        best, rounds = -np.inf, 0
        while (old := self._old_within_reach(best)).size:
            self._compare(old)
            best = max(best, self.scores[old].max())
            rounds += 1
            # Larger blocks make fewer and better used matrix products, but compare candidates that need not be.
            self._block *= 2 if rounds > 1 else 1
        if rounds == 1:
            self._block = max(_BLOCK, self._block // 2)

    def _old_within_reach(self, best: float) -> Indices:
        old = np.flatnonzero((self.scores >= best - self._mmr.tolerance) & (self._compared < self._picked))
        if old.size > self._block:
            old = old[np.argpartition(self.scores[old], -self._block)[-self._block :]]
        return old

    def _compare(self, old: Indices) -> None:
        mmr, new = self._mmr, self._units[self._compared[old].min() : self._picked]
        closest = (mmr.candidates.vectors[old] @ new.T).max(axis=1)
        self.scores[old] = np.minimum(self.scores[old], mmr.gain[old] - mmr.weight[old] * closest)
        self._compared[old] = self._picked

"""A naive reference for MMR, in plain loops from the formula of its docstring, and candidates that are hard to tell.

Nothing here is fast or shared with the package. Dot products are added by einsum, because numpy's dot adds in an order
that depends on the length and the place in memory, and then equal vectors need not tie.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_PRECISIONS = (np.float32, np.float64)


def _dot(a: Array, b: Array) -> Any:
    return np.einsum("i,i->", a, b)


def cosines(ones: Array, right: Array) -> list[list[float]]:
    """Return the cosine of each vector with each."""
    ones, right = ones.astype(np.float64), right.astype(np.float64)
    measured = [(b, np.sqrt(_dot(b, b))) for b in right]
    return [
        [float(_dot(a, b) / (of_a * of_b)) if of_a * of_b > 0 else 0.0 for b, of_b in measured]
        for a, of_a in ((a, np.sqrt(_dot(a, a))) for a in ones)
    ]


def cosine(a: Array, b: Array) -> float:
    return cosines(a[None], b[None])[0][0]


def mean_distance(vectors: Array) -> float:
    similarity = cosines(vectors, vectors)
    distances = [1 - similarity[i][j] for i in range(len(vectors)) for j in range(i)]
    return sum(distances) / len(distances)


def select(
    relevance: Sequence[float], similarity: Sequence[Sequence[float]], k: int, lambda_mult: float
) -> tuple[list[int], list[float]]:
    picks: list[int] = []
    scores: list[float] = []
    while len(picks) < min(k, len(relevance)):
        best = -1
        best_score = -np.inf
        for d in range(len(relevance)):
            if d in picks:
                continue
            score = relevance[d]
            if picks:
                score = lambda_mult * relevance[d] - (1 - lambda_mult) * max(similarity[d][s] for s in picks)
            if score > best_score:
                best = d
                best_score = score
        scores.append(best_score if picks else lambda_mult * best_score)
        picks.append(best)
    return picks, scores


@dataclass(frozen=True)
class Situation:
    """One call of `mmr`."""

    query: Array
    candidates: Array
    relevance: Array | None
    k: int
    lambda_mult: float

    def expected(self) -> tuple[list[int], list[float]]:
        given_relevance = self.relevance
        relevance = (
            cosines(self.query[None], self.candidates)[0] if given_relevance is None else given_relevance.tolist()
        )
        return select(relevance, cosines(self.candidates, self.candidates), self.k, self.lambda_mult)


def situations(number: int, seed: int) -> Iterator[Situation]:
    """Ties, near ties, repeats, zero vectors, lengths that differ wildly, queries that are candidates, k > n."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(1, 30))
        d = int(rng.choice([1, 2, 3, 5, 16, 64, 300]))
        candidates = _candidates(rng, n, d)
        if rng.random() < 0.3:
            candidates[rng.random(n) < 0.3] = 0
        if rng.random() < 0.3:
            candidates[rng.random(n) < 0.3] = candidates[0]
        query = rng.normal(size=d) if rng.random() < 0.5 else rng.integers(-2, 3, d).astype(float)
        if rng.random() < 0.2:
            query = candidates[rng.integers(n)].copy()
        yield Situation(
            query.astype(_PRECISIONS[rng.integers(2)]),
            candidates.astype(_PRECISIONS[rng.integers(2)]),
            np.round(rng.random(n), 1) if rng.random() < 0.3 else None,
            k=int(rng.integers(1, n + 5)),
            lambda_mult=float(rng.choice([0, 1, 0.5, 0.3, 0.7, rng.random()])),
        )


def _candidates(rng: np.random.Generator, n: int, d: int) -> Array:
    kinds: list[Callable[[], Array]] = [
        lambda: rng.normal(size=(n, d)),
        lambda: rng.integers(-2, 3, (n, d)).astype(float),
        lambda: rng.normal(size=(n, d)) + 20,
        lambda: rng.normal(size=(1 + n // 4, d))[rng.integers(1 + n // 4, size=n)],
        lambda: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-30, 30, (n, 1)),
        lambda: 0.1 + rng.choice([0, 1e-7], (n, d)),
    ]
    return kinds[rng.integers(len(kinds))]()

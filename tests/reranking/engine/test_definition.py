"""On many random cases MMR selects what a double loop and LangChain's own function select."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm

LAMBDAS = (0.0, 0.3, 0.5, 0.7, 1.0)


def cosine(a: Any, b: Any) -> float:
    lengths = float(np.sqrt(a @ a)) * float(np.sqrt(b @ b))
    return float(a @ b) / lengths if lengths else 0.0


def double_loop(query: Any, candidates: Any, k: int, lambda_mult: float, relevance: Any = None) -> list[int]:
    """The definition, in float64: most relevant first, then the formula, ties to the lowest index."""
    vectors = np.asarray(candidates, dtype=np.float64)
    relevant = [cosine(np.asarray(query, np.float64), row) for row in vectors] if relevance is None else list(relevance)
    picks: list[int] = []
    while len(picks) < min(k, len(vectors)):
        best, best_score = -1, -np.inf
        for at, row in enumerate(vectors):
            if at in picks:
                continue
            redundant = max((cosine(row, vectors[pick]) for pick in picks), default=0.0)
            score = relevant[at] if not picks else lambda_mult * relevant[at] - (1 - lambda_mult) * redundant
            if score > best_score:
                best, best_score = at, score
        picks.append(best)
    return picks


def situations(seed: int, number: int) -> Any:
    """Random candidates with exact duplicates, zero vectors and exact ties among them."""
    rng = np.random.default_rng(seed)
    for case in range(number):
        n, d = int(rng.integers(1, 25)), int(rng.integers(1, 9))
        if case % 3 == 0:
            vectors = rng.integers(-2, 3, size=(n, d)).astype(np.float32)  # small whole numbers tie exactly
        else:
            vectors = rng.normal(size=(n, d)).astype(np.float32)
        for _ in range(int(rng.integers(0, 4))):
            vectors[rng.integers(n)] = vectors[rng.integers(n)]
        if case % 5 == 0:
            vectors[rng.integers(n)] = 0
        query = np.zeros(d, np.float32) if case % 17 == 0 else rng.normal(size=d).astype(np.float32)
        yield query, vectors, int(rng.integers(1, n + 4)), LAMBDAS[case % len(LAMBDAS)]


def test_it_selects_what_a_double_loop_selects() -> None:
    for query, vectors, k, lambda_mult in situations(1, 1000):
        expected = double_loop(query, vectors, k, lambda_mult)
        for candidates in (vectors, vectors.astype(np.float64)):
            assert rm.mmr(query, candidates, k=k, lambda_mult=lambda_mult).indices.tolist() == expected


def test_it_selects_what_langchain_selects() -> None:
    module = pytest.importorskip("langchain_core.vectorstores.utils")
    rng = np.random.default_rng(2)
    for case in range(500):
        n, d, k = int(rng.integers(1, 40)), int(rng.integers(2, 33)), int(rng.integers(1, 20))
        vectors, query = rng.normal(size=(n, d)), rng.normal(size=d)
        lambda_mult = LAMBDAS[case % len(LAMBDAS)]
        theirs = module.maximal_marginal_relevance(query, list(vectors), lambda_mult=lambda_mult, k=k)
        assert rm.mmr(query, vectors, k=k, lambda_mult=lambda_mult).indices.tolist() == theirs


@pytest.mark.parametrize(("n", "d", "k"), [(30, 16, 30), (300, 64, 40), (700, 8, 100), (3000, 400, 25)])
def test_every_size_selects_the_same_whatever_method_it_takes(n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(n)
    centres = rng.normal(size=(12, d))
    vectors = (centres[rng.integers(12, size=n)] + 0.3 * rng.normal(size=(n, d))).astype(np.float32)
    vectors[n // 2] = vectors[n // 3]
    query = centres[0] + rng.normal(size=d)
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    relevance = unit @ (query / np.linalg.norm(query))
    for lambda_mult in (0.3, 0.5, 0.9):
        picks = [int(relevance.argmax())]
        redundant = np.full(n, -np.inf)
        while len(picks) < k:
            redundant = np.maximum(redundant, unit @ unit[picks[-1]])
            score = lambda_mult * relevance - (1 - lambda_mult) * redundant
            score[picks] = -np.inf
            picks.append(int(score.argmax()))
        assert rm.mmr(query, vectors, k=k, lambda_mult=lambda_mult).indices.tolist() == picks

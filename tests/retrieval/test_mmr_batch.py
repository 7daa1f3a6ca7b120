"""Several queries at once give what each gives alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import retrieval_metrics as rm
from mmr_reference import situations
from retrieval_metrics.retrieval import mmr_methods

small = st.integers(-3, 3)
matrices = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(small, min_size=d, max_size=d), min_size=1, max_size=8).map(np.array)
)
lambdas = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)


def same(selections: list[rm.types.Selection], other_selections: list[rm.types.Selection]) -> bool:
    return len(selections) == len(other_selections) and all(
        list(selection) == list(other) and np.allclose(selection.scores, other.scores, rtol=0, atol=1e-14)
        for selection, other in zip(selections, other_selections, strict=True)
    )


@pytest.mark.parametrize(("n", "k"), [(20, 10), (20, 1), (20, None), (20, 50), (200, 10), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_of_candidates_for_each_query(n: int, k: int | None, dtype: Any) -> None:
    rng = np.random.default_rng(n)
    queries = rng.normal(size=(7, 30)).astype(dtype)
    candidates = rng.normal(size=(7, n, 30)).astype(dtype)
    relevance = rng.random((7, n))
    for lambda_mult in (0, 0.4, 1):
        expected = [rm.mmr(*one, k=k, lambda_mult=lambda_mult) for one in zip(queries, candidates, strict=True)]
        for shared in (candidates, list(candidates), candidates.tolist()):
            assert same(rm.mmr_batch(queries, shared, k=k, lambda_mult=lambda_mult), expected)
        with_relevance = [
            rm.mmr(None, one, k=k, lambda_mult=lambda_mult, relevance=relevant)
            for one, relevant in zip(candidates, relevance, strict=True)
        ]
        assert same(rm.mmr_batch(None, candidates, k=k, lambda_mult=lambda_mult, relevance=relevance), with_relevance)
        assert same(
            rm.mmr_batch(queries, candidates, k=k, lambda_mult=lambda_mult, relevance=relevance.tolist()),
            with_relevance,
        )


def test_lists_of_different_lengths_and_hard_cases_among_them() -> None:
    hard = [case for case in situations(400, seed=3) if case.candidates.shape[1] == 3]
    assert len(hard) > 20
    queries = [case.query for case in hard]
    candidates = [case.candidates for case in hard]
    candidates[4] = np.empty((0, 3))
    for k in (1, 5, None):
        expected = [rm.mmr(*pair, k=k) for pair in zip(queries, candidates, strict=True)]
        assert same(rm.mmr_batch(queries, candidates, k=k), expected)


@pytest.mark.parametrize(("n", "d"), [(15, 8), (400, 100)])
def test_candidates_that_all_queries_share(n: int, d: int) -> None:
    rng = np.random.default_rng(d)
    queries = rng.normal(size=(5, d))
    candidates = rng.normal(size=(n, d)).astype(np.float32)
    relevance = rng.random((5, n))
    expected = [rm.mmr(query, candidates, k=9) for query in queries]
    for shared in (candidates, candidates.tolist(), list(candidates)):
        assert same(rm.mmr_batch(queries, shared, k=9), expected)
    with_relevance = [rm.mmr(None, candidates, k=9, relevance=relevant) for relevant in relevance]
    assert same(rm.mmr_batch(None, candidates, k=9, relevance=relevance), with_relevance)


def test_the_same_candidates_for_some_queries_and_others_between() -> None:
    rng = np.random.default_rng(6)
    queries = rng.normal(size=(3, 8))
    same_ones = rng.normal(size=(15, 8))
    other_candidates = rng.normal(size=(15, 8))
    candidates = [same_ones, other_candidates, same_ones]
    expected = [rm.mmr(*pair, k=9) for pair in zip(queries, candidates, strict=True)]
    assert same(rm.mmr_batch(queries, candidates, k=9), expected)


def test_no_queries_no_selections() -> None:
    assert rm.mmr_batch([], []) == []
    assert rm.mmr_batch(np.empty((0, 3)), np.empty((0, 5, 3))) == []
    assert rm.mmr_batch(np.empty((0, 3)), np.ones((5, 3))) == []
    assert [len(selection) for selection in rm.mmr_batch([[1, 0]] * 2, [[], []])] == [0, 0]


@pytest.mark.parametrize(
    ("queries", "candidates", "options", "error", "message"),
    [
        ([[1, 0]], [[[1, 0]], [[0, 1]]], {}, ValueError, "1 queries but 2 lists of candidates"),
        (None, [[[1, 0]]], {"relevance": [[1], [2]]}, ValueError, "2 lists of relevance but 1 lists of candidates"),
        (None, [[[1, 0]]], {}, ValueError, "queries and relevance are both None"),
        ([[1, 0], [1]], [[[1, 0]]] * 2, {}, ValueError, r"queries\[1\] has 1 dimensions but its candidates have 2"),
        ([[1, 0]] * 2, [[[1, 0]], [[1, np.nan]]], {}, ValueError, r"candidates\[1\]\[0, 1\] is nan"),
        ([[1, 0], [np.inf, 0]], [[[1, 0]]] * 2, {}, ValueError, r"queries\[1\]\[0\] is inf"),
        ([[1, 0]] * 2, [[1, 0], [1, np.nan]], {}, ValueError, r"candidates\[1, 1\] is nan"),
        ([[1, 0]] * 2, [[[1, 0]], None], {}, TypeError, r"candidates\[1\] must be numbers, got None"),
        (None, [[[1, 0]]], {"relevance": [[1, 2]]}, ValueError, r"relevance\[0\] must have shape \(1,\)"),
        ([[1, 0]], [[[1, 0]]], {"k": 0}, ValueError, "got 0"),
        ([], [], {"k": 0}, ValueError, "got 0"),
        ([[1, 0]], [[[1, 0]]], {"lambda_mult": 2}, ValueError, "got 2"),
    ],
)
def test_errors_name_the_query(queries: Any, candidates: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rm.mmr_batch(queries, candidates, **options)


@pytest.mark.parametrize("numbers", [1, 4 * 9 * 6, 10**9])
@pytest.mark.filterwarnings("error")
def test_however_many_are_computed_together(numbers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    queries = rng.normal(size=(11, 6))
    candidates = list(rng.normal(size=(11, 9, 6)))
    candidates[2] = candidates[2][:4]  # another size
    candidates[5][3] = 0  # a zero vector
    candidates[7][8] = candidates[7][1]  # a tie
    candidates[8] *= 1e-160  # lengths whose squares are out of range
    candidates[9] *= 1e300
    candidates[10] = np.outer(np.arange(1, 10), -1e-300 * queries[10])
    monkeypatch.setattr(mmr_methods, "_NUMBERS_AT_ONCE", numbers)
    for weight in (0, 0.5):
        together = rm.mmr_batch(queries, candidates, lambda_mult=weight)
        alone = [rm.mmr(*pair, lambda_mult=weight) for pair in zip(queries, candidates, strict=True)]
        assert same(together, alone)

"""The public functions: worked examples, rules of the edges, laws, and what they refuse."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm

small = st.integers(-3, 3)
matrices = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(small, min_size=d, max_size=d), min_size=1, max_size=8).map(np.array)
)
lambdas = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)


@pytest.mark.parametrize("lambda_mult", [0, 0.5, 1])
def test_the_first_pick_is_the_most_relevant_also_at_lambda_0(lambda_mult: float) -> None:
    selection = rm.mmr([0, 1], [[1.0, 0.0], [0.1, 1.0], [1.0, 1.0]], lambda_mult=lambda_mult)
    assert selection.indices[0] == 1
    assert selection.scores[0] == pytest.approx(lambda_mult * 1 / np.sqrt(1.01))


def test_ties_go_to_the_lowest_index() -> None:
    assert list(rm.mmr([1, 0], [[0, 1], [1, 1], [1, -1], [1, 1]], k=2)) == [1, 2]
    assert list(rm.mmr(None, np.ones((5, 3)), relevance=[0.5] * 5)) == [0, 1, 2, 3, 4]
    assert list(rm.mmr_from_similarity([0.5] * 4, np.ones((4, 4)))) == [0, 1, 2, 3]


def test_the_penalty_is_the_largest_similarity_to_any_pick_not_to_the_last() -> None:
    # 1 all but repeats 0 and is unlike 2: a penalty against the last pick alone would take it third.
    similarity = [[1, 0.95, 0.1, 0.3], [0.95, 1, 0, 0.3], [0.1, 0, 1, 0.2], [0.3, 0.3, 0.2, 1]]
    assert list(rm.mmr_from_similarity([0.9, 0.8, 0.5, 0.4], similarity)) == [0, 2, 3, 1]


def test_negative_similarity_is_a_bonus() -> None:
    assert list(rm.mmr([1, 1], [[1.0, 1.0], [1.0, 0.0], [0.9, -1.2]], k=2, lambda_mult=0.2)) == [0, 2]


def test_a_zero_vector_is_neither_relevant_nor_redundant() -> None:
    selection = rm.mmr([1, 0], [[0, 0], [1, 0], [1, 0], [-1, 0]])
    assert list(selection) == [1, 0, 2, 3]  # 0.5; 0 - 0; 0.5 - 0.5 ties, later; 0.5 * -1 - 0.5 * max(-1, 0)
    assert selection.scores == pytest.approx([0.5, 0, 0, -0.5])
    assert list(rm.mmr([0, 0], [[1, 0], [0, 1]])) == [0, 1]


@pytest.mark.parametrize("k", [None, 3, 4, 100, np.int64(7)])
def test_a_k_beyond_the_candidates_selects_all(k: int | None) -> None:
    assert sorted(rm.mmr([1, 0], [[1, 0], [1, 1], [0, 1]], k=k)) == [0, 1, 2]


@pytest.mark.parametrize("empty", [[], np.empty((0, 3)), np.empty((0, 3), dtype=np.float32)])
def test_without_candidates_nothing_is_selected(empty: Any) -> None:
    for selection in (rm.mmr([1, 2, 3], empty, k=2), rm.mmr(None, empty, relevance=[]), rm.mmr_from_similarity([], [])):
        assert len(selection) == 0
        assert selection.indices.dtype == np.int64
        assert selection.scores.dtype == np.float64


@pytest.mark.parametrize(
    "kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.uint16, np.bool_, ">f4"]
)
def test_any_real_numbers_will_do(kind: Any) -> None:
    numbers = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    expected = rm.mmr([1.0, 0.0, 1.0], np.array(numbers, dtype=np.float64))
    selection = rm.mmr(np.array([1, 0, 1], dtype=kind), np.array(numbers, dtype=kind))
    assert list(selection) == list(expected)
    assert selection.scores == pytest.approx(expected.scores, abs=1e-15)


def test_lists_tuples_rows_and_arrays_are_the_same() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 4))
    expected = rm.mmr(vectors[0], vectors)
    ways = [
        vectors.tolist(),
        tuple(map(tuple, vectors.tolist())),
        list(vectors),
        vectors.T.copy().T,
        vectors[::-1][::-1],
    ]
    assert all(rm.mmr(vectors[0].tolist(), way) == expected for way in ways)


def test_what_is_handed_over_is_not_written_to() -> None:
    rng = np.random.default_rng(1)
    for dtype, n in ((np.float32, 20), (np.float64, 20), (np.float32, 500), (np.float64, 500)):
        candidates = rng.normal(size=(n, 50)).astype(dtype)
        candidates[3], candidates[4], candidates[5] = 0, candidates[6], candidates[7] * dtype(1e25)
        relevance = rng.random(n)
        similarity = rng.random((n, n))
        for array in (candidates, relevance, similarity):
            array.setflags(write=False)  # to write would raise
        rm.mmr(candidates[0], candidates, k=10)
        rm.mmr(None, candidates, k=10, relevance=relevance)
        rm.mmr_from_similarity(relevance, similarity, k=10)


def test_relevance_takes_the_place_of_the_query() -> None:
    candidates = [[1, 0], [1, 0], [0, 1]]
    for query in (None, [1, 0], "unused"):
        assert list(rm.mmr(query, candidates, relevance=[0.1, 0.2, 0.3], k=2)) == [2, 1]


@given(candidates=matrices, data=st.data(), lambda_mult=lambdas)
@settings(max_examples=60, deadline=None)
def test_laws(candidates: Any, data: st.DataObject, lambda_mult: float) -> None:
    n, d = candidates.shape
    query = data.draw(st.lists(small, min_size=d, max_size=d))
    full = rm.mmr(query, candidates, lambda_mult=lambda_mult)
    assert sorted(full) == list(range(n))
    assert (abs(full.scores) <= 1 + 1e-15).all()
    k = data.draw(st.integers(1, n))
    part = rm.mmr(query, candidates, k=k, lambda_mult=lambda_mult)
    assert list(part) == list(full)[:k]
    assert part.scores == pytest.approx(full.scores[:k], abs=1e-15)
    lengths = 2.0 ** np.array(data.draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n)))
    assert list(rm.mmr(query, candidates * lengths[:, np.newaxis], lambda_mult=lambda_mult)) == list(full)


@given(relevance=st.lists(st.integers(0, 3), min_size=1, max_size=10))
@settings(max_examples=30, deadline=None)
def test_at_lambda_1_it_is_a_stable_sort_by_relevance(relevance: list[int]) -> None:
    expected = sorted(range(len(relevance)), key=lambda i: -relevance[i])
    candidates = np.random.default_rng(0).normal(size=(len(relevance), 3))
    assert list(rm.mmr(None, candidates, relevance=relevance, lambda_mult=1)) == expected
    similarity = candidates @ candidates.T
    assert list(rm.mmr_from_similarity(relevance, similarity, lambda_mult=1)) == expected


REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = {
    "lambda above 1": (([1, 0], [[1, 0]]), {"lambda_mult": 1.5}, ValueError, r"lambda_mult must be from 0 .*got 1\.5"),
    "lambda below 0": (([1, 0], [[1, 0]]), {"lambda_mult": -0.1}, ValueError, r"got -0\.1"),
    "lambda nan": (([1, 0], [[1, 0]]), {"lambda_mult": float("nan")}, ValueError, "got nan"),
    "lambda text": (([1, 0], [[1, 0]]), {"lambda_mult": "half"}, TypeError, "lambda_mult must be a number.*'half'"),
    "lambda none": (([1, 0], [[1, 0]]), {"lambda_mult": None}, TypeError, "got None"),
    "k zero": (([1, 0], [[1, 0]]), {"k": 0}, ValueError, "k must be a positive integer or None, got 0"),
    "k zero without candidates": (([1, 0], []), {"k": 0}, ValueError, "got 0"),
    "k negative": (([1, 0], [[1, 0]]), {"k": -2}, ValueError, "got -2"),
    "k not whole": (([1, 0], [[1, 0]]), {"k": 2.0}, TypeError, r"got 2\.0 \(float\)"),
    "k bool": (([1, 0], [[1, 0]]), {"k": True}, TypeError, "got True"),
    "nan": (([1, 0], [[1, 0], [float("nan"), 1]]), {}, ValueError, r"candidates\[1, 0\] is nan, but every number"),
    "infinite": (([1, 0], [[1, 0], [1, 1], [0, -np.inf]]), {}, ValueError, r"candidates\[2, 1\] is -inf"),
    "nan query": (([1, np.nan], [[1, 0]]), {}, ValueError, r"query\[1\] is nan"),
    "nan relevance": ((None, [[1, 0]]), {"relevance": [np.nan]}, ValueError, r"relevance\[0\] is nan"),
    "other model": (([1, 0, 0], [[1, 0]]), {}, ValueError, "query has 3 dimensions but its candidates have 2"),
    "several queries": (([[1, 0]], [[1, 0]]), {}, ValueError, r"query must be one vector.*shape \(1, 2\)"),
    "one candidate as vector": (([1, 0], [1, 0]), {}, ValueError, r"candidates must be a list of vectors.*\(2,\)"),
    "no dimensions": (([], [[], []]), {}, ValueError, r"got shape \(2, 0\)"),
    "ragged": (([1, 0], [[1, 0], [1]]), {}, ValueError, r"candidates\[1\] has shape \(1,\) but candidates\[0\]"),
    "missing": (([1, 0], [[1, 0], None]), {}, TypeError, r"candidates\[1\] must be numbers, got None \(a missing"),
    "missing number": (([1, 0], [[1, None]]), {}, TypeError, r"candidates\[0\] must be numbers, got \[1, None\]"),
    "texts": (([1, 0], ["one", "two"]), {}, TypeError, r"candidates\[0\] must be numbers, got 'one'"),
    "numbers as text": (([1, 0], [["1", "0"]]), {}, TypeError, r"candidates\[0\] must be numbers, got \['1', '0'\]"),
    "complex": (([1, 0], [[1j, 0]]), {}, TypeError, r"candidates\[0\] must be numbers"),
    "no candidates at all": (([1, 0], None), {}, TypeError, "candidates must be numbers, got None"),
    "neither": ((None, [[1, 0]]), {}, ValueError, "query and relevance are both None; pass one of them"),
    "relevance of others": (
        (None, [[1, 0]]),
        {"relevance": [1, 2]},
        ValueError,
        r"shape \(1,\) for 1 candidates.*\(2,\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_is_refused_by_its_name_and_value(name: str) -> None:
    arguments, options, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        rm.mmr(*arguments, **options)

"""Ranks of many queries at once, against plain loops."""

import numpy as np
import pytest

from retrieval_metrics.matching.rank_rows import (
    count_above,
    cut_rows,
    is_among,
    is_forbidden,
    is_new,
    is_relevant,
    ordinals,
    within,
)

RNG = np.random.default_rng(5)


def draw_ranks() -> tuple[np.ndarray, np.ndarray]:
    """Some ranks of some queries, ordered by query and rank."""
    pairs = sorted({(int(query), int(rank)) for query, rank in RNG.integers([0, 1], [4, 9], size=(12, 2))})
    query, rank = np.array(pairs).T
    return query, rank


@pytest.mark.parametrize("_", range(20))
def test_ranks_are_counted_and_looked_up_within_their_query(_: int) -> None:
    query, rank = draw_ranks()
    other_query, other_rank = draw_ranks()
    other_pairs = list(zip(other_query.tolist(), other_rank.tolist(), strict=True))
    pairs = list(zip(query.tolist(), rank.tolist(), strict=True))
    n_above = [sum(other[0] == pair[0] and other[1] < pair[1] for other in other_pairs) for pair in pairs]
    assert count_above(query, rank, other_query, other_rank).tolist() == n_above
    assert is_among(query, rank, other_query, other_rank).tolist() == [pair in other_pairs for pair in pairs]
    assert ordinals(query).tolist() == [query[: index + 1].tolist().count(query[index]) for index in range(len(query))]


def test_queries_without_an_entry_change_no_ordinal() -> None:
    sizes = [1, 3, 0, 2, 0]
    query = np.repeat(np.arange(len(sizes)), sizes)
    assert ordinals(query).tolist() == [number for size in sizes for number in range(1, size + 1)]
    assert ordinals(query[:6]).tolist() == [1, 1, 2, 3, 1, 2]


def test_a_cutoff_limits_ranks_and_rows() -> None:
    query = np.array([0, 0, 1])
    rank = np.array([1, 3, 2])
    row = np.array([1, 4, 3])
    assert within(query, rank, 2).tolist() == [True, False, True]
    assert within(query, rank, np.array([3, 1])).tolist() == [True, True, False]
    assert cut_rows(query, rank, row, 3).tolist() == [True, False, True]
    assert cut_rows(query, rank, rank, 3).tolist() == [True, True, True]
    assert cut_rows(query, rank, row, np.array([3, 1])).tolist() == [True, True, False]


def test_grades_are_relevant_above_0_and_forbidden_below_or_from_a_level_on() -> None:
    grade = np.array([-2.0, -1.0, 0.0, 0.5, 2.0])
    assert is_relevant(grade, None).tolist() == [False, False, False, True, True]
    assert is_relevant(grade, 1).tolist() == [False, False, False, False, True]
    assert is_forbidden(grade).tolist() == [True, True, False, False, False]
    assert is_forbidden(grade, -2).tolist() == [True, False, False, False, False]


def test_no_entries_are_new_to_nothing() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert is_new(empty, empty).tolist() == []
    assert count_above(empty, empty, empty, empty).tolist() == []

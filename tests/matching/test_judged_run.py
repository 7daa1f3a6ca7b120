"""A judged run: how much was retrieved, and what is relevant, forbidden and unanswered."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.ranking_order import TIES_BY_ID

QRELS: dict[str, Any] = {"q1": {"a": 2, "b": 1, "c": 0, "z": -1}, "q2": {"a": 1}, "q3": {"b": 0}, "q4": {"a": 1}}
RUN: dict[str, Any] = {"q1": ["x", "a", "x", "z", "a", "c"], "q2": [], "q3": ["b"]}


@pytest.fixture
def judged() -> JudgedRun:
    return judge(rm.Qrels(QRELS), RUN, "id", TIES_BY_ID)


def test_it_counts_what_was_retrieved_and_what_is_distinct(judged: JudgedRun) -> None:
    assert judged.n_retrieved.tolist() == [6, 0, 1, 0]
    assert judged.longest_ranking == 6
    assert judged.without_results == [1, 3]
    assert judged.count_queries_in(RUN) == 3  # q4 is not there
    assert judged.n_duplicates.tolist() == [2, 0, 0, 0]
    assert judged.n_within(4).tolist() == [4, 0, 1, 0]
    assert judged.n_distinct(4).tolist() == [3, 0, 1, 0]
    assert judged.n_distinct(np.array([5, 1, 1, 1])).tolist() == [3, 0, 1, 0]
    assert judged.n_distinct(None).tolist() == [4, 0, 1, 0]


def test_it_knows_what_is_relevant_forbidden_and_unanswered(judged: JudgedRun) -> None:
    assert judged.n_relevant().tolist() == [2, 1, 0, 1]
    assert judged.n_relevant(2).tolist() == [1, 0, 0, 0]
    without_relevant = judged.without_relevant()
    assert without_relevant is not None
    assert without_relevant.tolist() == [False, False, True, False]
    assert judged.has_forbidden().tolist() == [True, False, False, False]
    query, rank = judged.forbidden_ranks()
    assert (query.tolist(), rank.tolist()) == ([0], [4])
    assert judged.relevant_item_queries(1).tolist() == []
    assert judged.relevant_item_queries(2).tolist() == [0]
    assert judged.unanswered is not None
    assert judged.unanswered.tolist() == [False, False, False, True]


@pytest.mark.parametrize("k", [1, 2, 3, 4, None, np.array([2, 1])])
def test_the_hits_within_a_cutoff_are_those_of_all_that_it_cuts(k: Any) -> None:
    run = {"q1": ["a", "x"], "q2": ["x", "b", "a"]}
    flat = {"q1": {"a": 2}, "q2": {"a": 1, "b": 1}}
    grouped = {"q1": [["a"], ["a", "b"], ["a", "c"]], "q2": [["a"], ["b"]]}  # the first result is three rows
    for qrels in (flat, grouped):
        judged = judge(rm.Qrels(qrels), run, "id", TIES_BY_ID)
        for column, cut_column in zip(judged.hits_within(k), judged.hits().cut(k), strict=True):
            assert column.tolist() == cut_column.tolist()


def test_duplicates_may_count_as_further_hits(judged: JudgedRun) -> None:
    assert judged.with_duplicate_rule("ignore") is judged
    credited = judged.with_duplicate_rule("count")
    assert credited.credits_duplicates
    assert judged.hits().rank.tolist() == [2]
    assert credited.hits().rank.tolist() == [2, 5]


def test_the_ideal_ranking_holds_groups_or_documents() -> None:
    qrels = rm.Qrels({"q": [{"a": 1, "b": 3}, {"c": 2}]})
    judged = judge(qrels, {"q": ["a"]}, "id", TIES_BY_ID)
    assert judged.ideal().grade.tolist() == [3, 2]
    assert judged.ideal(of_documents=True).grade.tolist() == [3, 2, 1]
    assert judged.ideal(of_documents=True).position.tolist() == [1, 2, 3]


def test_the_ideal_ranking_is_the_same_for_judgments_in_any_order() -> None:
    best_first = {"q1": {"d1": 3, "d2": 1}, "q2": {"d1": 2, "d4": 0, "d2": 2}}
    worst_first = {query: dict(reversed(grades.items())) for query, grades in best_first.items()}
    run = {"q1": ["d1"], "q2": ["d1"]}
    for qrels in (best_first, worst_first):
        ideal = judge(rm.Qrels(qrels), run, "id", TIES_BY_ID).ideal()
        assert [column.tolist() for column in ideal] == [[0, 0, 1, 1], [3, 1, 2, 2], [1, 2, 1, 2]]

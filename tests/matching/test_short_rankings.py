"""Short rankings that are read all at once give the ranks that they give one after another."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.matching import exact_ids
from retrieval_metrics.matching.exact_ids import judge_by_id
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN, TIES_BY_ID, ScoreOrder
from retrieval_metrics.matching.short_rankings import MAX_LENGTH, MIN_QUERIES, list_short_rankings

SINGLE_PRECISION = ScoreOrder("docid", single_precision=True)
# Some are equal, and some only in 32 bits.
SCORES = [0, 1, 2.0, 0.5, -1.0, 1e-3, 0.1, 0.1 + 1e-12, np.float64(2.0), 2**53, 2**53 + 1, -(2**60), -1e300, 1e300]
DOCUMENTS = [f"d{number}" for number in range(9)]


def make_run(source: random.Random, scores: list[Any], max_length: int) -> dict[str, dict[str, Any]]:
    run = {}
    for query in range(MIN_QUERIES):
        retrieved = source.sample(DOCUMENTS, source.randint(0, max_length))
        run[f"q{query}"] = {document: source.choice(scores) for document in retrieved}
    return run


def facts(qrels: rm.Qrels, run: Any, order: ScoreOrder) -> list[Any]:
    judged = judge_by_id(qrels, run, order)
    columns = [column.tolist() for column in judged.items]
    return [columns, judged.n_retrieved.tolist()]


def assert_same_ranks(run: Any, order: ScoreOrder, *, is_fast: bool) -> None:
    qrels = rm.Qrels({query: {"d1": 1, "d4": 2, "d7": 0, f"{query}-only": 1} for query in [*run, "not in the run"]})
    assert (exact_ids._find_in_short_rankings(qrels, run, order) is not None) == is_fast
    ranks_at_once = facts(qrels, run, order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_ids, "list_short_rankings", lambda *_: None)
        assert facts(qrels, run, order) == ranks_at_once


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([TIES_BY_ID, TIES_AS_GIVEN, SINGLE_PRECISION]), st.integers(1, 9))
def test_all_at_once_is_one_after_another(seed: int, order: ScoreOrder, max_length: int) -> None:
    source = random.Random(seed)
    assert_same_ranks(make_run(source, SCORES, max_length), order, is_fast=True)


@pytest.mark.parametrize("score", [Fraction(1, 3), np.float32(0.1), True])
def test_numbers_that_a_float_may_not_hold_are_compared_one_after_another(score: Any) -> None:
    run = make_run(random.Random(3), [score, 1.0], 9)
    assert_same_ranks(run, TIES_BY_ID, is_fast=False)


@pytest.mark.parametrize(
    ("ranking", "error", "message"),
    [
        ({"d1": float("nan")}, ValueError, r"document 'd1' for query 'q7' is nan"),
        ({"d1": float("-inf")}, ValueError, r"document 'd1' for query 'q7' is -inf"),
        ({"d1": 10**400}, ValueError, r"document 'd1' for query 'q7' is an integer of 1329 bits"),
        ({"d1": "high"}, TypeError, r"document 'd1' for query 'q7' must be a number"),
        ({"": 1.0}, ValueError, r"query 'q7' holds an empty ID"),
        ({4: 1.0}, TypeError, r"document IDs"),
        (None, TypeError, r"'q7'"),
    ],
)
def test_an_invalid_ranking_among_short_ones_is_named(ranking: Any, error: type[Exception], message: str) -> None:
    run: dict[str, Any] = make_run(random.Random(5), [1.0, 2.0], 9)
    run["q7"] = ranking
    with pytest.raises(error, match=message):
        rm.evaluate({query: ["d1"] for query in run}, run, "mrr")


def test_few_queries_long_rankings_and_lists_are_left_to_the_other_way() -> None:
    run: dict[str, Any] = make_run(random.Random(7), [1.0, 2.0], 9)
    qrels = rm.Qrels({query: ["d1"] for query in run})
    assert list_short_rankings(qrels, run) == list(run.values())
    assert list_short_rankings(rm.Qrels({"q0": ["d1"]}), run) is None
    assert list_short_rankings(qrels, {**run, "q1": ["d1"]}) is None
    assert list_short_rankings(qrels, {**run, "q1": dict.fromkeys(range(MAX_LENGTH + 1), 1.0)}) is None

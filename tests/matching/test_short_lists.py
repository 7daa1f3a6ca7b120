"""Short lists of ids that are read all at once give the ranks that they give one after another."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.matching import exact_ids
from retrieval_metrics.matching.exact_ids import judge_by_id
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.matching.short_lists import find_in_short_lists
from retrieval_metrics.matching.short_rankings import MAX_LENGTH

N_QUERIES = 32


def make_run(source: random.Random, documents: list[Any], max_length: int) -> dict[str, Any]:
    run: dict[str, Any] = {}
    for query in range(N_QUERIES):
        ranking = source.sample(documents, source.randint(0, max_length))
        run[f"q{query}"] = ranking if query % 3 else tuple(ranking)
    return run


def make_qrels(run: dict[str, Any], documents: list[Any]) -> rm.Qrels:
    return rm.Qrels({query: {documents[1]: 1, documents[4]: 2, documents[7]: 0} for query in [*run, "not in the run"]})


def facts(qrels: rm.Qrels, run: Any) -> list[Any]:
    judged = judge_by_id(qrels, run, TIES_BY_ID)
    columns = [column.tolist() for column in (*judged.items, *judged.duplicates)]
    return [columns, judged.n_retrieved.tolist()]


def assert_same_ranks(qrels: rm.Qrels, run: Any, *, is_fast: bool) -> None:
    assert (find_in_short_lists(qrels, run) is not None) == is_fast
    ranks_at_once = facts(qrels, run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_ids, "find_in_short_lists", lambda *_: None)
        assert facts(qrels, run) == ranks_at_once


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 9), st.booleans())
def test_all_at_once_is_one_after_another(seed: int, max_length: int, are_numbers: bool) -> None:
    documents: list[Any] = list(range(9)) if are_numbers else [f"d{number}" for number in range(9)]
    run = make_run(random.Random(seed), documents, max_length)
    run["q5"] = documents[:1]
    assert_same_ranks(make_qrels(run, documents), run, is_fast=True)


@pytest.mark.parametrize(
    "ranking", [["d1", "d2", "d1"], {"d1": 2.0, "d4": 1.0}, [f"d{n}" for n in range(MAX_LENGTH + 1)]]
)
def test_duplicates_scores_and_long_lists_are_left_to_the_other_way(ranking: Any) -> None:
    documents = [f"d{number}" for number in range(9)]
    run = make_run(random.Random(3), documents, 9)
    run["q7"] = ranking
    assert_same_ranks(make_qrels(run, documents), run, is_fast=False)


def test_few_queries_are_left_to_the_other_way() -> None:
    assert find_in_short_lists(rm.Qrels({"q0": ["d1"]}), {"q0": ["d1"]}) is None


@pytest.mark.parametrize(
    ("ranking", "error", "message"),
    [
        (["d1", ""], ValueError, r"query 'q7' holds an empty ID"),
        (["d1", 4], TypeError, r"document IDs in the run"),
        ([4], TypeError, r"document IDs in the run"),
        ([["d1"]], TypeError, r"query 'q7' holds lists"),
        (["d1", ["d2"]], TypeError, r"query 'q7' holds something that is not a document ID"),
        ("d1", TypeError, r"query 'q7' is the bare string"),
        ({"d1", "d2"}, TypeError, r"query 'q7' must be a list"),
    ],
)
def test_an_invalid_ranking_among_short_lists_is_named(ranking: Any, error: type[Exception], message: str) -> None:
    documents = [f"d{number}" for number in range(9)]
    run = make_run(random.Random(5), documents, 9)
    run["q7"] = ranking
    with pytest.raises(error, match=message):
        rm.evaluate({query: ["d1"] for query in run}, run, "mrr")

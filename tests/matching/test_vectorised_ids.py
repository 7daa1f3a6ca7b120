"""A run in columns gives what the same run in dicts gives, to the last bit."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from generated import scored_run
from retrieval_metrics.inputs.batch import Batch
from retrieval_metrics.matching.exact_ids import judge_by_id
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.matching.vectorised_ids import judge_by_column

documents = st.sampled_from([f"d{number}" for number in range(12)] + ["é", "z\U0001f600", "\uffff", "D1", "0"])
queries = st.sampled_from(["q1", "q2", "q3", "q4"])
scores = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 1e-300, 3.25, 1e300]) | st.floats(
    allow_nan=False, allow_infinity=False
)
truths = st.dictionaries(queries, st.dictionaries(documents, st.sampled_from([-1, 0, 1, 2]), max_size=6), min_size=1)
scored = st.dictionaries(queries, st.dictionaries(documents, scores, min_size=1, max_size=14), min_size=1)
listed = st.dictionaries(queries, st.lists(documents, min_size=1, max_size=14), min_size=1)


def in_columns(run: Mapping[Any, Any], pieces: int = 1) -> rm.Run:
    """The run as read from a file in pieces of whole queries."""
    batches = []
    queries_in_run = list(run)
    size = max(1, len(queries_in_run) // pieces)
    for start in range(0, len(queries_in_run), size):
        part = queries_in_run[start : start + size]
        batch_documents: list[Any] = []
        batch_scores: list[float] = []
        bounds = [0]
        for query in part:
            batch_documents += run[query]
            if isinstance(run[query], dict):
                batch_scores += run[query].values()
            bounds.append(len(batch_documents))
        kind = pl.Int64 if isinstance(batch_documents[0], int) else pl.String
        scores_or_none = np.array(batch_scores, dtype=np.float64) if batch_scores else None
        batches.append(Batch(part, np.array(bounds), pl.Series(batch_documents, dtype=kind), scores_or_none))
    return rm.Run(batches)


def assert_same(truth: Mapping[str, Any], run: Mapping[Any, Any], columns: rm.Run) -> None:
    qrels = rm.Qrels(truth)
    expected = judge_by_id(qrels, run, TIES_BY_ID)
    got = judge_by_column(qrels, columns)
    for ours, theirs in zip(got.items, expected.items, strict=True):
        assert ours.tolist() == theirs.tolist()
        assert ours.dtype == theirs.dtype
    assert got.n_retrieved.tolist() == expected.n_retrieved.tolist()
    assert got.n_duplicates.tolist() == expected.n_duplicates.tolist()


@given(truths, scored, st.integers(1, 4))
def test_scored_runs(truth: dict[str, dict[str, int]], run: dict[str, dict[str, float]], pieces: int) -> None:
    assert_same(truth, run, in_columns(run, pieces))


@given(truths, listed, st.integers(1, 4))
def test_ranked_lists_with_repeats(truth: dict[str, dict[str, int]], run: dict[str, list[str]], pieces: int) -> None:
    assert_same(truth, run, in_columns(run, pieces))


@given(truths, scored)
def test_a_run_in_columns_is_a_mapping_of_the_same_rankings(
    truth: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    columns = in_columns(run, 2)
    assert dict(columns) == run == dict(columns.rankings())
    assert_same(truth, columns, columns)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("ties", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("judged", [0.02, 0.5])
@pytest.mark.parametrize("semantics", ["standard", "trec_eval", "autorag"])
def test_every_metric_has_the_same_value_to_the_last_bit(ties: float, judged: float, semantics: str) -> None:
    qrels, run = scored_run(random.Random(7), 40, depth=300, ties=ties, judged=judged)
    names = ["ndcg@10", "map", "mrr@10", "recall@100", "precision@5", "bpref", "rbp", "err@10", "judged@10", "ndcg"]
    expected = rm.evaluate(qrels, run, names, rules=semantics)
    got = rm.evaluate(qrels, in_columns(run, 5), names, rules=semantics)
    assert got.queries == expected.queries
    assert np.array_equal(got.values, expected.values, equal_nan=True)
    assert got.counts == expected.counts
    assert str(got) == str(expected)


def test_integer_ids_tie_as_decimal_strings() -> None:
    run = {1: {10: 1.0, 9: 1.0, 100: 1.0}, 2: {7: 0.5}}
    truth: Any = {1: [9, 10, 100], 2: [7]}
    assert_same(truth, run, in_columns(run))


def test_judged_ids_that_no_column_can_hold_are_not_found() -> None:
    truth: Any = {1: [2**70, -(2**63), 5]}
    run = {1: {5: 1.0, -(2**63): 0.5}}
    assert_same(truth, run, in_columns(run))


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_scores_tie_where_their_floats_do(sign: int) -> None:
    run = {"q": {"b": sign * 2**53, "a": sign * (2**53 + 1), "c": sign}}
    assert_same({"q": ["a", "b", "c"]}, run, in_columns(run))


def test_ids_of_another_type_than_the_judgments_are_refused() -> None:
    with pytest.raises(TypeError, match="document IDs in the qrels are str and those in the run are int"):
        rm.evaluate({"q": ["a"]}, in_columns({"q": {1: 1.0}}))
    with pytest.raises(TypeError, match="query IDs in the qrels are str and those in the run are int"):
        rm.evaluate({"q": ["a"]}, in_columns({1: {"a": 1.0}}))


def test_judged_queries_that_retrieved_nothing_or_are_missing_count_as_missing() -> None:
    empty = Batch(["q1", "q2"], np.array([0, 0, 1]), pl.Series(["a"]), np.array([1.0]))
    with pytest.warns(rm.RetrievalWarning, match="2 of 3 judged queries"):
        result = rm.evaluate({"q1": ["a"], "q2": ["a"], "q3": ["a"]}, rm.Run([empty]), "mrr")
    assert result.per_query["mrr"] == {"q1": 0.0, "q2": 1.0, "q3": 0.0}


def test_what_is_no_id_needs_items_and_not_columns() -> None:
    columns = in_columns({"q": {"a": 1.0}})
    with pytest.raises(TypeError, match="a Run in columns holds only IDs, which can only be matched by ID"):
        rm.evaluate({"q": [rm.Quote("what is a closure?")]}, columns)
    with pytest.raises(TypeError, match="pass lists of Retrieved"):
        rm.evaluate({"q": ["a"]}, columns, match="source")


def test_a_run_without_a_common_query_is_refused() -> None:
    with pytest.raises(ValueError, match="no query in common: the run begins with query 'q9'"):
        rm.evaluate({"q": ["a"]}, in_columns({"q9": {"a": 1.0}}))


def test_groups_are_judged_in_columns_too() -> None:
    truth: Any = {"q1": [["a", "b"], ["c"]], "q2": [{"a": 2, "c": 1}]}
    run = {"q1": {"b": 3.0, "x": 2.0, "c": 1.0}, "q2": {"c": 2.0, "a": 1.0}}
    assert_same(truth, run, in_columns(run))

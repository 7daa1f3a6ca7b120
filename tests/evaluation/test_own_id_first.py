"""A note where the first result of most queries is the query itself."""

import warnings
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

QUERIES = [f"a{number}" for number in range(10)]
QRELS: Any = {query: {f"b{query}": 1} for query in QUERIES}


def run_with_own_id_first(n_queries: int) -> Any:
    run: Any = {}
    for number, query in enumerate(QUERIES):
        own_score = 0.9 if number < n_queries else 0.1
        run[query] = {f"b{query}": 0.8, query: own_score}
    return run


def collect_warnings(qrels: Any, run: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rm.evaluate(qrels, run, "mrr", **options)
    return [str(warning.message) for warning in caught]


def test_the_own_id_first_in_most_queries_is_said(tmp_path: Path) -> None:
    run = run_with_own_id_first(6)
    rm.write_run(run, tmp_path / "run.trec")
    lists = {query: sorted(ranking, key=ranking.get, reverse=True) for query, ranking in run.items()}
    for form in (run, lists, rm.read_run(tmp_path / "run.trec"), rm.read_run(tmp_path / "run.trec", memory=1)):
        (message,) = collect_warnings(QRELS, form)
        assert message.startswith("in 6 of 10 queries the first result is the query itself, such as 'a0'")
        assert collect_warnings(QRELS, form, exclude="query_id") == []


@pytest.mark.parametrize("n_queries", [0, 1, 5])
def test_no_more_than_half_of_the_queries_are_not_mentioned(n_queries: int) -> None:
    assert collect_warnings(QRELS, run_with_own_id_first(n_queries)) == []


def test_equal_numbers_of_queries_and_documents_are_ordinary() -> None:
    qrels: Any = {number: [number] for number in range(10)}
    run: Any = {number: [number, number + 1] for number in range(10)}
    assert collect_warnings(qrels, run) == []
    assert collect_warnings({"a0": ["b"]}, {"a0": ["a0", "b"]}) == []

"""Scores that rise from the best document on are distances, unless they rise by chance or were sorted upwards."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.evaluation.score_order import are_distances

QRELS: Any = {f"q{number}": ["a"] for number in range(20)}
DISTANCES: Any = {query: {"a": 0.11, "b": 0.34, "c": 0.58} for query in QRELS}


def has_distances(qrels: Any, run: Any) -> bool:
    return are_distances(find_origin(qrels, run).judged, run)


def test_the_remedy_in_the_message_corrects_the_values() -> None:
    with pytest.warns(rm.RetrievalWarning, match=r"pass \{id: -distance\}, or IDs in rank order"):
        assert rm.evaluate(QRELS, DISTANCES, "mrr").means["mrr"] == pytest.approx(1 / 3)
    negated = {
        query: {document: -distance for document, distance in ranking.items()} for query, ranking in DISTANCES.items()
    }
    lists = {query: list(ranking) for query, ranking in DISTANCES.items()}
    for corrected in (negated, lists):
        assert find_kinds(QRELS, corrected) == []
        assert rm.evaluate(QRELS, corrected, "mrr").means["mrr"] == 1.0


def rising_ranking(n_documents: int) -> dict[str, float]:
    return {"a": 1.0} | {str(number): float(number) for number in range(2, n_documents + 1)}


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        pytest.param({"q0": rising_ranking(7)}, True, id="one order of 7! = 5040"),
        pytest.param({"q0": rising_ranking(5)}, False, id="one order of 120, by chance"),
        pytest.param({query: {"a": 0.1, "b": 0.2} for query in QRELS}, True, id="one order of 2 ** 20"),
        pytest.param({query: {"a": 0.1, "b": 0.1, "c": 0.3} for query in QRELS}, True, id="some scores tie"),
        pytest.param({query: {"a": 0.5, "b": 0.5, "c": 0.5} for query in QRELS}, False, id="all scores tie"),
        pytest.param({**DISTANCES, "q19": {"a": 0.2, "b": 0.1}}, False, id="one ranking falls"),
        pytest.param({query: {"a": 1.0} for query in QRELS}, False, id="one score each"),
    ],
)
def test_only_orders_that_are_no_accident_are_distances(run: Any, *, expected: bool) -> None:
    assert has_distances(QRELS, run) is expected


def test_scores_sorted_upwards_put_what_is_relevant_last() -> None:
    upwards = {query: {"c": 0.11, "b": 0.34, "a": 0.58} for query in QRELS}  # as argsort returns them
    assert find_kinds(QRELS, upwards) == []
    assert has_distances({query: ["c"] for query in QRELS}, upwards)
    assert find_kinds({query: ["z"] for query in QRELS}, upwards) == ["no_common_ids", "distances"]


def test_a_comparison_begins_with_it() -> None:
    runs = {"dense": DISTANCES, "bm25": {query: ["a", "b"] for query in QRELS}}
    with pytest.warns(rm.RetrievalWarning, match="dense"):
        comparison = rm.compare(QRELS, runs, "mrr")
    assert comparison.summary[0].startswith("dense: scores increase from first to last")

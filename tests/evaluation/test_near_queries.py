"""Judged queries that are in a run under nearly their ids are said, and decide nothing."""

from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.evaluation.near_miss_effect import mean_with_near_misses
from retrieval_metrics.evaluation.near_queries import NearQuery, find_near_queries
from retrieval_metrics.metrics.base.metric import as_metric
from run_shapes import in_columns, with_scores

QRELS: Any = {f"q0{number}": [f"d{number}"] for number in range(30)}
RIGHT: Any = {query: [*documents, "x"] for query, documents in QRELS.items()}
WITHOUT_ONE: Any = {query: ranking for query, ranking in RIGHT.items() if query != "q00"}


def rename_some(change: Callable[[str], str]) -> Any:
    """Return the perfect run, in which every third query has another id."""
    run = {}
    for number, (query, ranking) in enumerate(RIGHT.items()):
        run[change(query) if number % 3 == 0 else query] = ranking
    return run


@pytest.mark.parametrize("shape", [lambda run: run, with_scores, in_columns])
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("case", str.upper),
        ("leading_zeros", lambda query: query.replace("q0", "q")),
        ("blanks", lambda query: f"{query} "),
        ("quotation_marks", lambda query: f"'{query}'"),
    ],
)
def test_they_are_found_and_not_called_worse(kind: Any, change: Callable[[str], str], shape: Any) -> None:
    run = rename_some(change)
    if kind == "blanks" and shape is in_columns:
        with pytest.raises(ValueError, match="begins or ends with whitespace"):
            shape(run)
        return
    near_queries = find_near_queries(find_origin(QRELS, shape(run)))
    assert len(near_queries) == 10
    assert near_queries[0] == NearQuery("q00", change("q00"), kind)
    comparison, warning_text = call_with_warnings(
        lambda: rm.compare(QRELS, {"right": RIGHT, "part": shape(run)}, "mrr")
    )
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["not_comparable"]
    assert "part: 10 of 10 judged queries without results are in the run under nearly the same ID" in warning_text
    scores = comparison.evaluations["part"].scores
    assert mean_with_near_misses(scores, as_metric("mrr")) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "run",
    [
        RIGHT,
        WITHOUT_ONE,
        RIGHT | {"Q00": ["d0"]},  # both forms are in use
        WITHOUT_ONE | {"other": ["d0"]},
        WITHOUT_ONE | {"Q00": ["d0"], "'q00'": ["d0"]},
    ],
)
def test_other_queries_are_none(run: Any) -> None:
    assert find_near_queries(find_origin(QRELS, run)) in ((), [])
    assert "near_queries" not in find_kinds(QRELS, run)


def test_a_difference_that_they_cannot_change_stays() -> None:
    bad: Any = {query: ["x", "y", *documents] for query, documents in QRELS.items()}
    bad["Q00"] = bad.pop("q00")
    comparison, _ = call_with_warnings(lambda: rm.compare(QRELS, {"right": RIGHT, "bad": bad}, "mrr"))
    assert [conclusion.kind for conclusion in comparison.conclusions] == ["worse"]


def test_numbers_are_compared_as_they_are() -> None:
    assert find_near_queries(find_origin({1: ["d"], 2: ["d"]}, {1: ["d"], 3: ["d"]})) == ()

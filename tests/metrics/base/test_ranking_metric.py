"""A function of one ranking as a metric: what it is given, and what it may return."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.metrics.base.ranking_metric import grades_of_rows, ideal_grades

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


QRELS: dict[str, Any] = {
    "graded": {"a": 3, "b": 1, "c": 0, "d": -1},
    "lists": ["a", "b", "never"],
    "repeat": {"a": 1, "b": 2},
    "nothing relevant": {"a": 0},
    "nothing retrieved": ["a"],
}


RUN: dict[str, Any] = {
    "graded": ["x", "b", "a", "c", "d"],
    "lists": ["b", "x", "y", "a"],
    "repeat": ["a", "a", "x", "b", "b"],
    "nothing relevant": ["a"],
    "nothing retrieved": [],
    "or": ["x", "b", "a", "c"],
    "shared": ["y", "a", "b", "z"],
}


def dcg(grades: Any) -> float:
    return float(sum(grade / np.log2(row + 2) for row, grade in enumerate(grades)))


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda _: 1.5, ValueError, r"for query 'q' with the grades \[0, 1\], returned 1.5, which is not between"),
        (lambda _: float("nan"), ValueError, "must return a finite number, got nan"),
        (lambda _: "high", TypeError, r"must return one number, got 'high' \(str\)"),
        (lambda grades: grades, TypeError, "must return one number, got array"),
        (lambda _: 1 / 0, ValueError, "failed: ZeroDivisionError: division by zero"),
        (lambda grades: grades.sort() or 1.0, ValueError, "failed: ValueError: sort array is read-only"),
    ],
)
def test_what_a_function_gets_wrong_is_said_with_its_query(function: Any, error: type[Exception], message: str) -> None:
    rm.define_metric("wrong", function)
    with pytest.raises(error, match=message):
        rm.evaluate({"q": ["a"]}, {"q": ["x", "a"]}, "wrong")


def test_values_outside_are_fine_where_they_are_said_to_be() -> None:
    rm.define_metric("own_dcg", dcg, bounded=False)
    result = rm.evaluate(QRELS, RUN, ["own_dcg@3", "dcg@3"])
    assert result.means["own_dcg@3"] == pytest.approx(result.means["dcg@3"])
    assert result.intervals()["own_dcg@3"] == pytest.approx(result.intervals()["dcg@3"])


def test_it_sees_the_rows_of_the_expanded_ranking_and_the_ideal_one() -> None:
    judgments: dict[str, Any] = {"q": [{"a": 1}, {"a": 3, "b": 1}, {"c": 2}], "r": {"z": 1}}
    judged = judge(rm.Qrels(judgments), {"q": ["x", "a", "c"]}, "id", TIES_BY_ID)
    assert [grades.tolist() for grades in grades_of_rows(judged, None)] == [[0, 3, 1, 2], []]
    assert [grades.tolist() for grades in grades_of_rows(judged, 2)] == [[0, 3], []]
    assert [grades.tolist() for grades in grades_of_rows(judged, np.array([2, 0]))] == [[0, 3, 1], []]
    assert [grades.tolist() for grades in ideal_grades(judged)] == [[3, 2, 1], [1]]

"""Qrels keep the judgments of all queries in columns."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import retrieval_metrics as rm
from generated import flat_truths, truths


def test_a_document_of_several_groups_counts_once_with_its_largest_grade() -> None:
    qrels = rm.Qrels({"q": [{"a": 1}, {"a": 3, "b": 2}]})
    assert list(zip(qrels.documents, qrels.document_grade.tolist(), strict=True)) == [("a", 3), ("b", 2)]
    assert qrels.group_grade.tolist() == [1, 3]


@given(truths, flat_truths)
def test_reading_changes_nothing(grouped: list[dict[str, float]], flat: dict[str, float]) -> None:
    qrels = {"g": grouped, "f": flat}
    before = copy.deepcopy(qrels)
    rm.Qrels(qrels)  # type: ignore[arg-type]  # dict is invariant in its value type
    assert qrels == before


def test_columns_can_be_read_once_and_used_again() -> None:
    qrels = rm.Qrels({"q": ["a"]})
    assert rm.evaluate(qrels, {"q": ["a"]}, "map").means["map"] == 1
    assert "1 queries, 1 judgments, 1 groups" in repr(qrels)


@pytest.mark.parametrize("judgments", [{"a": 1, "b": 2}, [{"a": 1}, {"b": 2, "c": 1}]])
def test_a_part_takes_the_largest_grade_of_the_whole_and_the_original_keeps_its_own(judgments: Any) -> None:
    qrels = rm.Qrels({"q": judgments})
    columns = {name: copy.copy(column) for name, column in vars(qrels).items()}
    part = qrels.with_largest_grade(9)
    assert (part.largest_grade, qrels.largest_grade) == (9.0, 2.0)
    assert part.judgments(0) == qrels.judgments(0)
    assert part.is_flat == qrels.is_flat
    assert part.documents is qrels.documents
    for name, column in columns.items():
        np.testing.assert_array_equal(getattr(qrels, name), column)
    # RBP of ["b"]: (1 - 0.8) * 2 / largest grade.
    assert rm.evaluate(part, {"q": ["b"]}, "rbp").means["rbp"] == pytest.approx(0.2 * 2 / 9)
    assert rm.evaluate(qrels, {"q": ["b"]}, "rbp").means["rbp"] == pytest.approx(0.2)


def test_the_largest_grade_of_all_is_one_that_a_float_still_counts_to() -> None:
    assert rm.Qrels({"q": {"a": 2**53, "b": -(2**53)}}).document_grade.tolist() == [2.0**53, -(2.0**53)]
    assert rm.Qrels({"q": {"a": 2}}).with_largest_grade(2**53).largest_grade == 2.0**53
    assert rm.Qrels({"q": {"a": 2}}).with_largest_grade(2).largest_grade == 2


@pytest.mark.parametrize(
    ("grade", "error", "message"),
    [
        (1, ValueError, r"between 2, the largest of these judgments, and 2\*\*53, got 1"),
        (float("nan"), ValueError, "got nan"),
        (float("inf"), ValueError, "got inf"),
        ("9", TypeError, r"the largest grade must be a number, got '9' \(str\)"),
        (True, TypeError, r"the largest grade must be a number, got True \(bool\)"),
    ],
)
def test_a_largest_grade_that_cannot_be_is_refused(grade: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Qrels({"q": {"a": 2}}).with_largest_grade(grade)


@pytest.mark.parametrize(
    "judgments", [{"q": {"a": 2.0, "x": 0.0}, "p": {"b": 1.0}}, {"q": [{"a": 2.0, "b": 1.0}, {"c": 1.0}]}]
)
def test_judgments_in_columns_can_be_had_as_a_dict(judgments: Any) -> None:
    assert rm.Qrels(judgments).as_dict() == judgments


@pytest.mark.parametrize("judgments", [{"q1": ["d1", "d7"], "q2": {"d3": 2}}, {1: [[4, 5], [6]], 2: [[4]]}])
def test_they_are_read_like_a_dict(judgments: Any) -> None:
    qrels = rm.Qrels(judgments)
    assert dict(qrels) == dict(qrels.items()) == {query: qrels[query] for query in qrels} == qrels.as_dict()
    assert list(judgments) == list(qrels.keys())
    assert list(qrels.values()) == list(qrels.as_dict().values())
    first_query = qrels.queries[0]
    assert qrels.get(first_query) == qrels[first_query]
    assert qrels.get("unknown") is None
    assert qrels.get("unknown", 3) == 3
    assert next(iter(judgments)) in qrels
    assert "unknown" not in qrels
    with pytest.raises(KeyError, match="unknown"):
        qrels["unknown"]

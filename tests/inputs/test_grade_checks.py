"""Grades are finite numbers that floats can tell apart."""

from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from table_forms import judgments


def test_a_grade_may_be_true_or_false_as_in_a_dict() -> None:
    columns: Any = {"query": ["q1", "q1"], "document": ["a", "b"], "relevance": [True, False]}
    expected = rm.Qrels({"q1": {"a": True, "b": False}})
    assert (
        judgments(rm.Qrels.from_frame(columns))
        == judgments(rm.Qrels.from_frame(pd.DataFrame(columns)))
        == judgments(expected)
    )


def test_the_largest_grade_is_2_to_the_53rd_in_a_table_as_in_a_dict() -> None:
    columns: Any = {"query": ["q", "q"], "document": ["a", "b"], "relevance": [2.0**53, -(2.0**53)]}
    assert judgments(rm.Qrels.from_frame(columns)) == {"q": {"a": 2.0**53, "b": -(2.0**53)}}
    for beyond in (2.0**53 + 2, -(2.0**53) - 2):
        with pytest.raises(
            ValueError, match=r"row 2 of the table has -?9007199254740994\.0 as grade, .* beyond 2\*\*53"
        ):
            rm.Qrels.from_frame(columns | {"relevance": [1.0, beyond]})


@pytest.mark.parametrize("exponent", [400, 5000])
def test_an_integer_beyond_all_floats_is_refused_by_name(exponent: int) -> None:
    grade = 10**exponent
    qrels: Any
    for qrels in ({"q": {"d": grade}}, {"q": [{"d": -grade}]}):
        with pytest.raises(ValueError, match=r"document 'd' for query 'q' .* an integer of [0-9]+ bits"):
            rm.evaluate(qrels, {"q": ["d"]})
    with pytest.raises(ValueError, match="too large for a float"):
        rm.Evaluation.from_scores({"x": {"q": grade}})

"""Metrics of other origin beside those of retrieval: their bounds, and rows without a value."""

import math
from typing import Any

import pytest

import retrieval_metrics as rm
from ragas_retrieval_metrics import to_evaluation
from ragas_retrieval_metrics.other_scores import find_bounds

ROWS: list[dict[str, Any]] = [
    {"user_input": f"question {number}", "faithfulness": math.nan if number < 3 else 0.9} for number in range(12)
]


def test_rows_without_a_value_are_counted_and_left_out() -> None:
    with pytest.warns(rm.RetrievalWarning, match="faithfulness: 3 of 12 rows have no value; they are left out"):
        evaluation = to_evaluation(ROWS, scores=["faithfulness"])
    assert evaluation.means["faithfulness"] == pytest.approx(0.9)
    assert evaluation.n["faithfulness"] == 9


def test_rows_without_a_value_can_score_0() -> None:
    with pytest.warns(rm.RetrievalWarning, match="faithfulness: 3 of 12 rows have no value; they score 0"):
        evaluation = to_evaluation(ROWS, scores=["faithfulness"], failed="zero")
    assert evaluation.means["faithfulness"] == pytest.approx(0.9 * 9 / 12)
    assert evaluation.n["faithfulness"] == 12
    with pytest.raises(ValueError, match="failed must be one of 'zero', 'drop', got 'nan'"):
        to_evaluation(ROWS, scores=["faithfulness"], failed="nan")  # type: ignore[arg-type]


def test_the_metrics_of_ragas_bring_their_bounds() -> None:
    with pytest.warns(rm.RetrievalWarning, match="3 of 12"):
        evaluation = to_evaluation(ROWS, scores=["faithfulness"])
    assert "no bounds given" not in str(evaluation)
    assert evaluation.intervals()["faithfulness"].high <= 1


@pytest.mark.parametrize(
    ("metric", "value", "bounds"),
    [
        ("faithfulness", 0.5, {"faithfulness": (0.0, 1.0)}),
        ("rouge_score(mode=fmeasure)", 0.5, {"rouge_score(mode=fmeasure)": (0.0, 1.0)}),
        ("faithfulness", 4.0, {}),  # a metric of yours, from 1 to 5
        ("semantic_similarity", 0.5, {}),  # can be negative
    ],
)
def test_bounds_are_those_that_the_values_can_have(metric: str, value: float, bounds: Any) -> None:
    assert find_bounds({metric: {"q": value, "p": None}}, None) == bounds
    assert find_bounds({metric: {"q": value}}, {metric: (0, 5)}) == {metric: (0, 5)}

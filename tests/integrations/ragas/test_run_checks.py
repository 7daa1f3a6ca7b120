"""What is wrong with all rows of a run is said once, when ragas has scored the last one."""

from typing import Any

import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from near_right_ids import NEAR_RIGHT_IDS, make_near_right_run
from ragas_retrieval_metrics import MRR, evaluate_dataset, metric_suite
from ragas_rows import evaluate_with_ragas


def make_rows(qrels: Any, run: Any) -> list[dict[str, Any]]:
    rows = []
    for query, judgments in qrels.items():
        ids = {"retrieved_context_ids": run[query], "reference_context_ids": judgments}
        rows.append({"user_input": query, **ids})
    return rows


def run_ragas(rows: Any, metrics: Any) -> tuple[Any, list[str]]:
    result, warning_text = call_with_warnings(lambda: evaluate_with_ragas(rows, metrics))
    return result, [line for line in warning_text.split("\n") if "relevant document" in line or "judged" in line]


def test_ids_that_nearly_match_are_said_once_whatever_the_number_of_metrics() -> None:
    rows = make_rows(*make_near_right_run())
    for metrics in ([MRR()], metric_suite(k=(1, 5))):
        result, lines = run_ragas(rows, metrics)
        assert result[metrics[0].name][-1] == 1.0
        (line,) = lines
        assert line.startswith(f"{len(NEAR_RIGHT_IDS)} of {len(NEAR_RIGHT_IDS)} missing relevant documents")
    _, warning_text = call_with_warnings(lambda: evaluate_dataset(rows, "mrr"))
    assert line == f"{warning_text}."


def test_ids_that_never_match_are_said_and_right_ones_are_not() -> None:
    _, lines = run_ragas(make_rows({"q1": ["a"], "q2": ["b"]}, {"q1": ["x"], "q2": ["y"]}), [MRR()])
    (line,) = lines
    assert line.startswith("no retrieved document is judged for its query")
    assert run_ragas(make_rows({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["y"]}), [MRR()])[1] == []


def test_rows_that_cannot_be_scored_stay_errors_of_their_own() -> None:
    rows = make_rows({"q1": ["a"], "q2": ["b"]}, {"q1": [1], "q2": [2]})
    result, lines = run_ragas(rows, [MRR()])
    assert str(result["mrr"]) == "[nan, nan]"
    assert lines == []


def test_judgments_of_the_metric_are_checked_as_well() -> None:
    qrels = {"q1": ["D1"], "q2": ["d2"]}
    rows = make_rows(qrels, {"q1": ["d1", "x"], "q2": ["d2"]})
    _, lines = run_ragas(rows, [MRR(qrels=qrels), MRR(qrels=qrels, k=3)])
    assert [line.partition(":")[0] for line in lines] == [
        "1 of 1 missing relevant document was retrieved under a slightly different ID"
    ]


@pytest.mark.filterwarnings("error::retrieval_metrics.RetrievalWarning")
def test_a_warning_that_is_an_error_stops_the_run() -> None:
    rows = make_rows({"q1": ["D1"], "q2": ["d2"]}, {"q1": ["d1"], "q2": ["d2"]})
    with pytest.raises(rm.RetrievalWarning, match="differ in case"):
        evaluate_with_ragas(rows, [MRR()])

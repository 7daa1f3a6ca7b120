"""Advice on ids is about the columns of the rows, because functions of ragas take no `match=`."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from ragas_retrieval_metrics import MRR, evaluate_dataset, to_evaluation
from ragas_retrieval_metrics.id_advice import advise_on_rows
from ragas_rows import evaluate_with_ragas

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")

ADVICE = re.compile(r"use (document_id\.\S+) for each document_id in retrieved_context_ids")


def make_rows() -> list[dict[str, Any]]:
    rows = []
    for number in range(6):
        row: dict[str, Any] = {"user_input": f"question {number}", "retrieved_contexts": [f"text {number}"]}
        row["retrieved_context_ids"] = [f"page{number}.md#0"]
        row["reference_context_ids"] = [f"page{number}.md"]
        rows.append(row)
    return rows


EVALUATE: dict[str, Callable[[Any], Any]] = {
    "evaluate_dataset": lambda rows: evaluate_dataset(rows, "mrr"),
    "to_evaluation": lambda rows: to_evaluation(evaluate_with_ragas(rows, [MRR()])),
}


@pytest.mark.parametrize("function", EVALUATE)
def test_the_advice_on_ids_can_be_followed(function: str) -> None:
    rows = make_rows()
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged") as warned:
        assert EVALUATE[function](rows).means["mrr"] == 0.0
    # The run of ragas says it, and so does what is made of its result.
    (message,) = {str(warning.message) for warning in warned if "is a judged ID" in str(warning.message)}
    assert "match=" not in message
    advice = ADVICE.search(message)
    assert advice is not None
    for row in rows:
        ids = []
        for document_id in row["retrieved_context_ids"]:
            ids.append(eval(advice[1], {"document_id": document_id}))  # noqa: S307  (the advice is an expression)
        row["retrieved_context_ids"] = ids
    assert EVALUATE[function](rows).means["mrr"] == 1.0


def test_other_warnings_stay_as_they_are() -> None:
    assert advise_on_rows("pass match='source'", None) == "pass match='source'"
    shortened = advise_on_rows("X: pass match=lambda item: item.id.partition('#')[0].", None)
    assert shortened == "X: use document_id.partition('#')[0] for each document_id in retrieved_context_ids."

"""The values of a result are computed again from its rows, and both are compared."""

from typing import Any

import pytest

import retrieval_metrics as rm
from ragas_retrieval_metrics import (
    MRR,
    NDCG,
    to_evaluation,
)
from ragas_rows import DUPLICATES, RETRIEVED, evaluate_with_ragas

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


def test_one_metric_that_failed_leaves_the_others_of_its_row() -> None:
    rows: list[dict[str, Any]] = [
        {**RETRIEVED, "mrr": 1.0, "recall": 1.0},
        {**RETRIEVED, "user_input": "half", "mrr": 1.0, "recall": None},
    ]
    with pytest.warns(
        rm.RetrievalWarning, match="1 of 2 rows failed or were dropped, for example 'half'; they score 0"
    ):
        evaluation = to_evaluation(rows)
    assert dict(evaluation.means) == {"mrr": 1.0, "recall": 0.5}
    assert (evaluation.counts["failed"], evaluation.counts["missing"]) == (1, 1)


def test_a_result_that_the_rows_do_not_give_is_kept_and_said_so() -> None:
    rows = [{**RETRIEVED, "mrr": 0.5}, {**RETRIEVED, "user_input": "other", "mrr": 1.0}]
    with pytest.warns(rm.RetrievalWarning, match=r"mrr of 'found' is 0.5 in the result and 1 by the rows.*qrels="):
        evaluation = to_evaluation(rows)
    assert evaluation.per_query["mrr"] == {"found": 0.5, "other": 1.0}
    with pytest.raises(ValueError, match="cannot be explained"):
        evaluation.explain("found")


def test_judgments_that_were_given_to_the_metrics_are_given_again() -> None:
    qrels: dict[str, Any] = {"found": {"d1": 1, "d2": 3}, "repeated": [["d1", "d2"], ["d3"]]}
    rows: list[dict[str, Any]] = [dict(RETRIEVED), dict(DUPLICATES)]
    for row in rows:
        del row["reference_context_ids"]
    result = evaluate_with_ragas(rows, [NDCG(5, qrels=qrels), MRR(qrels=qrels)])
    run: dict[str, Any] = {str(row["user_input"]): row["retrieved_context_ids"] for row in rows}
    core = rm.evaluate(qrels, run, ["ndcg@5", "mrr"])
    evaluation = to_evaluation(result, qrels=qrels)
    assert str(evaluation) == str(core)
    assert str(evaluation.explain("repeated")) == str(core.explain("repeated"))
    assert dict(to_evaluation(result).means) == dict(core.means)
    questions = rm.EvaluationSet({1: "found", 2: "repeated"}, {1: qrels["found"], 2: qrels["repeated"]})
    assert to_evaluation(result, qrels=questions).queries == (1, 2)


def test_the_counts_tell_repeats() -> None:
    assert to_evaluation(evaluate_with_ragas([RETRIEVED, DUPLICATES], [MRR()])).counts["duplicates"] == 1

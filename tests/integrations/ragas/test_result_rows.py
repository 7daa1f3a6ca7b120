"""Rows and columns as they are read: mappings, models, tables, files, and what is no metric of retrieval."""

import asyncio
import math
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel
from ragas import Dataset, experiment
from ragas.executor import Executor
from ragas.metrics.result import MetricResult

import retrieval_metrics as rm
from ragas_retrieval_metrics import (
    MRR,
    NDCG,
    metric_suite,
    to_evaluation,
)
from ragas_rows import EMPTY, RETRIEVED, UNJUDGED, WRONG_TYPE, evaluate_with_ragas


class Scored(BaseModel):
    user_input: str
    mrr: float


def test_rows_come_as_mappings_models_frames_and_metric_results() -> None:
    expected = {"a": 0.5, "b": 1.0}
    mappings = [{"user_input": query, "mrr": score} for query, score in expected.items()]
    shapes: list[Any] = [
        mappings,
        [Scored(user_input=query, mrr=score) for query, score in expected.items()],
        pd.DataFrame(mappings),
        [{"question": query, "mrr": MetricResult(value=score)} for query, score in expected.items()],
        [{"query": query, "mrr": str(score)} for query, score in expected.items()],
    ]
    for shape in shapes:
        assert to_evaluation(shape).per_query["mrr"] == expected


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([{"mrr": "MetricResult(value=0.5)"}], TypeError, "which is not a number; .* return metric_result.value"),
        ([{"mrr": True}], TypeError, "True, which is not a number"),
        ([{"mrr": [0.5]}], TypeError, r"\[0.5\], which is not a number"),
        ("result.csv", TypeError, "or a DataFrame, got str"),
        ({"mrr": 0.5}, TypeError, "or a DataFrame, got dict"),
        (Executor(), TypeError, "or a DataFrame, got Executor"),
        ([0.5], TypeError, "row 1 must be a mapping or a pydantic model, got 0.5"),
        ([], ValueError, "no rows"),
    ],
)
def test_what_is_no_result_is_refused(result: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        to_evaluation(result)


def test_a_whole_suite_survives_the_way_through_a_csv_file(tmp_path: Any) -> None:
    suite = metric_suite(k=(1, 5))

    @experiment()
    async def run_suite(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, **{metric.name: (await metric.ascore(**row)).value for metric in suite}}

    dataset: Dataset[Any] = Dataset("questions", "local/csv", data=[RETRIEVED, EMPTY, UNJUDGED], root_dir=str(tmp_path))
    dataset.save()
    dataset.reload()
    result = asyncio.run(run_suite.arun(dataset, name="suite"))
    result.reload()
    assert result[0]["ndcg_at_5"] in {"1.0", "0.0", "nan"}
    evaluation = to_evaluation(result, dataset)
    direct = to_evaluation(evaluate_with_ragas([RETRIEVED, EMPTY, UNJUDGED], metric_suite(k=(1, 5))))
    assert dict(evaluation.means) == dict(direct.means)
    assert evaluation.counts == direct.counts
    assert NDCG(5).name in result[0]


def test_columns_that_only_sound_like_metrics_are_not_taken() -> None:
    rows = [RETRIEVED | {"mrr": 1.0, "recall": 1.0, "success": True, "r": 0.1, "hit_rate@5": "yes"}]
    assert list(to_evaluation(rows).means) == ["mrr", "recall"]
    assert dict(to_evaluation([RETRIEVED | {"success": 1.0}], metrics=["success"]).means) == {"hit_rate": 1.0}


def test_a_column_whose_scores_were_given_elsewhere_is_no_metric_of_retrieval() -> None:
    rm.Evaluation.from_scores({"answer_quality": {"q": 0.5}}, bounds=(0, 1))
    with pytest.raises(ValueError, match="no column of the result is named like a retrieval metric"):
        to_evaluation([{"user_input": "q", "answer_quality": 0.5}])


def test_messages_speak_of_rows_and_columns() -> None:
    wrong_type: dict[str, Any] = WRONG_TYPE
    with pytest.raises(TypeError, match="row 'wrong type' cannot be judged: document IDs in the judgments are str"):
        MRR().score(**wrong_type)
    mistakes: list[Any] = [[None], [["d1"]], {"d1": math.nan}]
    for wrong in mistakes:
        with pytest.raises((TypeError, ValueError)) as caught:
            MRR().score(retrieved_context_ids=wrong, reference_context_ids=["d1"], user_input="found")
        assert not any(word in str(caught.value) for word in ("the qrels", "the run", "query '"))
        assert "row 'found'" in str(caught.value)


@pytest.mark.parametrize("spelling", ["ndcg@10", "ndcg_at_10", "nDCG@10"])
def test_metrics_are_chosen_in_the_spelling_of_the_core_or_of_ragas(spelling: str) -> None:
    rows = [{"user_input": "a", "ndcg_at_10": 0.5, "mrr": 1.0}]
    assert dict(to_evaluation(rows, metrics=[spelling]).means) == {"ndcg@10": 0.5}

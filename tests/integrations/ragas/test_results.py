"""Neither a NaN nor a dropped row can flatter a retriever."""

import asyncio
import math
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel
from ragas import Dataset, EvaluationDataset, evaluate, experiment
from ragas.dataset_schema import EvaluationResult
from ragas.executor import Executor
from ragas.metrics import numeric_metric
from ragas.metrics.result import MetricResult

import retrieval_metrics as rm
from ragas_retrieval_metrics import MRR, NDCG, Precision, metric_suite, to_evaluation

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")

FOUND = {"user_input": "found", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]}
NOTHING = {"user_input": "nothing", "retrieved_context_ids": [], "reference_context_ids": ["d1"]}
UNJUDGED = {"user_input": "unjudged", "retrieved_context_ids": ["d1"], "reference_context_ids": []}
WRONG_TYPE = {"user_input": "wrong type", "retrieved_context_ids": [1], "reference_context_ids": ["d1"]}
REPEATED = {"user_input": "repeated", "retrieved_context_ids": ["d1", "d1"], "reference_context_ids": ["d1"]}


def evaluated(rows: list[dict[str, Any]], metrics: list[Any]) -> EvaluationResult:
    result = evaluate(EvaluationDataset.from_list(rows), metrics, show_progress=False)
    assert isinstance(result, EvaluationResult)
    return result


def test_a_metric_that_raised_scores_0_and_is_counted() -> None:
    result = evaluated([FOUND, NOTHING, UNJUDGED, WRONG_TYPE], [MRR(), Precision(1)])
    assert math.isnan(result["mrr"][2])
    assert math.isnan(result["mrr"][3])
    assert repr(result) == "{'mrr': 0.5000, 'precision_at_1': 0.5000}"  # ragas: two of the four are not there
    with pytest.warns(rm.RetrievalWarning, match="1 of 4 rows failed or were dropped, for example 'wrong type'"):
        evaluation = to_evaluation(result)
    assert evaluation.means["mrr"] == pytest.approx(1 / 3)
    assert evaluation.n["mrr"] == 3
    met = {key: number for key, number in evaluation.counts.items() if number}
    assert met == {"queries": 4, "scored": 3, "missing": 2, "failed": 1, "no_relevant": 1}
    assert str(evaluation).splitlines()[3:] == [
        "4 queries",
        "1 with nothing retrieved, scored 0",
        "1 for which the retriever failed, scored 0",
        "1 without a relevant document, undefined and out of the means",
        "n too small: an interval of fewer than 4 queries says little",
    ]


def test_one_metric_that_failed_leaves_the_others_of_its_row() -> None:
    rows: list[dict[str, Any]] = [
        {**FOUND, "mrr": 1.0, "recall": 1.0},
        {**FOUND, "user_input": "half", "mrr": 1.0, "recall": None},
    ]
    with pytest.warns(
        rm.RetrievalWarning, match="1 of 2 rows failed or were dropped, for example 'half'; they score 0"
    ):
        evaluation = to_evaluation(rows)
    assert dict(evaluation.means) == {"mrr": 1.0, "recall": 0.5}
    assert (evaluation.counts["failed"], evaluation.counts["missing"]) == (1, 1)


def test_a_result_that_the_rows_do_not_give_is_kept_and_said_so() -> None:
    rows = [{**FOUND, "mrr": 0.5}, {**FOUND, "user_input": "other", "mrr": 1.0}]
    with pytest.warns(rm.RetrievalWarning, match=r"mrr of 'found' is 0.5 in the result and 1 by the rows.*qrels="):
        evaluation = to_evaluation(rows)
    assert evaluation.per_query["mrr"] == {"found": 0.5, "other": 1.0}
    with pytest.raises(ValueError, match="cannot be explained"):
        evaluation.explain("found")


def test_judgments_that_were_given_to_the_metrics_are_given_again() -> None:
    qrels: dict[str, Any] = {"found": {"d1": 1, "d2": 3}, "repeated": [["d1", "d2"], ["d3"]]}
    rows: list[dict[str, Any]] = [
        {key: value for key, value in row.items() if key != "reference_context_ids"} for row in (FOUND, REPEATED)
    ]
    result = evaluated(rows, [NDCG(5, qrels=qrels), MRR(qrels=qrels)])
    run: dict[str, Any] = {str(row["user_input"]): row["retrieved_context_ids"] for row in rows}
    core = rm.evaluate(qrels, run, ["ndcg@5", "mrr"])
    evaluation = to_evaluation(result, qrels=qrels)
    assert str(evaluation) == str(core)
    assert str(evaluation.explain("repeated")) == str(core.explain("repeated"))
    assert dict(to_evaluation(result).means) == dict(core.means)
    questions = rm.EvaluationSet({1: "found", 2: "repeated"}, {1: qrels["found"], 2: qrels["repeated"]})
    assert to_evaluation(result, qrels=questions).queries == (1, 2)


def test_two_runs_are_compared_and_kept(tmp_path: Any) -> None:
    rows = [
        {"user_input": f"q{number}", "retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]}
        for number in range(30)
    ]
    better = [{**row, "retrieved_context_ids": ["d1", "x"]} for row in rows]
    first, second = (to_evaluation(evaluated(some, [MRR()])) for some in (rows, better))
    comparison = rm.compare({"first": first, "second": second})
    assert comparison.difference("mrr", "second", "first").mean == 0.5
    assert "second is better than first in mrr" in str(comparison)
    first.save(tmp_path / "first.json")
    again: Any = rm.load(tmp_path / "first.json")
    assert str(again.explain("q7")) == str(first.explain("q7"))


def test_the_counts_tell_repeats() -> None:
    assert to_evaluation(evaluated([FOUND, REPEATED], [MRR()])).counts["duplicates"] == 1


def test_only_metrics_of_retrieval_are_taken() -> None:
    result = evaluated([FOUND], [MRR()])
    result.scores[0]["faithfulness"] = 0.9
    assert dict(to_evaluation(result).means) == {"mrr": 1.0, "faithfulness": 0.9}
    assert list(to_evaluation(result, scores=()).means) == ["mrr"]
    rows = [{"user_input": "q", "recall": 1.0, "mrr": 0.5, "response": "text"}]
    assert list(to_evaluation(rows).means) == ["recall", "mrr"]
    assert list(to_evaluation(rows, metrics=["mrr"]).means) == ["mrr"]
    with pytest.raises(ValueError, match="no column 'ndcg'; it has 'user_input', 'recall'"):
        to_evaluation(rows, metrics=["ndcg"])
    with pytest.raises(ValueError, match="no column of the result is named like a retrieval metric"):
        to_evaluation([{"user_input": "q", "faithfulness": 1.0}])
    with pytest.raises(ValueError, match="are the same metric; choose with metrics="):
        to_evaluation([{"mrr": 0.5, "mrr-by-texts": 0.7}])


@experiment()
async def run_mrr(row: dict[str, Any]) -> dict[str, Any]:
    return {"user_input": row["user_input"], "mrr": (await MRR().ascore(**row)).value}


def test_a_row_that_an_experiment_dropped_scores_0_and_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=[WRONG_TYPE, FOUND, UNJUDGED])
    result = asyncio.run(run_mrr.arun(dataset))
    assert "Task failed" in capsys.readouterr().out
    assert len(result) == 2
    assert result.to_pandas()["mrr"].mean() == 1.0  # the mean of what is left
    with pytest.warns(rm.RetrievalWarning, match="1 of 3 rows failed or were dropped, for example 'wrong type'"):
        evaluation = to_evaluation(result, dataset)
    assert evaluation.means["mrr"] == 0.5
    assert evaluation.queries == ("wrong type", "found", "unjudged")
    assert (evaluation.counts["failed"], evaluation.counts["missing"], evaluation.counts["no_relevant"]) == (1, 1, 1)
    with pytest.warns(rm.RetrievalWarning, match="'dropped row 1'"):
        by_number = to_evaluation(result, 3)
    assert dict(by_number.means) == dict(evaluation.means)


def test_an_experiment_without_its_dataset_is_warned_of() -> None:
    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=[WRONG_TYPE, FOUND])
    result = asyncio.run(run_mrr.arun(dataset))
    with pytest.warns(rm.RetrievalWarning, match="drops rows that raise.*pass expected=dataset"):
        assert to_evaluation(result).means["mrr"] == 1.0


def test_all_rows_dropped_is_an_error_not_a_mean_of_nothing() -> None:
    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=[WRONG_TYPE])
    with pytest.raises(
        ValueError, match="no rows: every row failed or was dropped; row 'wrong type' raises TypeError: "
    ):
        to_evaluation(asyncio.run(run_mrr.arun(dataset)), dataset)


def test_all_rows_dropped_points_to_what_ragas_printed_where_the_cause_is_not_in_the_rows() -> None:
    @experiment()
    async def run_broken(row: dict[str, Any]) -> dict[str, Any]:
        raise ConnectionError(row)

    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=[FOUND, NOTHING])
    result = asyncio.run(run_broken.arun(dataset))
    for expected in (dataset, 2, [{"user_input": "found"}], None):
        with pytest.raises(ValueError, match="every row failed or was dropped; what ragas printed, 'Task failed with"):
            to_evaluation(result, expected)


def test_an_experiment_takes_what_it_does_not_return_from_its_dataset() -> None:
    rows = [FOUND, NOTHING, REPEATED]
    dataset: Dataset[Any] = Dataset("questions", "inmemory", data=[{**row, "response": "text"} for row in rows])
    evaluation = to_evaluation(asyncio.run(run_mrr.arun(dataset)), dataset)
    direct = to_evaluation(evaluated(rows, [MRR()]))
    assert str(evaluation) == str(direct)
    assert str(evaluation.worst("mrr")) == str(direct.worst("mrr"))


def test_more_rows_than_expected_is_an_error() -> None:
    with pytest.raises(ValueError, match="has 2 rows, more than the 1 expected"):
        to_evaluation([{"mrr": 1.0}, {"mrr": 1.0}], expected=1)


def test_the_decorator_of_ragas_turns_errors_into_nothing_which_fails() -> None:
    @numeric_metric(name="mrr", allowed_values=(0.0, 1.0))
    def decorated(rank: int) -> float:
        return 1 / rank

    rows: list[dict[str, Any]] = [{"user_input": str(rank), "mrr": decorated.score(rank=rank)} for rank in (2, 0)]
    assert rows[1]["mrr"].value is None
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 rows failed"):
        assert to_evaluation(rows).means["mrr"] == 0.25


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


def test_the_same_question_twice_stays_two_rows() -> None:
    rows: list[dict[str, Any]] = [{"user_input": "same", "mrr": 1.0}, {"user_input": "same", "mrr": 0.0}, {"mrr": 0.5}]
    evaluation = to_evaluation(rows)
    assert evaluation.per_query["mrr"] == {"same": 1.0, "same (2)": 0.0, "row 3": 0.5}
    dataset = [{"user_input": "same"}, {"user_input": "same"}, {"user_input": "same"}]
    with pytest.warns(rm.RetrievalWarning, match="1 of 3 rows"):
        again = to_evaluation(rows[:2], dataset)
    assert again.per_query["mrr"] == {"same": 1.0, "same (2)": 0.0, "same (3)": 0.0}


def test_a_whole_suite_survives_the_way_through_a_csv_file(tmp_path: Any) -> None:
    suite = metric_suite(k=(1, 5))

    @experiment()
    async def run_suite(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, **{metric.name: (await metric.ascore(**row)).value for metric in suite}}

    dataset: Dataset[Any] = Dataset("questions", "local/csv", data=[FOUND, NOTHING, UNJUDGED], root_dir=str(tmp_path))
    dataset.save()
    dataset.reload()
    result = asyncio.run(run_suite.arun(dataset, name="suite"))
    result.reload()
    assert result[0]["ndcg_at_5"] in {"1.0", "0.0", "nan"}
    evaluation = to_evaluation(result, dataset)
    direct = to_evaluation(evaluated([FOUND, NOTHING, UNJUDGED], metric_suite(k=(1, 5))))
    assert dict(evaluation.means) == dict(direct.means)
    assert evaluation.counts == direct.counts
    assert NDCG(5).name in result[0]


def test_columns_that_only_sound_like_metrics_are_not_taken() -> None:
    rows = [FOUND | {"mrr": 1.0, "recall": 1.0, "success": True, "r": 0.1, "hit_rate@5": "yes"}]
    assert list(to_evaluation(rows).means) == ["mrr", "recall"]
    assert dict(to_evaluation([FOUND | {"success": 1.0}], metrics=["success"]).means) == {"hit_rate": 1.0}


def test_a_column_whose_scores_were_given_elsewhere_is_no_metric_of_retrieval() -> None:
    rm.Evaluation.of_scores({"answer_quality": {"q": 0.5}}, bounds=(0, 1))
    with pytest.raises(ValueError, match="no column of the result is named like a retrieval metric"):
        to_evaluation([{"user_input": "q", "answer_quality": 0.5}])


def test_a_nan_of_a_row_with_judgments_is_a_failure_in_a_table_too(tmp_path: Any) -> None:
    result = evaluated([FOUND, NOTHING, UNJUDGED, WRONG_TYPE], [MRR(), Precision(1)])
    with pytest.warns(rm.RetrievalWarning, match="1 of 4 rows failed"):
        traced = to_evaluation(result)
    frame = result.to_pandas()
    frame.to_csv(tmp_path / "result.csv", index=False)
    for table in (frame, pd.read_csv(tmp_path / "result.csv"), frame.to_dict("records")):
        with pytest.warns(rm.RetrievalWarning, match="1 of 4 rows failed or were dropped, for example 'wrong type'"):
            found = to_evaluation(table)
        assert dict(found.means) == dict(traced.means)
        assert found.counts == traced.counts
        assert str(found.explain("found")) == str(traced.explain("found"))


def test_a_nan_without_judgments_is_warned_of_and_settled_by_the_dataset() -> None:
    rows: list[dict[str, Any]] = [{"user_input": "found", "mrr": 1.0}, {"user_input": "wrong type", "mrr": math.nan}]
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 rows have neither a value nor judgments, .* 'wrong type'"):
        assert dict(to_evaluation(rows).means) == {"mrr": 1.0}
    for known in ({"expected": [FOUND, WRONG_TYPE]}, {"qrels": {"found": ["d1"], "wrong type": ["d1"]}}):
        with pytest.warns(rm.RetrievalWarning, match="1 of 2 rows failed"):
            assert dict(to_evaluation(rows, **known).means) == {"mrr": 0.5}
    zero = [{"user_input": "a", "mrr-unjudged-zero": 1.0}, {"user_input": "b", "mrr-unjudged-zero": math.nan}]
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 rows failed"):
        assert dict(to_evaluation(zero).means) == {"mrr": 0.5}


def test_a_threshold_that_nothing_reaches_is_no_failure() -> None:
    qrels = {"low": {"d1": 1}, "high": {"d1": 2}}
    name = "recall-rel-2"
    rows = [{"user_input": "low", name: math.nan}, {"user_input": "high", name: 1.0}]
    found = to_evaluation(rows, qrels=qrels)
    assert (dict(found.means), found.counts["failed"]) == ({"recall(rel=2)": 1.0}, 0)


def test_other_metrics_stand_beside_those_of_retrieval() -> None:
    rows = [FOUND | {"mrr": 1.0, "faithfulness": 0.5, "id": 7}, NOTHING | {"mrr": 0.0, "faithfulness": math.nan}]
    assert list(to_evaluation(rows).means) == ["mrr"]
    found = to_evaluation(rows, scores={"faithfulness": (0, 1)})
    assert (dict(found.means), found.n["faithfulness"]) == ({"mrr": 0.0 + 0.5, "faithfulness": 0.5}, 1)
    assert found.intervals()["faithfulness"].low >= 0
    assert found.explain("found").findings
    only = to_evaluation([{"user_input": "q", "faithfulness": 0.5}], scores=["faithfulness"])
    assert dict(only.means) == {"faithfulness": 0.5}
    with pytest.raises(ValueError, match="no column 'groundedness'"):
        to_evaluation(rows, scores=["groundedness"])
    with pytest.raises(TypeError, match="not a number"):
        to_evaluation([FOUND | {"mrr": 1.0, "success": True}], scores=["success"])


def test_metrics_with_other_judgments_have_other_names_and_are_rebuilt_with_them() -> None:
    strict, lenient = {"found": ["d2"]}, {"found": ["d1", "d2"]}
    one, other = MRR(qrels=strict), MRR(qrels=lenient)
    assert len({one.name, other.name, MRR().name}) == 3
    assert one.name == MRR(qrels={"found": ["d2"]}).name
    result = evaluated([FOUND], [one, other, MRR()])
    assert [result[metric.name] for metric in (one, other, MRR())] == [[0.0], [1.0], [1.0]]
    assert dict(to_evaluation(result, metrics=[one.name], qrels=strict).means) == {"mrr": 0.0}
    with pytest.raises(ValueError, match=r"several of the columns .* are the same metric"):
        to_evaluation(result)
    with pytest.raises(ValueError, match="is the name of a metric with judgments of its own; pass them: qrels="):
        MRR(name=one.name)
    assert MRR(name=one.name, qrels=strict).name == one.name


def test_messages_speak_of_rows_and_columns() -> None:
    wrong_type: dict[str, Any] = WRONG_TYPE
    with pytest.raises(TypeError, match="row 'wrong type' cannot be judged: document ids in the judgments are str"):
        MRR().score(**wrong_type)
    mistakes: list[Any] = [[None], [["d1"]], {"d1": math.nan}]
    for wrong in mistakes:
        with pytest.raises((TypeError, ValueError)) as caught:
            MRR().score(retrieved_context_ids=wrong, reference_context_ids=["d1"], user_input="found")
        assert not any(word in str(caught.value) for word in ("the qrels", "the run", "query '"))
        assert "row 'found'" in str(caught.value)


def test_a_value_that_its_metric_cannot_have_is_refused() -> None:
    rows = [{"user_input": "a?", "mrr": 7.0}, {"user_input": "b?", "mrr": 1.0}]
    with pytest.raises(ValueError, match=r"mrr of query 'a\?' is 7, which is not in \[0, 1\]"):
        to_evaluation(rows, 2)

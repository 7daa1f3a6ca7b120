"""Neither a NaN nor a dropped row can flatter a retriever."""

import asyncio
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pandas as pd
import polars as pl
import pytest
from ragas import Dataset, EvaluationDataset, MultiTurnSample, SingleTurnSample, evaluate, experiment
from ragas.messages import HumanMessage
from ragas.metrics import numeric_metric

import retrieval_metrics as rm
from conformance import EvaluationConformance, Rankings, Truth
from ragas_retrieval_metrics import (
    MRR,
    NDCG,
    Precision,
    RetrievalMetric,
    evaluate_dataset,
    metric_suite,
    to_evaluation,
)
from ragas_rows import FOUND, NOTHING, REPEATED, UNJUDGED, WRONG_TYPE, evaluated

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


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
    assert list(to_evaluation(rows, metrics=["recall", "mrr"]).means) == ["recall", "mrr"]
    for known in ({}, FOUND):  # a metric of another package: the rows do not say that it is ours, or say that it is not
        with pytest.warns(rm.RetrievalWarning, match=r"not taken: recall, because .* pass metrics="):
            assert list(to_evaluation([{**known, "recall": 0.25, "mrr": 1.0}]).means) == ["mrr"]
        with (
            pytest.warns(rm.RetrievalWarning, match="not taken: f1"),
            pytest.raises(ValueError, match="no column but f1 is named like a retrieval metric"),
        ):
            to_evaluation([{**known, "f1": 0.25}])
    assert list(to_evaluation([FOUND | {"recall": 1.0, "mrr": 1.0}]).means) == ["recall", "mrr"]
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


@pytest.mark.filterwarnings("ignore:none of the retrieved:retrieval_metrics.RetrievalWarning")
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


def test_a_value_that_its_metric_cannot_have_is_refused() -> None:
    rows = [{"user_input": "a?", "mrr": 7.0}, {"user_input": "b?", "mrr": 1.0}]
    with pytest.raises(ValueError, match=r"mrr of query 'a\?' is 7, which is not in \[0, 1\]"):
        to_evaluation(rows, 2)


SENTENCES = {
    "try": "A try statement specifies exception handlers and cleanup code for a group of statements.",
    "with": "The with statement is used to wrap the execution of a block with methods defined by a context manager.",
}


def rows_of(n: int = 40, seed: int = 7) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(12)]
    return [
        {
            "user_input": f"question {number}",
            "retrieved_context_ids": rng.sample(documents, rng.randint(0, 12)),
            "reference_context_ids": rng.sample(documents, rng.randint(1, 4)),
        }
        for number in range(n)
    ]


def held(evaluation: rm.Evaluation) -> tuple[Any, ...]:
    """Return all that an evaluation says, in a form in which NaN equals NaN."""
    return (
        evaluation.queries,
        str(evaluation),
        evaluation.values.tobytes(),
        {name: tuple(interval) for name, interval in evaluation.intervals().items()},
        dict(evaluation.counts),
    )


class TestOnePass(EvaluationConformance):
    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        rows = [{"user_input": query, "retrieved_context_ids": run.get(query, [])} for query in qrels]
        return evaluate_dataset(EvaluationDataset.from_list(rows), metrics, qrels=qrels)


class TestOnePassOverColumns(EvaluationConformance):
    """Rows that are no samples of ragas may hold grades and groups."""

    metrics: ClassVar[tuple[str, ...]] = ("ndcg@3", "map", "mrr", "precision@3", "recall", "f1@3")

    def evaluation(self, qrels: Truth, run: Rankings, metrics: Sequence[str]) -> rm.Evaluation:
        rows: list[Mapping[str, Any]] = [
            {"user_input": query, "retrieved_context_ids": run.get(query, []), "reference_context_ids": truth}
            for query, truth in qrels.items()
        ]
        return evaluate_dataset(rows, metrics)


@pytest.mark.filterwarnings("ignore:nothing was retrieved:retrieval_metrics.RetrievalWarning")
def test_it_is_the_evaluation_of_ragas_and_of_the_core() -> None:
    rows = rows_of()
    dataset = EvaluationDataset.from_list(rows)
    suite = metric_suite()
    fast = evaluate_dataset(dataset, suite)
    slow = to_evaluation(evaluate(dataset, metric_suite(), show_progress=False))
    core = rm.evaluate(
        {row["user_input"]: row["reference_context_ids"] for row in rows},
        {row["user_input"]: row["retrieved_context_ids"] for row in rows},
        [metric.metric for metric in suite],
    )
    assert held(fast) == held(slow) == held(core)
    assert str(fast.worst("ndcg@10")) == str(slow.worst("ndcg@10")) == str(core.worst("ndcg@10"))
    assert str(fast.explain("question 3")) == str(core.explain("question 3"))


def test_the_intervals_are_those_of_the_audited_case() -> None:
    rows = [
        {
            "user_input": f"q{number}",
            "retrieved_context_ids": ["r" if number % 2 else "a", "b", "c"],
            "reference_context_ids": ["r"],
        }
        for number in range(20)
    ]
    dataset = EvaluationDataset.from_list(rows)
    for evaluation in (
        evaluate_dataset(dataset, [Precision(k=10)]),
        to_evaluation(evaluate(dataset, [Precision(k=10)], show_progress=False)),
    ):
        low, high = evaluation.intervals()["precision@10"]
        assert (round(low, 3), round(high, 3)) == (0.029, 0.071)  # no ranking reaches more than 1 of 10


def test_names_and_metrics_mean_the_same_in_any_shape_of_the_rows(tmp_path: Any) -> None:
    rows = [row for row in rows_of(12) if row["retrieved_context_ids"]]
    expected = held(evaluate_dataset(EvaluationDataset.from_list(rows), [NDCG(k=5), MRR()]))
    path = tmp_path / "rows.jsonl"
    EvaluationDataset.from_list(rows).to_jsonl(path)
    shapes: list[Any] = [
        rows,
        [SingleTurnSample(**row) for row in rows],
        pd.DataFrame(rows),
        Dataset("rows", "inmemory", data=rows),
        EvaluationDataset.from_jsonl(path),
        [{**row, "retrieved_context_ids": str(row["retrieved_context_ids"])} for row in rows],  # as CSV files have it
        [{**row, "response": "because", "id": 3} for row in rows],
    ]
    for shape in shapes:
        assert held(evaluate_dataset(shape, ["ndcg@5", "mrr"])) == expected
    assert held(evaluate_dataset(rows, ["ndcg@5", MRR()])) == expected
    assert evaluate_dataset(rows, "mrr").metrics == (rm.Metric.parse("mrr"),)
    assert evaluate_dataset(rows).metrics == tuple(map(rm.Metric.parse, rm.DEFAULT_METRICS))


@pytest.mark.parametrize("options", [{"by": "texts"}, {"by": "auto"}, {"on_unjudged": "zero"}])
def test_every_option_gives_what_ragas_gives(options: dict[str, Any]) -> None:
    rows: list[dict[str, Any]] = [
        {
            "user_input": "how do I clean up?",
            "retrieved_contexts": [SENTENCES["with"], SENTENCES["try"]],
            "reference_contexts": [SENTENCES["try"]],
            "retrieved_context_ids": ["w", "t"],
            "reference_context_ids": ["w"],
        },
        {
            "user_input": "what is nothing?",
            "retrieved_contexts": [SENTENCES["with"]],
            "reference_contexts": [],
            "retrieved_context_ids": ["w"],
            "reference_context_ids": [],
        },
    ]
    dataset = EvaluationDataset.from_list(rows)
    names = ["mrr", "ndcg@5", "recall"]
    fast = evaluate_dataset(dataset, names, **options)
    metrics = [RetrievalMetric(name, **options) for name in names]
    assert held(fast) == held(evaluate_dataset(dataset, metrics))
    assert held(fast) == held(to_evaluation(evaluate(dataset, metrics, show_progress=False)))
    zero = options.get("on_unjudged") == "zero"
    assert fast.n["mrr"] == (2 if zero else 1)
    assert fast.means["mrr"] == {"texts": 0.5, "auto": 1.0}.get(options.get("by", ""), 0.5 if zero else 1.0)


def test_texts_of_the_rows_are_shown() -> None:
    rows = [
        {
            "user_input": "how do I clean up?",
            "retrieved_context_ids": ["w", "t"],
            "retrieved_contexts": [SENTENCES["with"], SENTENCES["try"]],
            "reference_context_ids": ["t"],
        }
    ]
    explained = str(evaluate_dataset(rows, "mrr").explain("how do I clean up?"))
    assert "The with statement is used" in explained
    assert "A try statement specifies" in explained


def test_a_row_that_cannot_be_scored_has_failed_and_says_why() -> None:
    rows = [
        *rows_of(5),
        {"user_input": "wrong type", "retrieved_context_ids": [1], "reference_context_ids": ["d1"]},
        {"user_input": "wrong again", "retrieved_context_ids": [1, 2], "reference_context_ids": ["d1"]},
    ]
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed for 2 of them"):
        fast = evaluate_dataset(rows, [MRR(), NDCG(k=5)])
    assert {query: type(error) for query, error in fast.errors.items()} == {
        "wrong type": TypeError,
        "wrong again": TypeError,
    }
    with pytest.warns(
        rm.RetrievalWarning, match="2 of 7 rows failed or were dropped, for example 'wrong type': TypeError"
    ):
        slow = to_evaluation(evaluate(EvaluationDataset.from_list(rows), [MRR(), NDCG(k=5)], show_progress=False))
    assert held(fast) == held(slow)
    assert fast.counts["failed"] == 2
    assert fast.per_query["mrr"]["wrong type"] == 0


def test_a_row_with_texts_where_ids_are_compared_has_failed() -> None:
    rows = [*rows_of(2), {"user_input": "texts", "retrieved_contexts": ["d1"], "reference_context_ids": ["d1"]}]
    with pytest.warns(rm.RetrievalWarning, match="'texts': ValueError: row 'texts' has retrieved_contexts but no"):
        assert evaluate_dataset(rows, "mrr").counts["failed"] == 1


def test_every_row_failed_is_an_error_with_the_first_reason() -> None:
    rows = [{"user_input": f"q{n}", "retrieved_context_ids": [n], "reference_context_ids": ["d1"]} for n in range(3)]
    with pytest.raises(ValueError, match=r"every row failed, 3 of 3; the first, 'q0': TypeError: .*int"):
        evaluate_dataset(rows, "mrr")
    result: Any = evaluate(EvaluationDataset.from_list(rows), [MRR()], show_progress=False)
    with pytest.raises(ValueError, match=r"every row failed, 3 of 3; the first, 'q0': TypeError: .*int"):
        to_evaluation(result)


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        ([], {}, ValueError, "the dataset has no rows"),
        (rows_of(2), {"metrics": []}, ValueError, "there are no metrics"),
        (rows_of(2), {"metrics": ["ndgc@5"]}, ValueError, "ndcg"),
        (rows_of(2), {"metrics": [MRR(), NDCG(by="auto")]}, ValueError, "differ in by, qrels or on_unjudged"),
        (rows_of(2), {"metrics": [MRR(), NDCG(qrels={"q": ["d"]})]}, ValueError, "evaluate them separately"),
        (rows_of(2), {"metrics": [MRR()], "by": "texts"}, ValueError, "already defines what it compares"),
        (rows_of(2), {"clusters": {"other": 1}}, ValueError, "clusters= has none of the judged queries"),
        ("rows.csv", {}, TypeError, "a DataFrame, got str"),
        ([MultiTurnSample(user_input=[HumanMessage(content="hi")])], {}, TypeError, "rows with a single turn"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(
    rows: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        evaluate_dataset(rows, **options)


def test_metrics_with_equal_judgments_go_together() -> None:
    rows = [{"user_input": "q", "retrieved_context_ids": ["x", "d"]}]
    evaluation = evaluate_dataset(rows, [MRR(qrels={"q": {"d": 2}}), NDCG(qrels={"q": {"d": 2}})])
    assert evaluation.means["mrr"] == 0.5


def test_the_scale_is_that_of_all_judgments() -> None:
    qrels = {"q": {"d": 1}, "not asked": {"d": 3}}
    rows = [{"user_input": "q", "retrieved_context_ids": ["d"]}]
    (metric,) = [RetrievalMetric("err@5", qrels=qrels)]
    result: Any = evaluate(EvaluationDataset.from_list(rows), [metric], show_progress=False)
    assert evaluate_dataset(rows, metric).means["err@5"] == result[metric.name][0] == (2 - 1) / 2**3


def test_queries_that_the_judgments_do_not_know_are_told_once() -> None:
    rows = [{"user_input": query, "retrieved_context_ids": ["d"]} for query in "abc"]
    with pytest.warns(rm.RetrievalWarning, match="has no user_input 'b', and 1 more") as warned:
        evaluation = evaluate_dataset(rows, "mrr", qrels={"a": ["d"]})
    assert len(warned) == 1
    assert evaluation.counts["no_relevant"] == 2


def test_questions_of_one_document_are_a_cluster() -> None:
    rows = [row for row in rows_of(120) if row["retrieved_context_ids"]]
    by_topic = {row["user_input"]: number // 4 for number, row in enumerate(rows)}
    clustered = evaluate_dataset(rows, "ndcg@5", clusters=by_topic)
    core = rm.evaluate(
        {row["user_input"]: row["reference_context_ids"] for row in rows},
        {row["user_input"]: row["retrieved_context_ids"] for row in rows},
        "ndcg@5",
        clusters=by_topic.__getitem__,
    )
    assert dict(clustered.intervals()) == dict(core.intervals())
    result: Any = evaluate(EvaluationDataset.from_list(rows), [NDCG(k=5)], show_progress=False)
    assert dict(to_evaluation(result, clusters=by_topic).intervals()) == dict(core.intervals())
    assert dict(to_evaluation(result).intervals()) != dict(core.intervals())
    alone = [{"user_input": query, "mrr": value} for query, value in core.per_query["ndcg@5"].items()]
    assert dict(to_evaluation(alone, clusters=by_topic).intervals()) != dict(to_evaluation(alone).intervals())


MANUALS: list[dict[str, Any]] = [
    {"id": f"{manual}{at}", "user_input": f"how, {at}?", "reference_context_ids": [f"{manual}{at}"]}
    for at in range(8)
    for manual in "AB"
]


@pytest.mark.parametrize("told_by", ["id", "reference_context_ids"])
def test_rows_with_the_same_query_are_paired_by_what_they_are(told_by: str) -> None:
    finished: list[dict[str, Any]] = [
        {key: row[key] for key in ("user_input", told_by)} | {"mrr": float(row["id"][0] == "A") / 2 + 0.5}
        for row in MANUALS
    ]
    first = to_evaluation(finished, expected=MANUALS)
    finished.sort(key=lambda row: str(row[told_by]), reverse=True)
    other = to_evaluation(finished, expected=MANUALS)
    assert list(first.per_query["mrr"].items()) == list(other.per_query["mrr"].items())
    assert rm.compare({"first": first, "other": other}).difference("mrr").paired.ties == len(MANUALS)
    with pytest.warns(rm.RetrievalWarning, match="1 of 16 rows failed or were dropped, for example 'how, 3. .2.'"):
        lost = to_evaluation([row for row in finished if "B3" not in str(row[told_by])], expected=MANUALS)
    assert (lost.per_query["mrr"]["how, 3?"], lost.per_query["mrr"]["how, 3? (2)"]) == (1.0, 0.0)


def test_rows_that_nothing_tells_apart_are_a_guess_that_is_said() -> None:
    finished = [{"user_input": row["user_input"], "mrr": float(row["id"][0] == "A")} for row in MANUALS]
    with pytest.warns(rm.RetrievalWarning, match=r"cannot be told apart, such as those of 'how, 0\?' \(8 in all\)"):
        to_evaluation(finished, expected=MANUALS)
    to_evaluation([row | {"mrr": 1.0} for row in finished], expected=MANUALS)  # which is which makes no difference


BAD_ROWS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "an empty reference": (
        [
            {"user_input": "x", "retrieved_contexts": ["a text"], "reference_contexts": [""]},
            {"user_input": "y", "retrieved_contexts": ["a text"], "reference_contexts": ["a text"]},
        ],
        {"by": "texts"},
        "row 'x' cannot be judged: a Text needs a text, got ''",
    ),
    "ids of another type than in other rows": (
        [
            {"user_input": "numbers", "retrieved_context_ids": [1, 2], "reference_context_ids": [2]},
            {"user_input": "more", "retrieved_context_ids": [2], "reference_context_ids": [2]},
            {"user_input": "texts", "retrieved_context_ids": ["a"], "reference_context_ids": ["a"]},
        ],
        {},
        "row 'texts' cannot be judged: document ids in the .* are partly str and partly int",
    ),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_row_without_readable_judgments_is_named_on_both_ways(kind: str) -> None:
    rows, options, said = BAD_ROWS[kind]
    with pytest.raises(ValueError, match=said):
        evaluate_dataset(rows, ["mrr"], **options)
    with pytest.raises(ValueError, match=said):
        to_evaluation(evaluated(rows, [MRR(**options)]))


def test_tables_of_polars_and_lists_of_json_are_read() -> None:
    rows: Any = [{"user_input": "q", "retrieved_context_ids": ["x", "d"], "reference_context_ids": ["d"]}]
    table: Any = pl.DataFrame(rows)
    assert evaluate_dataset(table, ["mrr"]).means["mrr"] == 0.5
    texts = [rows[0] | {"retrieved_context_ids": '["x", null]'}, rows[0] | {"user_input": "r"}]
    with pytest.warns(rm.RetrievalWarning, match="must be str or int, got NoneType"):
        evaluate_dataset(texts, ["mrr"])


def test_where_nothing_is_relevant_the_metrics_are_undefined_and_not_called_0() -> None:
    rows = [{"user_input": "q", "retrieved_context_ids": ["x"], "reference_context_ids": []}]
    assert math.isnan(evaluate_dataset(rows, ["mrr"]).means["mrr"])

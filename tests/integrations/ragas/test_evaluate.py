"""A dataset is evaluated in one pass, with the numbers of ragas and of the core."""

import math
import operator
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pandas as pd
import polars as pl
import pytest
from ragas import Dataset, EvaluationDataset, MultiTurnSample, SingleTurnSample, evaluate
from ragas.messages import HumanMessage

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

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


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


def answered_rows(n: int) -> list[dict[str, Any]]:
    return list(filter(operator.itemgetter("retrieved_context_ids"), rows_of(n)))


def contents(evaluation: rm.Evaluation) -> tuple[Any, ...]:
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


@pytest.mark.filterwarnings("ignore:.*judged queries:retrieval_metrics.RetrievalWarning")
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
    assert contents(fast) == contents(slow) == contents(core)
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
    rows = answered_rows(12)
    expected = contents(evaluate_dataset(EvaluationDataset.from_list(rows), [NDCG(k=5), MRR()]))
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
        assert contents(evaluate_dataset(shape, ["ndcg@5", "mrr"])) == expected
    assert contents(evaluate_dataset(rows, ["ndcg@5", MRR()])) == expected
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
    assert contents(fast) == contents(evaluate_dataset(dataset, metrics))
    assert contents(fast) == contents(to_evaluation(evaluate(dataset, metrics, show_progress=False)))
    zero = options.get("on_unjudged") == "zero"
    assert fast.n["mrr"] == (2 if zero else 1)
    assert fast.means["mrr"] == {"texts": 0.5, "auto": 1.0}.get(options.get("by", ""), 0.5 if zero else 1.0)


def test_a_row_that_cannot_be_scored_has_failed_and_says_why() -> None:
    rows = [
        *rows_of(5),
        {"user_input": "wrong type", "retrieved_context_ids": [1], "reference_context_ids": ["d1"]},
        {"user_input": "wrong again", "retrieved_context_ids": [1, 2], "reference_context_ids": ["d1"]},
    ]
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed on 2 of"):
        fast = evaluate_dataset(rows, [MRR(), NDCG(k=5)])
    assert {query: type(error) for query, error in fast.errors.items()} == {
        "wrong type": TypeError,
        "wrong again": TypeError,
    }
    with pytest.warns(
        rm.RetrievalWarning, match="2 of 7 rows failed or were dropped, for example 'wrong type': TypeError"
    ):
        slow = to_evaluation(evaluate(EvaluationDataset.from_list(rows), [MRR(), NDCG(k=5)], show_progress=False))
    assert contents(fast) == contents(slow)
    assert fast.counts["failed"] == 2
    assert fast.per_query["mrr"]["wrong type"] == 0


def test_a_row_with_texts_where_ids_are_compared_has_failed() -> None:
    rows = [*rows_of(2), {"user_input": "texts", "retrieved_contexts": ["d1"], "reference_context_ids": ["d1"]}]
    with pytest.warns(rm.RetrievalWarning, match="'texts': ValueError: row 'texts' has retrieved_contexts but no"):
        assert evaluate_dataset(rows, "mrr").counts["failed"] == 1


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        ([], {}, ValueError, "the dataset has no rows"),
        (rows_of(2), {"metrics": []}, ValueError, "there are no metrics"),
        (rows_of(2), {"metrics": ["ndgc@5"]}, ValueError, "ndcg"),
        (rows_of(2), {"metrics": [MRR(), NDCG(by="ids")]}, ValueError, "differ in by, qrels or on_unjudged"),
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
    assert [warning.filename for warning in warned] == [__file__]
    assert evaluation.counts["no_relevant"] == 2


UNJUDGED: dict[str, Any] = {"user_input": "b", "retrieved_context_ids": ["d"]}


@pytest.mark.parametrize(
    "score_unjudged",
    [
        lambda mrr: mrr.score(**UNJUDGED),
        lambda mrr: mrr.single_turn_score(SingleTurnSample(**UNJUDGED)),
        lambda mrr: evaluate(EvaluationDataset.from_list([UNJUDGED]), [mrr], show_progress=False),
    ],
    ids=["score", "single_turn_score", "evaluate"],
)
def test_a_warning_about_an_unjudged_query_names_the_line_of_the_user(score_unjudged: Callable[[MRR], Any]) -> None:
    with pytest.warns(rm.RetrievalWarning, match="has no user_input 'b'") as warned:
        score_unjudged(MRR(10, qrels={"a": ["d"]}))
    files = {warning.filename for warning in warned if issubclass(warning.category, rm.RetrievalWarning)}
    assert files == {__file__}


def test_questions_of_one_document_are_a_cluster() -> None:
    rows = answered_rows(120)
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


QUERIES_OF_THE_CORPUS = [
    {"id": "d1", "user_input": "a?", "retrieved_context_ids": ["d1", "d7"], "reference_context_ids": ["d7"]},
    {"id": "d2", "user_input": "b?", "retrieved_context_ids": ["d2", "d3"], "reference_context_ids": ["d3"]},
]


@pytest.mark.parametrize("convert", [list, pd.DataFrame, lambda rows: [{"query_id": row["id"], **row} for row in rows]])
@pytest.mark.parametrize("qrels", [None, {"a?": ["d7"], "b?": ["d3"]}])
def test_the_ids_of_queries_to_leave_out_stand_in_a_column(convert: Any, qrels: Any) -> None:
    rows = convert(QUERIES_OF_THE_CORPUS)
    evaluation = evaluate_dataset(rows, ["mrr"], qrels=qrels, exclude="query_id")
    assert evaluation.per_query["mrr"] == {"a?": 1.0, "b?": 1.0}
    assert evaluate_dataset(rows, ["mrr"], qrels=qrels).means["mrr"] == 0.5


def test_ids_of_queries_that_are_missing_are_named() -> None:
    first, second = QUERIES_OF_THE_CORPUS
    without_id = {column: value for column, value in second.items() if column != "id"}
    with pytest.raises(ValueError, match=r"an ID in column 'id' of row 'b\?', got None"):
        evaluate_dataset([first, without_id], ["mrr"], exclude="query_id")
    with pytest.raises(ValueError, match="have only their texts; add a column query_id, or "):
        evaluate_dataset([without_id], ["mrr"], exclude="query_id")

"""A converted dataset keeps what the columns of ragas cannot hold."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from ragas import EvaluationDataset, evaluate

import retrieval_metrics as rm
from ragas_retrieval_metrics import (
    MRR,
    NDCG,
    Recall,
    RetrievalMetric,
    RetrievedDataset,
    evaluate_dataset,
    from_langchain,
    metric_suite,
    to_evaluation,
)

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


PAGE = "The yield expression is used when defining a generator. A lambda is an anonymous function."


CHUNKS = {
    "what makes a generator?": [(56, 90), (0, 55)],
    "what is a lambda?": [(56, 90)],
}


WITH_SPANS = rm.EvaluationSet.from_dataset(
    [
        {
            "id": "q1",
            "query": "what makes a generator?",
            "relevant": [[rm.Quote("used when defining a generator"), rm.Span("page.txt", 4, 54)]],
            "source": "page.txt",
        },
        {"id": "q2", "query": "what is a lambda?", "relevant": [[rm.Span("page.txt", 56, 90)]], "source": "other.txt"},
        {"id": "q3", "query": "what is a closure?", "relevant": [[rm.Span("page.txt", 0, 9)]], "source": "page.txt"},
    ]
).with_sources({"page.txt": PAGE})


def retrieve_chunks(query: str) -> list[Document]:
    return [
        Document(PAGE[start:end], metadata={"source": "page.txt", "start_index": start, "owner": "docs"})
        for start, end in CHUNKS[query]
    ]


def convert(questions: Any = WITH_SPANS, **options: Any) -> RetrievedDataset:
    with pytest.warns(rm.RetrievalWarning, match="failed for 1 of 3 queries, for example 'q3': KeyError"):
        return from_langchain(RunnableLambda(retrieve_chunks), questions, show_progress=False, **options)


def test_spans_match_and_everything_is_that_of_the_core() -> None:
    dataset = convert()
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed on 1 of .*'q3'"):
        fast = evaluate_dataset(dataset, ["mrr", "ndcg@5"])
    assert dict(fast.per_query["mrr"]) == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    run = rm.retrieve(RunnableLambda(retrieve_chunks), WITH_SPANS.queries, show_progress=False)
    with pytest.warns(rm.RetrievalWarning):
        core = rm.evaluate(WITH_SPANS, run, ["mrr", "ndcg@5"])
    assert str(fast) == str(core)
    assert dict(fast.intervals()) == dict(core.intervals())  # q1 and q3 come from one page
    assert fast.counts == core.counts
    assert isinstance(fast.errors["q3"], KeyError)
    assert "page.txt" in str(fast.explain("q1"))


def test_the_metrics_find_spans_in_evaluate_too() -> None:
    dataset = convert()
    suite = metric_suite(k=5, qrels=dataset)
    result: Any = evaluate(dataset, suite, show_progress=False)
    assert result[next(one.name for one in suite if str(one.metric) == "mrr@5")] == [0.5, 1.0, 0.0]
    evaluation = to_evaluation(result)
    with pytest.warns(rm.RetrievalWarning):
        fast = evaluate_dataset(dataset, metric_suite(k=5))
    assert str(evaluation) == str(fast)
    assert evaluation.counts["failed"] == 1
    assert str(evaluation.explain("q1")) == str(fast.explain("q1"))
    metric = RetrievalMetric("coverage@60chars", qrels=dataset)  # counts characters, which rows do not say
    scored: Any = evaluate(dataset, [metric], show_progress=False)
    with pytest.warns(rm.RetrievalWarning):
        assert scored[metric.name] == list(evaluate_dataset(dataset, metric).per_query["coverage@60chars"].values())


def test_without_the_sources_a_place_that_nothing_confirms_is_counted() -> None:
    dataset = convert(replace(WITH_SPANS, sources=None))
    with pytest.warns(rm.RetrievalWarning, match="1 result could not be located"):
        result = evaluate_dataset(dataset[:2], "mrr")
    assert dict(result.per_query["mrr"]) == {"q1": 0.5, "q2": 0.0}
    assert result.counts["unlocated"] == 1


def test_a_part_and_a_copy_know_what_was_retrieved() -> None:
    dataset = convert()
    for part in (dataset[:2], copy.deepcopy(dataset)[:2]):
        assert evaluate_dataset(part, "mrr").means["mrr"] == 0.75
    assert dataset[0].user_input == "what makes a generator?"


def test_a_column_that_was_changed_counts() -> None:
    rows = [("a?", ["a"]), ("b?", ["b"])]
    dataset = from_langchain(
        RunnableLambda(lambda query: [Document("text", id="x"), Document("text", id=query[0])]),
        rows,
        show_progress=False,
    )
    assert evaluate_dataset(dataset, "mrr").means["mrr"] == 0.5
    first: Any = dataset[0]
    first.retrieved_context_ids = ["a", "x"]
    second: Any = dataset[1]
    second.reference_context_ids = ["x"]
    changed = evaluate_dataset(dataset, "mrr")
    assert dict(changed.per_query["mrr"]) == {"a?": 1.0, "b?": 1.0}
    assert str(to_evaluation(evaluate(dataset, [MRR()], show_progress=False))) == str(changed)


def test_files_keep_the_columns_alone(tmp_path: Any) -> None:
    dataset = convert([{**row, "relevant": ["page.txt"]} for row in rows_of(WITH_SPANS)], match="source")
    dataset.to_jsonl(tmp_path / "rows.jsonl")
    again: Any = RetrievedDataset.from_jsonl(tmp_path / "rows.jsonl")
    assert again.questions is None
    with pytest.warns(rm.RetrievalWarning):
        plain = evaluate_dataset(again, "mrr")
    with pytest.warns(rm.RetrievalWarning):
        with_items = evaluate_dataset(dataset, "mrr")
    assert dict(plain.means) == dict(with_items.means)
    assert plain.queries == tuple(WITH_SPANS.queries.values())
    with pytest.raises(ValueError, match="has only rows; create a whole one with from_langchain"):
        NDCG(qrels=again)


def test_documents_without_ids_are_no_obstacle_where_nothing_is_judged_by_id() -> None:
    dataset = convert()
    assert not any("retrieved_context_ids" in row for row in dataset.to_list()[:2])
    by_id = [{**row, "relevant": ["d1"]} for row in rows_of(WITH_SPANS)]
    with pytest.raises(ValueError, match="have no ID, and the judgments are IDs"):
        from_langchain(RunnableLambda(retrieve_chunks), by_id, show_progress=False)


def test_spans_without_places_say_where_to_get_them() -> None:
    rows = [{"user_input": "what is a lambda?", "retrieved_contexts": [PAGE[56:90]]}]
    with pytest.raises(ValueError, match=r"every row failed.*pass the dataset from from_langchain"):
        evaluate_dataset(rows, "mrr", by="texts", qrels=WITH_SPANS)
    dataset: EvaluationDataset = EvaluationDataset.from_list(rows)
    failed: Any = evaluate(dataset, [Recall(by="texts", qrels=WITH_SPANS)], show_progress=False)
    with pytest.raises(ValueError, match=r"every row failed"):
        to_evaluation(failed, qrels=WITH_SPANS)


def rows_of(questions: rm.EvaluationSet) -> list[dict[str, Any]]:
    texts: Any = questions.queries
    return [{"id": query, "query": text} for query, text in texts.items()]

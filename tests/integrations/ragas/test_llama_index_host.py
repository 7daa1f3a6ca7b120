"""`ragas.integrations.llama_index.evaluate` takes our metrics unchanged; it fills texts, never ids."""

from typing import Any

import pytest
from ragas import EvaluationDataset

import retrieval_metrics as rm
from ragas_retrieval_metrics import MRR, HitRate, RetrievalMetric, metric_suite, to_evaluation

llama_index = pytest.importorskip("llama_index.core")
llama_engines = pytest.importorskip("llama_index.core.query_engine")
llama_llms = pytest.importorskip("llama_index.core.llms")
llama_schema = pytest.importorskip("llama_index.core.schema")
llama_synthesizers = pytest.importorskip("llama_index.core.response_synthesizers.no_text")
ragas_llama_index = pytest.importorskip("ragas.integrations.llama_index")

WITH = "The with statement wraps the execution of a block with methods defined by a context manager."
TRY = "A try statement specifies exception handlers and cleanup code for a group of statements."


@pytest.fixture
def query_engine() -> Any:
    nodes = [llama_schema.TextNode(id_="with#1", text=WITH), llama_schema.TextNode(id_="try#1", text=TRY)]
    index = llama_index.VectorStoreIndex(nodes, embed_model=llama_index.MockEmbedding(embed_dim=4))
    no_text = llama_synthesizers.NoText(llm=llama_llms.MockLLM())
    return llama_engines.RetrieverQueryEngine(index.as_retriever(similarity_top_k=2), no_text)


def li_evaluate(engine: Any, rows: list[dict[str, Any]], metrics: list[RetrievalMetric]) -> Any:
    return ragas_llama_index.evaluate(engine, EvaluationDataset.from_list(rows), metrics, show_progress=False)


def test_llama_index_evaluate_runs_unchanged_by_texts(query_engine: Any) -> None:
    rows: list[dict[str, Any]] = [
        {"user_input": "how do I close a file?", "reference_contexts": [WITH]},
        {
            "user_input": "how do I catch an error?",
            "reference_contexts": [TRY, "Something that is nowhere to be found."],
        },
    ]
    result = li_evaluate(query_engine, rows, metric_suite(k=2, by="texts"))
    assert result["recall_at_2-by-texts"] == [1.0, 0.5]
    evaluation = to_evaluation(result)
    retrieved = [sample.retrieved_contexts for sample in result.dataset]
    items = {}
    qrels = {}
    for row, texts in zip(rows, retrieved, strict=True):
        items[row["user_input"]] = [rm.Retrieved(text, text) for text in texts]
        qrels[row["user_input"]] = [rm.Text(text) for text in row["reference_contexts"]]
    expected = rm.evaluate(qrels, items, [metric.metric for metric in metric_suite(k=2)])
    assert dict(evaluation.means) == dict(expected.means)


def test_llama_index_evaluate_takes_quotes_for_all_rows(query_engine: Any) -> None:
    qrels = {"how do I close a file?": [rm.Quote("wraps the execution of a block")]}
    result = li_evaluate(query_engine, [{"user_input": next(iter(qrels))}], [HitRate(2, by="texts", qrels=qrels)])
    assert result[next(iter(result.scores[0]))] == [1.0]


def test_llama_index_evaluate_fills_no_ids_which_is_an_error_up_front(query_engine: Any) -> None:
    rows = [{"user_input": "how?", "reference_context_ids": ["with#1"]}]
    with pytest.raises(ValueError, match=r"\[mrr-by-ids\] .* \['retrieved_context_ids'\]"):
        li_evaluate(query_engine, rows, [MRR(by="ids")])


def test_a_query_engine_that_fails_scores_0_and_counts() -> None:
    class Node:
        def get_text(self) -> str:
            return WITH

    class Response:
        response = ""
        source_nodes = (Node(),)

    class Engine:
        async def aquery(self, query: str) -> Response:
            if query == "fails":
                raise ConnectionError("the store is gone")
            return Response()

    rows = [{"user_input": query, "reference_contexts": [WITH]} for query in ("works", "fails")]
    with pytest.warns(rm.RetrievalWarning, match="row 'fails' has no retrieved_contexts"):
        result = li_evaluate(Engine(), rows, [MRR(by="texts")])
    assert result["mrr-by-texts"] == [1.0, 0.0]

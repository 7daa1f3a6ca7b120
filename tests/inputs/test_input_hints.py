"""Errors about arguments that are neither judgments nor a run say what to do with them."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm
from retrieval_metrics.inputs.question_columns import QUERY_KEYS


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()])
def test_a_table_is_read_first(kind: Any) -> None:
    qrels, run = (kind({"query": ["q1"], "document": ["d7"]}) for _ in range(2))
    with pytest.raises(TypeError, match=r"got a (DataFrame|Table); read it with Qrels.from_frame\(frame\)"):
        rm.evaluate(qrels, {"q1": ["d7"]})
    with pytest.raises(TypeError, match=r"got a (DataFrame|Table); read it with Run.from_frame\(frame\)"):
        rm.evaluate({"q1": ["d7"]}, run)
    assert rm.evaluate(rm.Qrels.from_frame(qrels), rm.Run.from_frame(run), "mrr").means == {"mrr": 1.0}


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("judged.qrels", r"; a file is read with read_qrels\('judged.qrels'\)"),
        (SimpleNamespace(to_dict=dict), r"; pass qrels.to_dict\(\)"),
        (len, r"; ask it first: evaluate\(questions, retrieve\(retriever, questions\)\)"),
        ([("how?", ["d1"])], "; they are questions = EvaluationSet"),
        ([{"question": "how?", "relevant": ["d1"]}], "; they are questions = EvaluationSet"),
        ([{"d1": 2}], r"; number the queries: evaluate\(dict\(enumerate\(qrels\)\)"),
        ([{"document": "d1"}], "got list$"),
        ([["d1"], ["d2"]], r"; number the queries: evaluate\(dict\(enumerate\(qrels\)\)"),
        ([SimpleNamespace(query_id="q", doc_id="d")], r"; pass Qrels.from_frame\(pandas.DataFrame\(qrels\)\)"),
        (3, "got int$"),
    ],
)
def test_what_to_do_with_something_else_is_said(argument: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        rm.evaluate(argument, {"q1": ["d7"]})


@pytest.mark.parametrize("key", QUERY_KEYS)
def test_rows_that_are_called_questions_are_read_as_questions(key: str) -> None:
    rows = [{key: "how?", "relevant": ["d1"]}]
    with pytest.raises(TypeError, match="; they are questions = EvaluationSet"):
        rm.evaluate(rows, {"how?": ["d1"]})  # type: ignore[arg-type]
    assert rm.EvaluationSet.from_dataset(rows).queries == {"how?": "how?"}


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("run.json", r"; a file is read with read_run\('run.json'\)"),
        (SimpleNamespace(to_dict=dict), r"; pass run.to_dict\(\)"),
        ([["d1"], ["d2"]], r"; number the queries: evaluate\(dict\(enumerate\(qrels\)\), dict\(enumerate\(run\)\)\)$"),
        ([{"d1": 0.5}], r"; number the queries: evaluate\(dict\(enumerate\(qrels\)\), dict\(enumerate\(run\)\)\)$"),
        ([("how?", ["d1"])], "; number the queries"),
        ([("q1", "d7")], r"write Run.from_frame\(pandas.DataFrame\(run, columns=\['query_id', 'doc_id'\]\)\)$"),
        ([("q1", "d7", 0.5)], r"columns=\['query_id', 'doc_id', 'score'\]\)\)$"),
        (InMemoryBM25Retriever(InMemoryDocumentStore()), "; ask it first"),
        ([{"question": "how?", "results": ["d1"]}], "got list$"),
        ([SimpleNamespace(query_id="q", doc_id="d")], r"; pass Run.from_frame\(pandas.DataFrame\(run\)\)"),
    ],
)
def test_what_to_do_with_something_else_than_a_run_is_said(argument: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        rm.evaluate({"q1": ["d7"]}, argument)


def test_rows_of_a_query_and_a_document_are_read_as_the_hint_says() -> None:
    qrels = rm.Qrels.from_frame(pd.DataFrame([("q1", "d7", 1)], columns=["query_id", "doc_id", "relevance"]))
    run = rm.Run.from_frame(pd.DataFrame([("q1", "d1"), ("q1", "d7")], columns=["query_id", "doc_id"]))
    assert rm.evaluate(qrels, run, "mrr").means == {"mrr": 0.5}

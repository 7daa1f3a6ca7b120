"""The inputs that take the text of a query."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers import FilterRetriever, InMemoryBM25Retriever, MultiQueryTextRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm

TEXTS = {
    "with": "the with statement wraps a block and closes a file",
    "open": "open returns a file, close closes a file",
    "for": "for walks over a list",
    "list": "a list holds a block of values",
}


ASKED_WORDS = {"q1": "who wraps a block?", "q2": "what closes a file?", "q3": "what walks over a list?", "q4": "yield"}


@pytest.fixture
def bm25() -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    return InMemoryBM25Retriever(store, top_k=3)


def ids(run: Any) -> dict[str, list[str]]:
    return {query: [item.id for item in ranking] for query, ranking in run.items()}


def in_both_styles(retriever: Any) -> dict[str, list[str]]:
    """What synchronous and asynchronous calls retrieve, which is the same."""
    run = rm.retrieve(retriever, ASKED_WORDS)
    assert asyncio.run(rm.aretrieve(retriever, ASKED_WORDS)) == run
    assert not run.errors
    return ids(run)


def test_an_input_for_several_queries_gets_a_list_of_one(bm25: InMemoryBM25Retriever) -> None:
    direct = in_both_styles(bm25)
    several = MultiQueryTextRetriever(retriever=bm25)
    assert in_both_styles(several) == direct
    pipeline = Pipeline()
    pipeline.add_component("retriever", MultiQueryTextRetriever(retriever=bm25))
    assert in_both_styles(pipeline) == direct


def test_a_component_without_a_query_is_refused(bm25: InMemoryBM25Retriever) -> None:
    with pytest.raises(TypeError, match="no input of FilterRetriever takes the text of a query"):
        rm.retrieve(FilterRetriever(bm25.document_store), ASKED_WORDS)

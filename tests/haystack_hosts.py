"""Retrievers, pipelines and embedders of Haystack whose answers the tests know."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm

TEXTS = {
    "with": "the with statement wraps a block and closes a file",
    "open": "open returns a file, close closes a file",
    "for": "for walks over a list",
    "list": "a list holds a block of values",
}
ASKED_WORDS = {"q1": "who wraps a block?", "q2": "what closes a file?", "q3": "what walks over a list?", "q4": "yield"}


def make_documents(answers: Mapping[str, Any], query: str) -> list[Document]:
    answer = answers[query]
    if isinstance(answer, Exception):
        raise answer
    documents = []
    for document in answer:
        if isinstance(document, Document):
            documents.append(document)
        else:
            documents.append(Document(id=document, content=f"text of {document}"))
    return documents


@component
class Prepared:
    """Answers each query with prepared documents or ids, or raises what stands there instead."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": make_documents(self.answers, query)[:top_k]}


@component
class PreparedAsync:
    """The same, but only asynchronously."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        raise NotImplementedError(f"asked {query!r} synchronously")

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"documents": make_documents(self.answers, query)}


@component
class PassOn:
    """Takes the documents of a retriever and returns them, as a ranker does."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str | None = None) -> dict[str, Any]:
        assert query is not None
        return {"documents": documents}


@component
class Answer:
    """Reads the documents, as a prompt builder and a model do."""

    @component.output_types(answer=str)
    def run(self, documents: list[Document], question: Any) -> dict[str, Any]:
        return {"answer": f"{question}: {len(documents)} documents"}


def make_pipeline(answers: Mapping[str, Any], retriever: Any = Prepared) -> Pipeline:
    """Return a pipeline that retrieves, ranks and answers; nothing but the answer leaves it."""
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever(answers))
    pipeline.add_component("ranker", PassOn())
    pipeline.add_component("reader", Answer())
    pipeline.connect("retriever.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "reader.documents")
    return pipeline


@component
class Embedder:
    """Embeds texts by looking them up, and writes down what it was asked."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        self.asked.append(text)
        return {"embedding": list(self.vectors[text])}


@component
class DocumentsEmbedder:
    """The same for documents."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        self.asked.extend(str(document.content) for document in documents)
        embedded = []
        for document in documents:
            vector = list(self.vectors[str(document.content)])
            embedded.append(Document(id=document.id, content=document.content, embedding=vector))
        return {"documents": embedded}


def make_bm25() -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    return InMemoryBM25Retriever(store, top_k=3)


def read_ids(run: Any) -> dict[str, list[str]]:
    """Return the ids of each ranking."""
    ids = {}
    for query, ranking in run.items():
        ids[query] = [item.id for item in ranking]
    return ids


def retrieve_in_both_styles(retriever: Any) -> dict[str, list[str]]:
    """Return what synchronous and asynchronous calls retrieve, which is the same."""
    run = rm.retrieve(retriever, ASKED_WORDS)
    assert asyncio.run(rm.aretrieve(retriever, ASKED_WORDS)) == run
    assert not run.errors
    return read_ids(run)

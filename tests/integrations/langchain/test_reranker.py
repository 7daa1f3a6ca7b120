"""MMRReranker in the places where LangChain puts a compressor."""

import asyncio
from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import ValidationError

from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRReranker, MMRRetriever

VECTORS = {"query": [1.0, 0.2], "a": [1.0, 0.1], "same": [1.0, 0.1], "other": [0.3, 1.0]}
FOUND = [Document(text, id=f"id of {text}") for text in ("a", "same", "other")]
BASE = Prepared(answers={"query": FOUND})


def reranker(**settings: Any) -> MMRReranker:
    given: dict[str, Any] = {"embeddings": TableOfVectors(VECTORS), "k": 2}
    return MMRReranker(**(given | settings))


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def test_it_reranks_in_a_contextual_compression_retriever_as_the_retriever_does() -> None:
    ensemble = EnsembleRetriever(retrievers=[BASE, BASE], weights=[0.5, 0.5])
    compressed = ContextualCompressionRetriever(base_compressor=reranker(), base_retriever=ensemble)
    ours = MMRRetriever(base_retriever=ensemble, embeddings=TableOfVectors(VECTORS), k=2)
    assert compressed.invoke("query") == ours.invoke("query") == asyncio.run(compressed.ainvoke("query"))
    assert ids(compressed.invoke("query")) == ["id of a", "id of other"]


def test_it_is_a_step_of_a_compressor_pipeline() -> None:
    pipeline = DocumentCompressorPipeline(transformers=[reranker(k=None), reranker(k=1)])
    assert ids(pipeline.compress_documents(FOUND, "query")) == ["id of a"]


def test_it_is_a_step_of_a_chain_synchronously_and_asynchronously() -> None:
    chain: Any = {"query": RunnablePassthrough(), "documents": BASE} | reranker().as_runnable()
    assert ids(chain.invoke("query")) == ids(asyncio.run(chain.ainvoke("query"))) == ["id of a", "id of other"]
    assert chain | RunnableLambda(len)


def test_k_none_keeps_every_document() -> None:
    assert ids(reranker(k=None).compress_documents(FOUND, "query")) == ["id of a", "id of other", "id of same"]
    assert list(reranker().compress_documents([], "query")) == []


def test_what_it_does_not_know_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"top_n\n.*Extra inputs are not permitted"):
        reranker(top_n=3)

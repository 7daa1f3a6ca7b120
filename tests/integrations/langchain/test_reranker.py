"""MMRReranker in the places where LangChain puts a compressor."""

import asyncio
from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever, MultiQueryRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline, EmbeddingsFilter
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import ValidationError

from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRReranker, MMRRetriever

VECTORS = {"query": [1.0, 0.2], "a": [1.0, 0.1], "same": [1.0, 0.1], "other": [0.3, 1.0]}
DOCUMENTS = [Document(text, id=f"id of {text}") for text in ("a", "same", "other")]
BASE = Prepared(answers={"query": DOCUMENTS})


def reranker(**settings: Any) -> MMRReranker:
    defaults: dict[str, Any] = {"embeddings": TableOfVectors(VECTORS), "k": 2}
    return MMRReranker(**(defaults | settings))


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
    assert ids(pipeline.compress_documents(DOCUMENTS, "query")) == ["id of a"]


def test_it_is_a_step_of_a_chain_synchronously_and_asynchronously() -> None:
    chain: Any = {"query": RunnablePassthrough(), "documents": BASE} | reranker().as_runnable()
    assert ids(chain.invoke("query")) == ids(asyncio.run(chain.ainvoke("query"))) == ["id of a", "id of other"]
    assert chain | RunnableLambda(len)


def test_k_none_keeps_every_document() -> None:
    assert ids(reranker(k=None).compress_documents(DOCUMENTS, "query")) == ["id of a", "id of other", "id of same"]
    assert list(reranker().compress_documents([], "query")) == []


def test_what_it_does_not_know_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"top_n\n.*Extra inputs are not permitted"):
        reranker(top_n=3)


def test_k_and_lambda_can_be_given_to_one_call() -> None:
    ours = reranker()
    assert ids(ours.compress_documents(DOCUMENTS, "query", k=1)) == ["id of a"]
    assert ids(ours.compress_documents(DOCUMENTS, "query", lambda_mult=1.0)) == ["id of a", "id of same"]
    assert ids(asyncio.run(ours.acompress_documents(DOCUMENTS, "query", k=3)))[1:] == ["id of other", "id of same"]
    inputs = {"query": "query", "documents": DOCUMENTS}
    assert ids(ours.as_runnable().invoke(inputs, k=1)) == ids(asyncio.run(ours.as_runnable().ainvoke(inputs, k=1)))
    with pytest.raises(TypeError, match=r"lambda_mult must be .*'0.5'"):
        ours.compress_documents(DOCUMENTS, "query", lambda_mult="0.5")  # type: ignore[arg-type]


def test_what_a_compressor_before_it_embedded_is_not_embedded_again() -> None:
    before = TableOfVectors(VECTORS)
    after = TableOfVectors(VECTORS)
    pipeline = DocumentCompressorPipeline(
        transformers=[EmbeddingsFilter(embeddings=before, similarity_threshold=0.0), reranker(embeddings=after)]
    )
    first, second = (document.page_content for document in pipeline.compress_documents(DOCUMENTS, "query"))
    assert first in {"a", "same"}
    assert second == "other"
    assert (before.documents, after.documents) == ([["a", "same", "other"]], [])


def test_documents_selected_for_several_phrasings_are_still_the_same_documents() -> None:
    phrasings: Any = RunnableLambda(lambda _: ["query", "query "])
    vectors = VECTORS | {"query ": [0.4, 1.0]}
    base = Prepared(answers={"query": DOCUMENTS, "query ": DOCUMENTS})
    ours = MMRRetriever(base_retriever=base, embeddings=TableOfVectors(vectors), k=2)
    several = MultiQueryRetriever(retriever=ours, llm_chain=phrasings)
    selections = [*ours.invoke("query"), *ours.invoke("query ")]
    assert len(selections) == 4
    assert sorted(ids(several.invoke("query"))) == sorted(set(ids(selections)))

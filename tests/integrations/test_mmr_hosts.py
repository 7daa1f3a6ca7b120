"""What holds for MMR in every host: whose vectors it takes, and whose scores it refuses."""

import asyncio
import gc
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from haystack import Document as HaystackDocument
from haystack import component
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker
from langchain_retrieval_metrics import MMRRetriever
from llama_index.evaluation.retrieval_metrics import MMRPostprocessor
from mmr_reference import cosines, select

TEXTS = [f"text {number}" for number in range(30)]
K = 8


def vector_of(text: str, seed: int, length: int) -> list[float]:
    return [float(number) for number in np.random.default_rng([seed, *text.encode()]).normal(size=length)]


def expected(seed: int, length: int) -> list[str]:
    vectors = np.array([vector_of(text, seed, length) for text in TEXTS])
    query = np.array([vector_of("the query", seed, length)])
    return [TEXTS[position] for position in select(cosines(query, vectors)[0], cosines(vectors, vectors), K, 0.5)[0]]


class OfLangChain(Embeddings):
    def __init__(self, seed: int, length: int) -> None:
        self.how = seed, length

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector_of(text, *self.how) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector_of(text, *self.how)


CANDIDATES = [Document(text, id=text) for text in TEXTS]
RETRIEVER = MMRRetriever(base_retriever=lambda _: CANDIDATES, embeddings=OfLangChain(0, 4), k=K)


def rank_with_langchain(seed: int, length: int) -> list[str]:
    RETRIEVER.embeddings = OfLangChain(seed, length)
    first = [document.page_content for document in RETRIEVER.invoke("the query")]
    assert [document.page_content for document in asyncio.run(RETRIEVER.ainvoke("the query"))] == first
    return first


class OfLlamaIndex(BaseEmbedding):
    seed: int
    length: int

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector_of(text, self.seed, self.length)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


NODES = [NodeWithScore(node=TextNode(id_=text, text=text)) for text in TEXTS]
POSTPROCESSOR = MMRPostprocessor(top_n=K)


def rank_with_llama_index(seed: int, length: int) -> list[str]:
    POSTPROCESSOR.embed_model = OfLlamaIndex(seed=seed, length=length)
    first = [node.node_id for node in POSTPROCESSOR.postprocess_nodes(NODES, query_str="the query")]
    again = asyncio.run(POSTPROCESSOR.apostprocess_nodes(NODES, QueryBundle("the query")))
    assert [node.node_id for node in again] == first
    return first


@component
class OfHaystack:
    def __init__(self, seed: int, length: int) -> None:
        self.how = seed, length

    @component.output_types(documents=list[HaystackDocument])
    def run(self, documents: list[HaystackDocument]) -> dict[str, Any]:
        embedded = [
            HaystackDocument(id=document.id, embedding=vector_of(str(document.content), *self.how))
            for document in documents
        ]
        return {"documents": embedded}


DOCUMENTS = [HaystackDocument(id=text, content=text) for text in TEXTS]
RANKER = MMRRanker(document_embedder=OfHaystack(0, 4), top_k=K)


def rank_with_haystack(seed: int, length: int) -> list[str]:
    RANKER.document_embedder = OfHaystack(seed, length)
    query = vector_of("the query", seed, length)
    first = [document.id for document in RANKER.run(DOCUMENTS, query_embedding=query)["documents"]]
    again = asyncio.run(RANKER.run_async(DOCUMENTS, query_embedding=query))
    assert [document.id for document in again["documents"]] == first
    return first


@pytest.mark.thorough
@pytest.mark.parametrize("order", [rank_with_langchain, rank_with_llama_index, rank_with_haystack])
def test_ten_models_freed_and_made_anew_give_the_orders_of_their_own_vectors(
    order: Callable[[int, int], list[str]],
) -> None:
    logging.getLogger("llama_index").setLevel(logging.ERROR)
    for turn in range(20):
        seed, length = turn % 10, 6 + turn % 3  # lengths change too, and the second ten meet what the first left
        assert order(seed, length) == expected(seed, length), (seed, length)
        if turn % 2:
            gc.collect()


def langchain_by_score(scores: list[float]) -> list[str]:
    documents = [Document(text, metadata={"score": score}) for text, score in zip(TEXTS, scores, strict=False)]
    retriever = MMRRetriever(
        base_retriever=lambda _: documents, embeddings=OfLangChain(0, 4), relevance="score", k=3, lambda_mult=1
    )
    return [document.page_content for document in retriever.invoke("the query")]


def llama_index_by_score(scores: list[float]) -> list[str]:
    nodes = [NodeWithScore(node=TextNode(text=text), score=node) for text, node in zip(TEXTS, scores, strict=False)]
    model = OfLlamaIndex(seed=0, length=4)
    postprocessor = MMRPostprocessor(embed_model=model, relevance="score", top_n=3, lambda_mult=1)
    return [node.text for node in postprocessor.postprocess_nodes(nodes, query_str="the query")]


def haystack_by_score(scores: list[float]) -> list[str]:
    documents = [HaystackDocument(content=text, score=document) for text, document in zip(TEXTS, scores, strict=False)]
    ranker = MMRRanker(document_embedder=OfHaystack(0, 4), relevance="score", top_k=3, lambda_mult=1)
    return [str(document.content) for document in ranker.run(documents)["documents"]]


@pytest.mark.parametrize("reranked", [langchain_by_score, llama_index_by_score, haystack_by_score])
def test_distances_are_refused_as_scores_and_ordinary_scores_never(
    reranked: Callable[[list[float]], list[str]],
) -> None:
    with pytest.raises(ValueError, match=r"4 candidates, best first, rise from 0.12 to 0.9: .* relevance='rank'"):
        reranked([0.12, 0.4, 0.4, 0.9])
    assert reranked([0.9, 0.4, 0.4, 0.12]) == TEXTS[:3]
    assert reranked([0.4, 0.1, 0.9, 0.2]) == [TEXTS[2], TEXTS[0], TEXTS[3]]  # joined lists
    assert reranked([0.5, 0.5, 0.5, 0.5])[0] == TEXTS[0]
    assert reranked([0.1, 0.9]) == [TEXTS[1], TEXTS[0]]  # two are no sign

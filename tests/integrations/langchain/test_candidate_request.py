"""A base retriever is asked for the candidates of MMR, by its own number where it has one."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField
from langchain_core.vectorstores import InMemoryVectorStore

import retrieval_metrics as rm
from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRRetriever, get_vectors

VECTORS = {"query": [1.0, 0.2], "a": [1.0, 0.1], "same": [1.0, 0.1], "other": [0.3, 1.0], "far": [-1.0, 0.0]}


DOCUMENTS = [Document(text, id=f"id of {text}", metadata={"page": 1}) for text in VECTORS if text != "query"]


def retriever(**settings: Any) -> MMRRetriever:
    defaults: dict[str, Any] = {
        "base_retriever": Prepared(answers={"query": DOCUMENTS}),
        "embeddings": TableOfVectors(VECTORS),
        "k": 2,
    }
    return MMRRetriever(**(defaults | settings))


class Counted(BaseRetriever):
    """Has its number of documents as a field, as BM25Retriever has."""

    k: int = 4

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        return [Document(f"{query} {number}", id=str(number)) for number in range(self.k)]


def test_a_retriever_with_a_number_of_its_own_is_asked_for_all_candidates() -> None:
    base = Counted()
    counts: list[int] = []

    def vectors(documents: Any) -> list[list[float]]:
        counts.append(len(documents))
        return [[1.0, float(document.id)] for document in documents]

    ours = MMRRetriever(base_retriever=base, vector_fn=vectors, relevance="rank", k=4, fetch_k=30)
    assert len(ours.invoke("text")) == 4
    assert len(asyncio.run(ours.ainvoke("text", fetch_k=50))) == 4
    assert len(MMRRetriever(base_retriever=base, vector_fn=vectors, relevance="rank").invoke("text")) == 4
    assert (counts, base.k) == ([30, 50, 4], 4)


def test_an_mmr_retriever_as_the_base_keeps_its_own_number() -> None:
    inner = MMRRetriever(
        base_retriever=Counted(k=9), vector_fn=lambda documents: [[1.0]] * len(documents), relevance="rank"
    )
    outer = MMRRetriever(base_retriever=inner, vector_fn=inner.vector_fn, relevance="rank", k=2, fetch_k=4)
    assert len(outer.invoke("text")) == 2


EMBEDDINGS = DeterministicFakeEmbedding(size=8)


STORE = InMemoryVectorStore(EMBEDDINGS)

STORE.add_documents([Document(f"text {number}", id=f"d{number}") for number in range(60)])


CONFIGURABLE = STORE.as_retriever(search_kwargs={"k": 4}).configurable_fields(
    search_kwargs=ConfigurableField(id="search_kwargs")
)


def ours(base: Any, **settings: Any) -> MMRRetriever:
    return MMRRetriever(base_retriever=base, embeddings=EMBEDDINGS, vector_fn=get_vectors(STORE), **settings)


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def test_fetch_k_reaches_the_retriever_of_a_store_for_the_call_alone() -> None:
    base = STORE.as_retriever(search_kwargs={"k": 4})
    retriever = ours(base, k=4, fetch_k=50, lambda_mult=0.3)
    expected = STORE.max_marginal_relevance_search("query", k=4, fetch_k=50, lambda_mult=0.3)
    assert ids(retriever.invoke("query")) == ids(asyncio.run(retriever.ainvoke("query"))) == ids(expected)
    assert ids(expected) != ids(STORE.similarity_search("query", k=4))
    assert base.search_kwargs == {"k": 4}


@pytest.mark.parametrize(
    "base", [CONFIGURABLE, STORE.as_retriever().bind(), STORE.as_retriever().with_config(tags=["t"])]
)
def test_fetch_k_reaches_it_where_it_is_configurable_or_bound(base: Any) -> None:
    expected = STORE.max_marginal_relevance_search("query", k=4, fetch_k=50, lambda_mult=0.3)
    assert ids(ours(base, k=4, fetch_k=50, lambda_mult=0.3).invoke("query")) == ids(expected)


TOO_FEW = Prepared(answers={"query": ["d1", "d2"]})


def test_an_argument_that_the_base_ignores_is_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="if each call can set the number, by k="):
        ours(TOO_FEW, k=4, fetch_k=50, fetch_k_arg="k").invoke("query")

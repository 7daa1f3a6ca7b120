"""The config of a call reaches the base retriever, and fetch_k reaches what can take it."""

import asyncio
import warnings
from typing import Any

import pytest
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

import retrieval_metrics as rm
from langchain_hosts import Prepared
from langchain_retrieval_metrics import MMRRetriever, vectors_of

EMBEDDINGS = DeterministicFakeEmbedding(size=8)
STORE = InMemoryVectorStore(EMBEDDINGS)
STORE.add_documents([Document(f"text {number}", id=f"d{number}") for number in range(60)])
CONFIGURABLE = STORE.as_retriever(search_kwargs={"k": 4}).configurable_fields(
    search_kwargs=ConfigurableField(id="search_kwargs")
)


def ours(base: Any, **settings: Any) -> MMRRetriever:
    return MMRRetriever(base_retriever=base, embeddings=EMBEDDINGS, vector_fn=vectors_of(STORE), **settings)


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def every_way(retriever: Any, config: Any) -> list[list[str]]:
    async def asynchronously() -> list[Any]:
        streamed = [chunk async for chunk in retriever.astream("query", config)]
        return [await retriever.ainvoke("query", config), *await retriever.abatch(["query"], config), *streamed]

    found = [
        retriever.invoke("query", config),
        *retriever.batch(["query"], config),
        *retriever.stream("query", config),
        *asyncio.run(asynchronously()),
    ]
    return [ids(each) for each in found]


def test_configurable_fields_reach_the_base_retriever() -> None:
    config: Any = {"configurable": {"search_kwargs": {"k": 20}}}
    expected = set(ids(CONFIGURABLE.invoke("query", config)))
    found = every_way(ours(CONFIGURABLE, k=20), config)
    assert len(found) == 6
    assert all(set(each) == expected for each in found)
    assert len(expected) == 20


def test_they_reach_it_through_a_chain_too() -> None:
    chain = RunnableLambda(str.strip) | ours(CONFIGURABLE, k=20)
    assert len(chain.invoke(" query ", {"configurable": {"search_kwargs": {"k": 20}}})) == 20


def test_tags_metadata_and_concurrency_reach_the_base_retriever() -> None:
    seen: list[Any] = []

    def base(query: str, config: Any) -> list[Document]:  # noqa: ARG001  (called with it)
        seen.append((config["tags"], config["metadata"]["run"], config["max_concurrency"]))
        return [Document("text 1", id="d1")]

    every_way(ours(RunnableLambda(base)), {"tags": ["t"], "metadata": {"run": 7}, "max_concurrency": 3})
    assert seen == [(["t"], 7, 3)] * 6


def test_runs_have_one_name_and_one_parent_each() -> None:
    class Runs(BaseCallbackHandler):
        def __init__(self) -> None:
            self.started: list[Any] = []

        def on_retriever_start(
            self, *_: Any, run_id: Any, parent_run_id: Any = None, name: Any = None, **__: Any
        ) -> None:
            self.started.append((run_id, parent_run_id, name))

    runs = Runs()
    ours(CONFIGURABLE).invoke("query", {"callbacks": [runs], "run_name": "mine"})
    (outer, _, name), (_, parent, inner_name) = runs.started
    assert (name, parent, inner_name) == ("mine", outer, "VectorStoreRetriever")


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


class TakesTop(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,  # noqa: ARG002  (the host's signature)
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  (as above)
        top: int = 3,
    ) -> list[Document]:
        return [Document(f"text {number}", id=f"d{number}") for number in range(top)]


FEW = Prepared(answers={"query": ["d1", "d2"]})


@pytest.mark.parametrize("base", [FEW, EnsembleRetriever(retrievers=[FEW, FEW], weights=[0.5, 0.5]), TakesTop()])
def test_a_base_that_returns_no_more_than_k_is_warned_of_once(base: Any) -> None:
    retriever = ours(base, k=4, fetch_k=50)
    with pytest.warns(rm.RetrievalWarning, match="nothing to choose from, although fetch_k=50 and k=4.*fetch_k_arg="):
        retriever.invoke("query")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retriever.invoke("query")


@pytest.mark.filterwarnings("error")
def test_nothing_is_warned_of_where_there_is_a_choice_or_a_store_holds_no_more() -> None:
    assert len(ours(TakesTop(), k=4, fetch_k=50, fetch_k_arg="top").invoke("query")) == 4
    small = InMemoryVectorStore.from_texts(["a", "b"], EMBEDDINGS)
    assert len(MMRRetriever.from_store(small).invoke("query")) == 2
    assert len(ours(FEW, k=2).invoke("query")) == 2  # no fetch_k was asked for


def test_an_argument_that_the_base_ignores_is_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="takes their number with each call, as k="):
        ours(FEW, k=4, fetch_k=50, fetch_k_arg="k").invoke("query")

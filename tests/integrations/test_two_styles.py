"""Synchronous and asynchronous calls mixed in one process, with clients of a service that keep their connections.

An asynchronous client works in one event loop only, so a retriever that is asked now by `await` and now synchronously
loses queries wherever both ways lead to it. Every host is asked here in five mixtures: no query is lost, none waits for
a client that tries again, and the user's own calls go on working.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from haystack import Document as HaystackDocument
from haystack import Pipeline
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.retrievers import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import OpenAIEmbeddings
from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.embeddings.openai import OpenAIEmbedding
from pydantic import SecretStr

import retrieval_metrics as rm
from embedding_service import TOPICS, running_service, vector_of

QUESTIONS = rm.EvaluationSet(
    {f"q{at}": f"what does {topic} do, asked for the {at}th time?" for at, topic in enumerate(TOPICS * 3)},
    {f"q{at}": [topic] for at, topic in enumerate(TOPICS * 3)},
)
LONGEST = 20.0
"""Seconds in which even a slow machine answers 24 questions; a client that tries again waits longer for some."""


def of_llama_index(address: str) -> tuple[Any, Callable[[], Any]]:
    model = OpenAIEmbedding(api_key="none", api_base=f"{address}/v1", max_retries=0, timeout=10)
    nodes = [TextNode(id_=topic, text=f"about {topic}") for topic in TOPICS]
    retriever = VectorStoreIndex(nodes, embed_model=model).as_retriever(similarity_top_k=3)
    return retriever, lambda: retriever.aretrieve("what does yield do?")


def of_haystack(address: str) -> tuple[Any, Callable[[], Any]]:
    store = InMemoryDocumentStore()
    store.write_documents([HaystackDocument(id=topic, content=topic, embedding=vector_of(topic)) for topic in TOPICS])
    embedder = OpenAITextEmbedder(Secret.from_token("none"), api_base_url=f"{address}/v1", max_retries=0, timeout=10)
    pipeline = Pipeline()
    pipeline.add_component("embedder", embedder)
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=3))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline, lambda: pipeline.run_async({"embedder": {"text": "what does yield do?"}})


def of_langchain(address: str) -> tuple[Any, Callable[[], Any]]:
    model = OpenAIEmbeddings(
        api_key=SecretStr("none"), base_url=f"{address}/v1", max_retries=0, timeout=10, check_embedding_ctx_length=False
    )
    store = InMemoryVectorStore(model)
    store.add_documents([Document(topic, id=topic) for topic in TOPICS])
    retriever = store.as_retriever(search_kwargs={"k": 3})
    return retriever, lambda: retriever.ainvoke("what does yield do?")


HOSTS = {"llama_index": of_llama_index, "haystack": of_haystack, "langchain": of_langchain}


@pytest.fixture(params=HOSTS)
def asked(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Callable[[], Any]]]:
    with running_service() as address:
        yield HOSTS[request.param](address)


def sound(run: rm.RetrievedRun) -> None:
    assert run.errors == {}
    assert rm.evaluate(QUESTIONS, run, "mrr").means["mrr"] == 1.0
    assert max(run.seconds.values()) < LONGEST


def synchronously(retriever: Any) -> None:
    sound(rm.retrieve(retriever, QUESTIONS))


async def asynchronously(retriever: Any) -> None:
    sound(await rm.aretrieve(retriever, QUESTIONS))


async def mixed(retriever: Any) -> None:
    for _ in range(2):
        await asynchronously(retriever)
        synchronously(retriever)
        synchronously(retriever)
        await asynchronously(retriever)


def test_a_script_that_only_calls_synchronously(asked: tuple[Any, Callable[[], Any]]) -> None:
    retriever, _ = asked
    for _ in range(3):
        synchronously(retriever)
    comparison = rm.compare_retrievers({"one": retriever, "other": retriever}, QUESTIONS, "mrr")
    assert comparison.table["mrr"] == {"one": 1.0, "other": 1.0}


def test_a_script_that_awaits_between_synchronous_calls(asked: tuple[Any, Callable[[], Any]]) -> None:
    retriever, _ = asked
    synchronously(retriever)
    asyncio.run(asynchronously(retriever))
    synchronously(retriever)


def test_a_running_loop_in_which_both_are_called(asked: tuple[Any, Callable[[], Any]]) -> None:
    retriever, own = asked

    async def main() -> None:
        await own()
        await mixed(retriever)
        await own()

    asyncio.run(main())


def test_the_cells_of_a_notebook_share_a_loop(asked: tuple[Any, Callable[[], Any]]) -> None:
    retriever, own = asked
    kernel = asyncio.new_event_loop()  # each cell is a task of its own in the loop of the kernel

    async def cell(*, waits: bool) -> None:
        if waits:
            await asynchronously(retriever)
            await own()
        else:
            synchronously(retriever)

    try:
        for waits in (False, True, False, True, True, False):
            kernel.run_until_complete(cell(waits=waits))
    finally:
        kernel.close()


def test_the_users_own_loop_works_after_a_synchronous_call(asked: tuple[Any, Callable[[], Any]]) -> None:
    retriever, own = asked
    synchronously(retriever)
    started = time.perf_counter()
    assert asyncio.run(_awaited(own))
    assert time.perf_counter() - started < LONGEST
    synchronously(retriever)


async def _awaited(own: Callable[[], Any]) -> Any:
    return await own()


def test_a_retriever_that_starts_loops_of_its_own_is_awaited_in_one() -> None:
    with running_service() as address:
        retriever, _ = of_llama_index(address)
        fused = QueryFusionRetriever([retriever], llm=MockLLM(), num_queries=1, similarity_top_k=3, use_async=True)
        for _ in range(3):
            synchronously(fused)


def test_a_client_that_meets_two_loops_is_recognised() -> None:
    loops: list[Any] = []

    async def keeps_a_loop(text: str) -> list[str]:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        if loops[-1] is not loops[0] and "yield" not in text:
            raise ConnectionError("no connection") from RuntimeError("<Event> is bound to a different event loop")
        return [topic for topic in TOPICS if topic in text]

    sound(rm.retrieve(keeps_a_loop, QUESTIONS))
    with pytest.warns(
        rm.RetrievalWarning, match="21 of 24 queries failed, .*'q1': an asynchronous client works in one"
    ):
        run = asyncio.run(rm.aretrieve(keeps_a_loop, QUESTIONS))
    assert len(run.errors) == 21

    async def never(_: str) -> list[str]:
        raise RuntimeError("Event loop is closed")

    with pytest.raises(RuntimeError, match="Event loop is closed") as raised:
        rm.retrieve(never, QUESTIONS)
    assert "works in one event loop only" in raised.value.__notes__[-1]

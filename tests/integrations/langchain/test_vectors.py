"""Each text is embedded once: over instances, configured copies, threads and tasks; and what is kept is bounded."""

import asyncio
import gc
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import ConfigurableField, RunnableLambda

from langchain_retrieval_metrics import MMRReranker, MMRRetriever, evaluate_retriever
from langchain_retrieval_metrics import vectors as vector_cache
from langchain_retrieval_metrics.vectors import Vector, VectorCache, shared_cache

DOCUMENTS = [Document(f"text {number}", id=f"d{number}") for number in range(50)]


class Counting(Embeddings):
    """Counts what it embeds, and waits until as many callers came as are expected, or long enough."""

    def __init__(self, patience: float = 0.0) -> None:
        self.texts: list[str] = []
        self.queries: list[str] = []
        self._patience = threading.Event()
        self._seconds = patience

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        self._patience.wait(self._seconds)  # never set: time for the others to ask for the same
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        return [float(value) for value in np.random.default_rng(list(text.encode())).normal(size=4)]


def retriever(embeddings: Embeddings, **settings: Any) -> MMRRetriever:
    return MMRRetriever(base_retriever=RunnableLambda(lambda _: DOCUMENTS), embeddings=embeddings, **settings)


def test_threads_at_the_same_time_embed_each_text_once() -> None:
    embeddings = Counting(patience=0.2)
    ours = retriever(embeddings)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ours.invoke, [f"query {number}" for number in range(8)]))
    assert (len(embeddings.texts), len(embeddings.queries)) == (50, 8)
    assert found == [retriever(Counting()).invoke(f"query {number}") for number in range(8)]


def test_tasks_at_the_same_time_embed_each_text_once() -> None:
    embeddings = Counting(patience=0.2)
    questions = [(f"query {number}", [one.id for one in DOCUMENTS]) for number in range(8)]
    evaluate_retriever(retriever(embeddings), questions, "mrr", max_concurrency=8)

    async def together() -> None:
        await asyncio.gather(*(retriever(embeddings).ainvoke(query) for query, _ in questions))

    asyncio.run(together())
    assert (len(embeddings.texts), len(embeddings.queries)) == (50, 8)


def test_instances_and_configured_copies_share_what_is_known() -> None:
    embeddings = Counting()
    configurable = retriever(embeddings).configurable_fields(lambda_mult=ConfigurableField(id="lambda"))
    for weight in (0.1, 0.5, 0.9):
        configurable.invoke("query", {"configurable": {"lambda": weight}})
    MMRReranker(embeddings=embeddings).compress_documents(DOCUMENTS, "query")
    retriever(embeddings).model_copy(update={"k": 2}).invoke("query")
    assert (len(embeddings.texts), len(embeddings.queries)) == (50, 1)


def test_a_synchronous_call_inside_a_task_never_waits_for_a_task() -> None:
    embedding = Counting()

    class Slow(Counting):
        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            await asyncio.sleep(0.2)
            return self.embed_documents(texts)

    slow = Slow()

    async def both() -> tuple[Any, Any]:
        task = asyncio.ensure_future(retriever(slow).ainvoke("query"))
        await asyncio.sleep(0.1)
        return retriever(slow).invoke("query"), await task

    one, other = asyncio.run(asyncio.wait_for(both(), 20))
    assert one == other == retriever(embedding).invoke("query")


def test_a_failure_is_raised_to_its_caller_and_the_others_go_on() -> None:
    cache, together = VectorCache(10), threading.Barrier(2, timeout=10)

    def fail(texts: list[str]) -> list[Vector]:
        together.wait()
        raise ConnectionError(texts)

    def embed(texts: list[str]) -> list[Vector]:
        return [np.ones(2, dtype=np.float32) for _ in texts]

    with ThreadPoolExecutor(2) as threads:
        failing = threads.submit(cache.vectors, "document", ["a"], fail)
        while not cache._flights:  # noqa: SLF001  (what is under way shows nowhere else)
            threading.Event().wait(0.001)
        waiting = threads.submit(cache.vectors, "document", ["a", "b"], embed)
        together.wait()
        assert sorted(waiting.result(10)) == ["a", "b"]
        assert isinstance(failing.exception(10), ConnectionError)
    assert (len(cache), cache._flights) == (2, {})  # noqa: SLF001  (as above)


def test_a_cancelled_task_leaves_its_texts_to_the_others() -> None:
    cache = VectorCache(10)

    async def never(_: list[str]) -> list[Vector]:
        await asyncio.sleep(60)
        raise AssertionError("slept for a minute")

    async def embed(texts: list[str]) -> list[Vector]:
        return [np.ones(2, dtype=np.float32) for _ in texts]

    async def cancelled() -> list[str]:
        first = asyncio.ensure_future(cache.avectors("document", ["a"], never))
        await asyncio.sleep(0)
        gives_up = asyncio.ensure_future(cache.avectors("document", ["a"], embed))
        second = asyncio.ensure_future(cache.avectors("document", ["a"], embed))
        await asyncio.sleep(0)
        gives_up.cancel()  # one that waits does not take the others with it
        await asyncio.sleep(0)
        first.cancel()
        return list(await second)

    assert asyncio.run(asyncio.wait_for(cancelled(), 20)) == ["a"]


def test_what_is_kept_is_bounded_and_queries_are_not_documents() -> None:
    cache = VectorCache(3)

    asked: list[str] = []

    def embed(texts: list[str]) -> list[Vector]:
        asked.extend(texts)
        return [np.ones(2, dtype=np.float32) for _ in texts]

    cache.vectors("document", ["a", "b", "c", "d", "e"], embed)
    assert len(cache) == 3
    cache.vectors("query", ["e"], embed)
    cache.vectors("document", ["e", "a"], embed)
    assert asked == ["a", "b", "c", "d", "e", "e", "a"]


def test_the_cache_of_embeddings_goes_with_them() -> None:
    embeddings = Counting()
    cache = shared_cache(embeddings, 100)
    assert shared_cache(embeddings, 100) is cache
    assert shared_cache(Counting(), 100) is not cache
    name = id(embeddings)
    del embeddings
    gc.collect()
    assert (name, 100) not in vector_cache._shared  # noqa: SLF001  (the test is of what it holds)


@pytest.mark.parametrize("size", [0, 100])
def test_a_retriever_with_a_cache_can_be_pickled(size: int) -> None:
    ours = MMRReranker(embeddings=Known(), cache_size=size)
    expected = ours.compress_documents(DOCUMENTS, "query")
    assert pickle.loads(pickle.dumps(ours)).compress_documents(DOCUMENTS, "query") == expected  # noqa: S301  (our own pickle)


class Known(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(value) for value in text.encode()[:5]]

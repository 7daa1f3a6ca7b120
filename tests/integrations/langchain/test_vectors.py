"""Each text is embedded once: over instances, configured copies, threads and tasks."""

import asyncio
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
        selections = list(threads.map(ours.invoke, [f"query {number}" for number in range(8)]))
    assert (len(embeddings.texts), len(embeddings.queries)) == (50, 8)
    assert selections == [retriever(Counting()).invoke(f"query {number}") for number in range(8)]


def test_tasks_at_the_same_time_embed_each_text_once() -> None:
    embeddings = Counting(patience=0.2)
    all_ids = [document.id for document in DOCUMENTS]
    questions = [(f"query {number}", all_ids) for number in range(8)]
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

    async def invoke_sync_and_async() -> tuple[Any, Any]:
        task = asyncio.ensure_future(retriever(slow).ainvoke("query"))
        await asyncio.sleep(0.1)
        return retriever(slow).invoke("query"), await task

    synchronous, asynchronous = asyncio.run(asyncio.wait_for(invoke_sync_and_async(), 20))
    assert synchronous == asynchronous == retriever(embedding).invoke("query")


@pytest.mark.parametrize("size", [0, 100])
def test_a_retriever_with_a_cache_can_be_pickled(size: int) -> None:
    ours = MMRReranker(embeddings=Known(), cache_size=size)
    expected = ours.compress_documents(DOCUMENTS, "query")
    assert pickle.loads(pickle.dumps(ours)).compress_documents(DOCUMENTS, "query") == expected


class Known(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(value) for value in text.encode()[:5]]

"""An asynchronous client of a service keeps its connections: it works only while it meets one event loop."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.instrumentation.dispatcher import (  # type: ignore[attr-defined]  # re-exported without saying so
    active_instrument_tags,
    instrument_tags,
)
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.openai import OpenAIEmbedding

import retrieval_metrics as rm
from embedding_service import TOPICS, running_service
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from retrieval_metrics.integration_api.async_support import run_until_complete

ROWS = [(f"what does {topic} do?", [topic]) for topic in TOPICS]


@pytest.fixture
def address() -> Iterator[str]:
    with running_service() as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.AsyncClient]:
    """An asynchronous client, closed where it was used: in the loop of this process, if the test has not done so."""
    client = httpx.AsyncClient(base_url=address, timeout=10)
    yield client
    run_until_complete(client.aclose())


@pytest.fixture
def retriever(address: str, client: httpx.AsyncClient) -> Callable[[int], Any]:
    """Makes retrievers of one index, which share its embedding model and so its client."""
    model = OpenAIEmbedding(
        api_key="none", api_base=f"{address}/v1", max_retries=0, timeout=10, async_http_client=client
    )
    nodes = [TextNode(id_=topic, text=f"about {topic}") for topic in TOPICS]
    index = VectorStoreIndex(nodes, embed_model=model)
    return lambda k: index.as_retriever(similarity_top_k=k)


def evaluated(retriever: Any) -> tuple[dict[str, float], dict[Any, Exception]]:
    result = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever).evaluate_dataset(ROWS, workers=3)
    return dict(result.evaluation.means), result.errors


def count_connections(retriever: Any) -> float | None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever)
    return ours.evaluate(*ROWS[0]).metric_dict["mrr"].score


def in_any_order(retriever: Callable[[int], Any]) -> None:
    first = retriever(1)
    second = retriever(3)
    for _ in range(3):
        assert count_connections(first) == 1
        assert evaluated(first) == evaluated(second) == ({"mrr": 1.0}, {})
    comparison = rm.compare_retrievers({"first": first, "second": second}, ROWS, "mrr")
    assert comparison.means["mrr"] == {"first": 1.0, "second": 1.0}
    assert evaluated(first) == ({"mrr": 1.0}, {})


def test_evaluations_share_a_client_in_a_script(retriever: Callable[[int], Any]) -> None:
    in_any_order(retriever)


def test_evaluations_share_a_client_inside_a_running_loop(retriever: Callable[[int], Any]) -> None:
    async def notebook() -> None:
        in_any_order(retriever)
        await asyncio.sleep(0)
        in_any_order(retriever)

    asyncio.run(notebook())
    in_any_order(retriever)


def test_the_asynchronous_twins_share_a_client_with_everything_else_of_their_loop(
    retriever: Callable[[int], Any], client: httpx.AsyncClient
) -> None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever(1))

    async def notebook() -> list[float]:
        async with client:
            results = [await ours.aevaluate_dataset(ROWS, workers=3) for _ in range(3)]
            single = await ours.aevaluate(*ROWS[0])
        return [*(dataset_result.means["mrr"] for dataset_result in results), single.metric_vals_dict["mrr"]]

    assert asyncio.run(notebook()) == [1.0] * 4


def test_the_callers_own_loop_is_left_alone(retriever: Callable[[int], Any]) -> None:
    mine = asyncio.new_event_loop()
    asyncio.set_event_loop(mine)
    try:
        assert evaluated(retriever(1)) == ({"mrr": 1.0}, {})
        assert asyncio.get_event_loop() is mine
        assert mine.run_until_complete(asyncio.sleep(0, "alive")) == "alive"
    finally:
        asyncio.set_event_loop(None)
        mine.close()


class Asks(BaseRetriever):
    """Keeps one asynchronous client of httpx for all queries, and notes the tags of the caller."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        super().__init__()
        self.client = client
        self.tags: list[dict[str, Any]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise NotImplementedError(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.tags.append(dict(active_instrument_tags.get()))
        answer = await self.client.post("/v1/embeddings", json={"input": [query_bundle.query_str], "model": "m"})
        (vector,) = [entry["embedding"] for entry in answer.json()["data"]]
        order = sorted(range(len(TOPICS)), key=lambda position: -vector[position])
        return [
            NodeWithScore(node=TextNode(id_=TOPICS[position], text=f"about {TOPICS[position]}")) for position in order
        ]


def test_a_client_of_httpx_and_the_tags_of_the_caller_survive(client: httpx.AsyncClient) -> None:
    asking = Asks(client)

    async def notebook() -> None:
        assert evaluated(asking) == ({"mrr": 1.0}, {})

    for turn in ("first", "second"):
        with instrument_tags({"turn": turn}):
            assert evaluated(asking) == ({"mrr": 1.0}, {})
            asyncio.run(notebook())
            assert count_connections(asking) == 1
        assert asking.tags == [{"turn": turn}] * (2 * len(ROWS) + 1)
        asking.tags.clear()


def test_a_service_that_fails_is_in_the_errors_and_what_it_takes_is_limited(client: httpx.AsyncClient) -> None:
    class Fails(Asks):
        failed = False

        async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            if "yield" in query_bundle.query_str:
                await asyncio.sleep(60)
            if "lambda" in query_bundle.query_str and not self.failed:
                self.failed = True
                raise httpx.ConnectError("refused")
            return await super()._aretrieve(query_bundle)

    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Fails(client))
    with pytest.warns(rm.RetrievalWarning, match="failed on 1 of"):
        result = ours.evaluate_dataset(ROWS, timeout=1.5, retries=1)
    assert {query: type(error) for query, error in result.errors.items()} == {ROWS[0][0]: TimeoutError}
    assert result.means["mrr"] == 7 / 8
    assert set(result.seconds) == {text for text, _ in ROWS}

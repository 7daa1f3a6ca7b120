"""Synchronous and asynchronous calls mixed in one process, with clients of a service that keep their connections.

An asynchronous client works in one event loop only, so what is asked now by `await` and now synchronously fails
wherever both ways lead to it. Retrievers and models of every host are asked here in five mixtures: nothing is lost,
nothing waits for a client that tries again, and the user's own calls go on working.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from haystack import Document as HaystackDocument
from haystack import Pipeline
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers import InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.embeddings.openai import OpenAIEmbedding
from pydantic import SecretStr

import retrieval_metrics as rm
from corpus import topics
from embedding_service import TOPICS, running_service, vector_of
from fake_models import Service, fake_models
from generate_questions import Script
from langchain_retrieval_metrics import MMRRetriever, atune_mmr, tune_mmr

QUESTIONS = rm.EvaluationSet(
    {f"q{number}": f"what does {topic} do, asked for the {number}th time?" for number, topic in enumerate(TOPICS * 3)},
    {f"q{number}": [topic] for number, topic in enumerate(TOPICS * 3)},
)
CORPUS = {name: topics()[name] for name in ("with", "yield", "lambda", "assert")}
LONGEST = 20.0
"""Seconds in which even a slow machine answers 24 questions; a client that tries again waits longer for some."""


class Styles(NamedTuple):
    """One thing asked in both styles, and a call of the user's own that leads to the same client."""

    synchronously: Callable[[], None]
    asynchronously: Callable[[], Awaitable[None]]
    own: Callable[[], Any]


def llama_index_service(address: str) -> tuple[Any, Callable[[], Any]]:
    model = OpenAIEmbedding(api_key="none", api_base=f"{address}/v1", max_retries=0, timeout=10)
    nodes = [TextNode(id_=topic, text=f"about {topic}") for topic in TOPICS]
    retriever = VectorStoreIndex(nodes, embed_model=model).as_retriever(similarity_top_k=3)
    return retriever, lambda: retriever.aretrieve("what does yield do?")


def haystack_service(address: str) -> tuple[Any, Callable[[], Any]]:
    store = InMemoryDocumentStore()
    store.write_documents([HaystackDocument(id=topic, content=topic, embedding=vector_of(topic)) for topic in TOPICS])
    embedder = OpenAITextEmbedder(Secret.from_token("none"), api_base_url=f"{address}/v1", max_retries=0, timeout=10)
    pipeline = Pipeline()
    pipeline.add_component("embedder", embedder)
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=3))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline, lambda: pipeline.run_async({"embedder": {"text": "what does yield do?"}})


def langchain_service(address: str) -> tuple[Any, Callable[[], Any]]:
    model = OpenAIEmbeddings(
        api_key=SecretStr("none"), base_url=f"{address}/v1", max_retries=0, timeout=10, check_embedding_ctx_length=False
    )
    store = InMemoryVectorStore(model)
    store.add_documents([Document(topic, id=topic) for topic in TOPICS])
    retriever = store.as_retriever(search_kwargs={"k": 3})
    return retriever, lambda: retriever.ainvoke("what does yield do?")


HOSTS = {"llama_index": llama_index_service, "haystack": haystack_service, "langchain": langchain_service}


def sound(run: rm.RetrievedRun) -> None:
    assert run.errors == {}
    assert rm.evaluate(QUESTIONS, run, "mrr").means["mrr"] == 1.0
    assert max(run.seconds.values()) < LONGEST


def synchronously(retriever: Any) -> None:
    sound(rm.retrieve(retriever, QUESTIONS))


def retrieving(retriever: Any, own: Callable[[], Any]) -> Styles:
    async def asynchronously() -> None:
        sound(await rm.aretrieve(retriever, QUESTIONS))

    return Styles(lambda: synchronously(retriever), asynchronously, own)


def tuning(base: Any, own: Callable[[], Any]) -> Styles:
    ours = MMRRetriever(base_retriever=base, embeddings=base.vectorstore.embeddings, k=2, fetch_k=3)

    def require_choice(tuned: Any) -> None:
        assert tuned.evaluations["plain retrieval"].means["mrr"] == 1.0
        assert tuned.evaluations["plain retrieval"].errors == {}

    async def asynchronously() -> None:
        require_choice(await atune_mmr(ours, QUESTIONS, lambdas=[0.5], metric="mrr"))

    return Styles(lambda: require_choice(tune_mmr(ours, QUESTIONS, lambdas=[0.5], metric="mrr")), asynchronously, own)


class OverHttp(CustomLLM):
    """An LLM of LlamaIndex with a client for each style, as those of services have."""

    address: str
    _client: httpx.Client = PrivateAttr(default_factory=httpx.Client)
    _asynchronous_client: httpx.AsyncClient = PrivateAttr(default_factory=httpx.AsyncClient)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="fake")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return _completed(self._client.post(self.address, json=_message(prompt), timeout=10))

    async def acomplete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return _completed(await self._asynchronous_client.post(self.address, json=_message(prompt), timeout=10))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


def _message(prompt: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}]}


def _completed(answer: httpx.Response) -> CompletionResponse:
    return CompletionResponse(text=answer.raise_for_status().json()["choices"][0]["message"]["content"])


def model_of_llama_index(address: str) -> tuple[Any, Callable[[], Any]]:
    model = OverHttp(address=f"{address}/chat/completions")
    return model, lambda: model.acomplete("<passage>\nThe vault may be opened at night.\n</passage>")


def model_of_haystack(address: str) -> tuple[Any, Callable[[], Any]]:
    model = OpenAIChatGenerator(Secret.from_token("none"), api_base_url=address, max_retries=0, timeout=10)
    message = ChatMessage.from_user("<passage>\nThe vault may be opened at night.\n</passage>")
    return model, lambda: model.run_async(messages=[message])


def model_of_langchain(address: str) -> tuple[Any, Callable[[], Any]]:
    model = ChatOpenAI(model="fake", api_key=SecretStr("none"), base_url=address, max_retries=0, timeout=10)
    return model, lambda: model.ainvoke("<passage>\nThe vault may be opened at night.\n</passage>")


MODELS = {"llama_index": model_of_llama_index, "haystack": model_of_haystack, "langchain": model_of_langchain}


def generating(model: Any, own: Callable[[], Any]) -> Styles:
    how: dict[str, Any] = {"kinds": "one_passage", "checks": ()}
    one_try = rm.Model(model, retries=0)

    def require_question(generated: Any) -> None:
        assert len(generated.questions.queries) == 3
        assert generated.calls.failed == 0
        assert generated.calls.seconds < LONGEST

    async def asynchronously() -> None:
        require_question(await rm.agenerate_questions(CORPUS, one_try, 3, **how))

    return Styles(lambda: require_question(rm.generate_questions(CORPUS, one_try, 3, **how)), asynchronously, own)


STYLES = [*HOSTS, "tune_mmr", *(f"a model of {host}" for host in MODELS)]


@pytest.fixture(params=STYLES)
def styles(request: pytest.FixtureRequest) -> Iterator[Styles]:
    host = request.param.rpartition(" ")[2]
    if request.param in STYLES[-len(MODELS) :]:
        with fake_models(Service(Script())) as environment:
            yield generating(*MODELS[host](environment["OPENAI_BASE_URL"]))
    else:
        with running_service() as address:
            yield tuning(*langchain_service(address)) if host == "tune_mmr" else retrieving(*HOSTS[host](address))


def test_a_script_that_only_calls_synchronously(styles: Styles) -> None:
    for _ in range(3):
        styles.synchronously()


def test_a_script_that_awaits_between_synchronous_calls(styles: Styles) -> None:
    styles.synchronously()
    asyncio.run(awaited(styles.asynchronously))
    styles.synchronously()


def test_a_running_loop_in_which_both_are_called(styles: Styles) -> None:
    async def main() -> None:
        await styles.own()
        for _ in range(2):
            await styles.asynchronously()
            styles.synchronously()
            styles.synchronously()
            await styles.asynchronously()
        await styles.own()

    asyncio.run(main())


def test_the_cells_of_a_notebook_share_a_loop(styles: Styles) -> None:
    kernel = asyncio.new_event_loop()  # each cell is a task of its own in the loop of the kernel

    async def cell(*, waits: bool) -> None:
        if waits:
            await styles.asynchronously()
            await styles.own()
        else:
            styles.synchronously()

    try:
        for waits in (False, True, False, True, True, False):
            kernel.run_until_complete(cell(waits=waits))
    finally:
        kernel.close()


def test_the_users_own_loop_works_after_a_synchronous_call(styles: Styles) -> None:
    styles.synchronously()
    started = time.perf_counter()
    assert asyncio.run(awaited(styles.own))
    assert time.perf_counter() - started < LONGEST
    styles.synchronously()


async def awaited(own: Callable[[], Any]) -> Any:
    return await own()


@pytest.mark.parametrize("host", HOSTS)
def test_a_comparison_asks_synchronously_too(host: str) -> None:
    with running_service() as address:
        retriever, own = HOSTS[host](address)
        comparison = rm.compare_retrievers({"one": retriever, "other": retriever}, QUESTIONS, "mrr")
        assert comparison.means["mrr"] == {"one": 1.0, "other": 1.0}
        assert asyncio.run(awaited(own))


def test_a_model_grades_synchronously_too() -> None:
    with fake_models(Service(lambda _: '{"grade": 3}')) as environment:
        model, own = model_of_langchain(environment["OPENAI_BASE_URL"])
        pooled = rm.pool({"q": "who opens?"}, {"q": ["d1", "d2"]}, {"d1": "The guard opens.", "d2": "Closed."})

        async def main() -> None:
            for _ in range(2):
                await own()
                assert pooled.grade(rm.Model(model, retries=0)).qrels == {"q": {"d1": 3.0, "d2": 3.0}}

        asyncio.run(main())


def test_a_retriever_that_starts_loops_of_its_own_is_awaited_in_one() -> None:
    with running_service() as address:
        retriever, _ = llama_index_service(address)
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

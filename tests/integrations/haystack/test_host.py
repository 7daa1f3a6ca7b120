"""Haystack's pipelines, retrievers, documents and chat generators where the core takes those of any framework."""

import asyncio
import socket
import subprocess
import sys
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm
from haystack_hosts import Embedder, Prepared, make_pipeline, read_ids
from haystack_integrations.components.evaluators.retrieval_metrics import PipelineRetriever, evaluate_pipeline
from retrieval_metrics.integration_api import find_host

QUESTIONS = {"q1": "who wraps a block?", "q2": "what closes a file?"}


TEXTS = {
    "with": "the with statement wraps a block",
    "open": "open returns a file, close closes a file",
    "for": "for walks over a list",
}


ANSWERS = {"who wraps a block?": ["with", "for"], "what closes a file?": ["open"]}


@pytest.fixture
def store() -> InMemoryDocumentStore:
    documents = [Document(id=name, content=text) for name, text in TEXTS.items()]
    store = InMemoryDocumentStore()
    store.write_documents(MockDocumentEmbedder(dimension=8).run(documents=documents)["documents"])
    return store


def test_the_fixture_blocks_the_network_and_telemetry_is_off(network_attempts: list[Any]) -> None:
    from haystack.telemetry import _telemetry

    with pytest.raises(AssertionError, match="reached for the network"):
        socket.create_connection(("127.0.0.1", 9))
    assert network_attempts.pop()[:2] == ("127.0.0.1", 9)
    assert _telemetry.telemetry is None


def test_its_own_retriever_is_asked(store: InMemoryDocumentStore) -> None:
    run = rm.retrieve(InMemoryBM25Retriever(store, top_k=2), QUESTIONS)
    assert not run.errors
    first = run["q1"][0]
    assert isinstance(first, rm.Retrieved)
    assert (first.id, first.text) == ("with", TEXTS["with"])
    assert first.score is not None
    assert rm.evaluate({"q1": ["with"], "q2": ["open"]}, run, "mrr").means["mrr"] == 1.0


@component
class Filtered:
    """Stands for a store that filters what it found: of the documents for one query, one is left."""

    def __init__(self, store: InMemoryDocumentStore, top_k: int) -> None:
        self._store, self._top_k = store, top_k

    @component.output_types(documents=list[Document])
    def run(self, query_embedding: list[float], top_k: int | None = None) -> Any:
        documents = self._store.embedding_retrieval(query_embedding, top_k=top_k or self._top_k)
        return {"documents": documents[: 1 if query_embedding == QUERY_EMBEDDINGS["q1"] else None]}


JUDGED: Any = {"q1": ["with"], "q2": ["open"]}


QUERY_EMBEDDINGS = {query: MockTextEmbedder(dimension=8).run(text)["embedding"] for query, text in QUESTIONS.items()}


@pytest.mark.parametrize(("top_k", "inputs"), [(2, {}), (1, {"retriever": {"top_k": 2}})])
def test_how_many_questions_a_store_gave_fewer_than_k_is_said(
    store: InMemoryDocumentStore, top_k: int, inputs: Any
) -> None:
    pipeline = Pipeline()
    pipeline.add_component("embedder", MockTextEmbedder(dimension=8))
    pipeline.add_component("retriever", Filtered(store, top_k=top_k))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    message = (
        r"^1 of 2 queries got fewer than k=2 results \('q1': 1\): .* let it examine more, or filter before the search"
    )
    with pytest.warns(rm.RetrievalWarning, match=message):
        rm.retrieve(PipelineRetriever(pipeline, inputs=inputs), QUESTIONS)
    with pytest.warns(rm.RetrievalWarning, match=message):
        evaluate_pipeline(PipelineRetriever(pipeline, inputs=inputs), rm.EvaluationSet(QUESTIONS, JUDGED), "mrr")


def test_a_pipeline_of_embedder_and_retriever_is_asked(store: InMemoryDocumentStore) -> None:
    pipeline = Pipeline()
    pipeline.add_component("embedder", MockTextEmbedder(dimension=8))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=3))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    run = rm.retrieve(pipeline, QUESTIONS)
    query = MockTextEmbedder(dimension=8).run(text=QUESTIONS["q1"])["embedding"]
    direct = InMemoryEmbeddingRetriever(store, top_k=3).run(query_embedding=query)["documents"]
    assert [item.id for item in items(run["q1"])] == [item.id for item in direct]
    assert asyncio.run(rm.aretrieve(pipeline, QUESTIONS)) == run


def items(ranking: Any) -> list[rm.Retrieved]:
    assert all(isinstance(item, rm.Retrieved) for item in ranking)
    return list(ranking)


def test_of_a_whole_pipeline_the_last_documents_count() -> None:
    run = rm.retrieve(make_pipeline(ANSWERS), QUESTIONS)
    assert read_ids(run) == {"q1": ["with", "for"], "q2": ["open"]}


def test_one_failure_is_the_failure_of_its_query() -> None:
    answers = ANSWERS | {"what closes a file?": ConnectionError("the store is down")}
    run = rm.retrieve(make_pipeline(answers), QUESTIONS)
    assert list(run.errors) == ["q2"]
    with pytest.warns(rm.RetrievalWarning):
        evaluation = rm.evaluate({"q1": ["with"], "q2": ["open"]}, run, "mrr")
    assert evaluation.means["mrr"] == 0.5
    assert evaluation.counts["failed"] == 1


def test_functions_may_return_documents_too() -> None:
    run = rm.retrieve(lambda text: Prepared(ANSWERS).run(query=text)["documents"], QUESTIONS)
    assert [item.id for item in items(run["q1"])] == ["with", "for"]


def test_what_needs_more_than_a_text_is_refused_with_the_way_out(store: InMemoryDocumentStore) -> None:
    with pytest.raises(TypeError, match=r"InMemoryEmbeddingRetriever needs 'query_embedding'.*text embedder"):
        rm.retrieve(InMemoryEmbeddingRetriever(store), QUESTIONS)


def test_two_ends_are_refused_with_the_way_out() -> None:
    pipeline = Pipeline()
    for name in ("one", "other"):
        pipeline.add_component(name, Prepared(ANSWERS))
    with pytest.raises(
        TypeError, match=r"2 outputs hold the last documents: one.documents, other.documents; name the one"
    ):
        rm.retrieve(pipeline, QUESTIONS)


def test_what_is_no_retriever_is_refused() -> None:
    with pytest.raises(TypeError, match="a retriever must be a function"):
        rm.retrieve(Embedder({}), QUESTIONS)


@component
class Loads:
    """A retriever that has to be loaded before it is asked."""

    def __init__(self) -> None:
        self.loaded = 0

    def warm_up(self) -> None:
        self.loaded += 1

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [Document(id="with", content=f"{query} {self.loaded}")]}


def test_a_retriever_is_loaded_once_before_it_is_asked() -> None:
    run = rm.retrieve(Loads(), QUESTIONS)
    for query, text in QUESTIONS.items():
        assert [item.text for item in items(run[query])] == [f"{text} 1"]


def test_a_chat_generator_is_a_model() -> None:
    generator = MockChatGenerator("a reply")
    host = find_host(generator)
    assert host is not None
    assert host.model is not None
    functions: Any = host.model(generator)
    assert functions.synchronous("a prompt") == asyncio.run(functions.asynchronous("a prompt")) == "a reply"
    assert host.model(Embedder({})) is None
    assert host.resolve_retriever(generator) is None


def test_neither_the_core_nor_another_object_imports_haystack() -> None:
    code = "import retrieval_metrics as rm; rm.retrieve(lambda text: ['d'], {'q': 'q'})"
    program = f"import sys; {code}; print('haystack' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"

"""Twenty questions through each kind of pipeline that Haystack has: to the last bit what `rm.evaluate` gives.

What is expected is run as a user runs it, one question after the other, without the package.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldRanker
from haystack.components.retrievers import InMemoryBM25Retriever, InMemoryEmbeddingRetriever, MultiQueryTextRetriever
from haystack.components.routers import ConditionalRouter
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm
from haystack_hosts import Embedder, PassOn, Prepared, PreparedAsync, read_ids
from haystack_integrations.components.evaluators.retrieval_metrics import PipelineRetriever, evaluate_pipeline
from judged_words import METRICS, QRELS, QUESTIONS, TEXTS, rank_documents, vector_of

ANSWERS = {text: rank_documents(text) for text in QUESTIONS.values()}
STORE = InMemoryDocumentStore()
STORE.write_documents(
    [
        Document(id=name, content=text, embedding=vector_of(text), meta={"size": len(text)})
        for name, text in TEXTS.items()
    ]
)


def bm25(k: int = 6) -> InMemoryBM25Retriever:
    return InMemoryBM25Retriever(STORE, top_k=k)


def dense() -> InMemoryEmbeddingRetriever:
    return InMemoryEmbeddingRetriever(STORE, top_k=12)


def embedder() -> Embedder:
    return Embedder({text: vector_of(text) for text in QUESTIONS.values()})


def make_pipeline(components: dict[str, Any], *connections: str) -> Pipeline:
    """Return a pipeline; a connection reads `one.output > other.input`."""
    pipeline = Pipeline()
    for name, component_ in components.items():
        pipeline.add_component(name, component_)
    for connection in connections:
        sender, receiver = connection.split(" > ")
        pipeline.connect(sender, receiver)
    return pipeline


def make_vector_pipeline(**more: Any) -> Pipeline:
    """Return a pipeline that embeds and searches, with a ranker behind it if there is one."""
    after = [f"dense.documents > {name}.documents" for name in more]
    return make_pipeline(
        {"embedder": embedder(), "dense": dense(), **more}, "embedder.embedding > dense.query_embedding", *after
    )


def make_joined_pipeline(mode: str) -> Pipeline:
    return make_pipeline(
        {"embedder": embedder(), "dense": dense(), "bm25": bm25(), "joiner": DocumentJoiner(mode, top_k=8)},
        "embedder.embedding > dense.query_embedding",
        "dense.documents > joiner.documents",
        "bm25.documents > joiner.documents",
    )


def make_routed_pipeline() -> Pipeline:
    """Short questions go to one retriever, and long ones to another."""
    routes: list[Any] = [
        {"condition": "{{ query|length % 2 == 0 }}", "output": "{{ query }}", "output_name": "even"},
        {"condition": "{{ query|length % 2 == 1 }}", "output": "{{ query }}", "output_name": "odd"},
    ]
    for route in routes:
        route["output_type"] = str
    return make_pipeline(
        {"router": ConditionalRouter(routes), "even": bm25(), "odd": Prepared(ANSWERS)},
        "router.even > even.query",
        "router.odd > odd.query",
    )


@component
class Model:
    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        return {"replies": [f"an answer to {prompt}"]}


def make_answering_pipeline() -> Pipeline:
    return make_pipeline(
        {"bm25": bm25(), "prompt": PromptBuilder("{{ documents }}", required_variables="*"), "model": Model()},
        "bm25.documents > prompt.documents",
        "prompt.prompt > model.prompt",
    )


def make_super_component() -> SuperComponent:
    return SuperComponent(
        make_vector_pipeline(),
        input_mapping={"query": ["embedder.text"]},
        output_mapping={"dense.documents": "documents"},
    )


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def ask_component(**fixed: Any) -> Callable[[Any, str], list[str]]:
    return lambda component_, text: ids(component_.run(query=text, **fixed)["documents"])


def ask_pipeline(*named: str, output: str) -> Callable[[Any, str], list[str]]:
    """Run a pipeline with the query at inputs such as `bm25.query`, and read the documents of one component."""

    def ask(pipeline: Pipeline, text: str) -> list[str]:
        data: dict[str, dict[str, str]] = {}
        for socket_name in named:
            name, socket = socket_name.split(".")
            data.setdefault(name, {})[socket] = text
        return ids(pipeline.run(data, include_outputs_from={output})[output]["documents"])

    return ask


def ask_router(pipeline: Pipeline, text: str) -> list[str]:
    ((reached,),) = [[*outputs.values()] for outputs in pipeline.run({"router": {"query": text}}).values()]
    return ids(reached)


def ask_async(_: Any, text: str) -> list[str]:
    return ANSWERS[text]


PIPELINES: dict[str, tuple[Callable[[], Any], Callable[[Any, str], list[str]], Any]] = {
    "BM25": (bm25, ask_component(), None),
    "component of one's own": (lambda: Prepared(ANSWERS), ask_component(), None),
    "asynchronous component": (lambda: PreparedAsync(ANSWERS), ask_async, None),
    "several queries": (
        lambda: MultiQueryTextRetriever(retriever=bm25()),
        lambda made, text: ids(made.run(queries=[text])["documents"]),
        None,
    ),
    "SuperComponent": (make_super_component, ask_component(), None),
    "embedder and retriever": (make_vector_pipeline, ask_pipeline("embedder.text", output="dense"), None),
    "joiner by rank": (
        lambda: make_joined_pipeline("reciprocal_rank_fusion"),
        ask_pipeline("embedder.text", "bm25.query", output="joiner"),
        None,
    ),
    "joiner by score": (
        lambda: make_joined_pipeline("distribution_based_rank_fusion"),
        ask_pipeline("embedder.text", "bm25.query", output="joiner"),
        None,
    ),
    "joiner that merges": (
        lambda: make_joined_pipeline("merge"),
        ask_pipeline("embedder.text", "bm25.query", output="joiner"),
        None,
    ),
    "router": (make_routed_pipeline, ask_router, ["even.documents", "odd.documents"]),
    "ranker by metadata": (
        lambda: make_vector_pipeline(ranker=MetaFieldRanker("size", weight=0.5, ranking_mode="reciprocal_rank_fusion")),
        ask_pipeline("embedder.text", output="ranker"),
        None,
    ),
    "lost in the middle": (
        lambda: make_vector_pipeline(ranker=LostInTheMiddleRanker()),
        ask_pipeline("embedder.text", output="ranker"),
        None,
    ),
    "ranker with the query": (
        lambda: make_vector_pipeline(ranker=PassOn()),
        ask_pipeline("embedder.text", "ranker.query", output="ranker"),
        None,
    ),
    "model behind the retriever": (make_answering_pipeline, ask_pipeline("bm25.query", output="bm25"), None),
    "before the ranker": (
        lambda: make_vector_pipeline(ranker=LostInTheMiddleRanker()),
        ask_pipeline("embedder.text", output="dense"),
        "dense.documents",
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_every_pipeline_gives_what_its_rankings_give(name: str) -> None:
    make, ask_directly, output = PIPELINES[name]
    pipeline = make()
    expected = {query: ask_directly(pipeline, text) for query, text in QUESTIONS.items()}
    assert len({tuple(ranking) for ranking in expected.values()}) > 1
    core = rm.evaluate(QRELS, expected, METRICS)
    questions = rm.EvaluationSet.from_dataset(
        [{"id": query, "query": text, "relevant": QRELS[query]} for query, text in QUESTIONS.items()]
    )
    retriever = PipelineRetriever(make(), output=output) if output else make()
    run = rm.retrieve(retriever, questions)
    assert read_ids(run) == expected
    assert asyncio.run(rm.aretrieve(retriever, questions)) == run
    for evaluation in (rm.evaluate(questions, run, METRICS), evaluate_pipeline(retriever, questions, METRICS).last):
        assert (evaluation.means, evaluation.per_query) == (core.means, core.per_query)

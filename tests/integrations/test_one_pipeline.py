"""One pipeline of five steps in every host, and written as a plain function: the same losses."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

import retrieval_metrics as rm
from planted_losses import CHANGED_SHARES, STEPS, K, planted, planted_changes

QRELS, RANKINGS, PLANTED = planted(40)
TEXTS = {query: f"text of {query}" for query in QRELS}
QUESTIONS = rm.EvaluationSet(TEXTS, QRELS)


# What each step holds for each text; tests with other questions add theirs.
IDS_BY_STEP = {step: {TEXTS[query]: ids for query, ids in rankings.items()} for step, rankings in RANKINGS.items()}


def documents_held(step: str, text: str) -> list[str]:
    return IDS_BY_STEP[step][text]


def in_langchain() -> Any:
    documents = pytest.importorskip("langchain_core.documents")
    runnables = pytest.importorskip("langchain_core.runnables")

    def retriever_of(step: str) -> Any:
        return lambda text: [documents.Document(id_, id=id_) for id_ in documents_held(step, text["text"])]

    of_both = runnables.RunnableParallel(
        text=lambda text: text,
        bm25=lambda text: retriever_of("bm25")({"text": text}),
        dense=lambda text: retriever_of("dense")({"text": text}),
    )
    for step in STEPS[2:]:
        of_both |= runnables.RunnablePassthrough.assign(**{step: retriever_of(step)})
    return of_both | (lambda results: {step: results[step] for step in STEPS})


def in_langchain_with_callbacks() -> Any:
    """The steps are retrievers inside a retriever, and functions that take documents."""
    documents = pytest.importorskip("langchain_core.documents")
    retrievers = pytest.importorskip("langchain_core.retrievers")
    runnables = pytest.importorskip("langchain_core.runnables")
    # The functions after retrieval are given documents only, so the question is kept here.
    question = ContextVar("asked", default="")

    def hold(step: str, text: str) -> Any:
        return [documents.Document(id_, id=id_) for id_ in documents_held(step, text)]

    class Finder(retrievers.BaseRetriever):  # type: ignore[misc, name-defined]
        parts: list[Any] = []

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            for part in self.parts:
                part.invoke(query, {"callbacks": run_manager.get_child()})
            return hold(str(self.name), query)

    def passing(step: str) -> Any:
        def pass_on(documents_or_question: Any) -> Any:
            assert documents_or_question
            return hold(step, question.get())

        return runnables.RunnableLambda(pass_on, name=step)

    def ask(text: str) -> str:
        question.set(text)
        return text

    fused = Finder(name="fused", parts=[Finder(name="bm25"), Finder(name="dense")])

    class Pipeline(runnables.Runnable):  # type: ignore[misc, name-defined]
        def invoke(self, input: str, config: Any = None, **_: Any) -> Any:  # noqa: A002  (the name of the host)
            ask(input)
            return (fused | passing("filtered") | passing("reranked")).invoke(input, config)

    return Pipeline()


def in_llama_index() -> Any:
    base = pytest.importorskip("llama_index.core.base.base_retriever")
    types = pytest.importorskip("llama_index.core.postprocessor.types")
    engines = pytest.importorskip("llama_index.core.query_engine")
    synthesizers = pytest.importorskip("llama_index.core.response_synthesizers.no_text")
    llms = pytest.importorskip("llama_index.core.llms")
    schema = pytest.importorskip("llama_index.core.schema")

    def nodes(step: str, text: str) -> Any:
        return [
            schema.NodeWithScore(node=schema.TextNode(id_=id_, text=id_), score=0.5)
            for id_ in documents_held(step, text)
        ]

    def _retrieve(self: Any, query_bundle: Any) -> Any:
        for part in getattr(self, "parts", ()):
            part.retrieve(query_bundle)
        return nodes(type(self).__name__, query_bundle.query_str)

    def passing(step: str) -> Any:
        def _postprocess_nodes(self: Any, nodes_: Any, query_bundle: Any = None) -> Any:
            del self
            assert nodes_
            return nodes(step, query_bundle.query_str)

        return type(step, (types.BaseNodePostprocessor,), {"_postprocess_nodes": _postprocess_nodes})()

    bm25, dense, fused = (type(step, (base.BaseRetriever,), {"_retrieve": _retrieve}) for step in STEPS[:3])
    pipeline = fused()
    pipeline.parts = bm25(), dense()
    last = [*map(passing, STEPS[3:])]
    return engines.RetrieverQueryEngine(pipeline, synthesizers.NoText(llm=llms.MockLLM()), last)


def in_haystack() -> Any:
    haystack: Any = pytest.importorskip("haystack")
    documents = list[haystack.Document]

    class Component:
        def __init__(self, step: str) -> None:
            self.step = step

        def _run(self, query: str) -> dict[str, Any]:
            return {"documents": [haystack.Document(id=id_, content=id_) for id_ in documents_held(self.step, query)]}

    @haystack.component
    class Finder(Component):
        @haystack.component.output_types(documents=documents)  # type: ignore[untyped-decorator]
        def run(self, query: str) -> dict[str, Any]:
            return self._run(query)

    @haystack.component
    class Joiner(Component):
        @haystack.component.output_types(documents=documents)  # type: ignore[untyped-decorator]
        def run(self, query: str, first: documents, second: documents) -> dict[str, Any]:
            assert first
            assert second
            return self._run(query)

    @haystack.component
    class Ranker(Component):
        @haystack.component.output_types(documents=documents)  # type: ignore[untyped-decorator]
        def run(self, query: str, documents: documents) -> dict[str, Any]:
            assert documents
            return self._run(query)

    pipeline = haystack.Pipeline()
    for step, kind in zip(STEPS, [Finder, Finder, Joiner, Ranker, Ranker], strict=True):
        pipeline.add_component(step, kind(step))
    pipeline.connect("bm25.documents", "fused.first")
    pipeline.connect("dense.documents", "fused.second")
    pipeline.connect("fused.documents", "filtered.documents")
    pipeline.connect("filtered.documents", "reranked.documents")
    return pipeline


def as_a_function() -> Any:
    return lambda text: {step: documents_held(step, text) for step in STEPS}


@pytest.mark.parametrize("build", [as_a_function, in_langchain, in_llama_index, in_haystack])
@pytest.mark.parametrize("waited", [False, True])
def test_the_planted_losses_are_found_in_every_host(build: Callable[[], Any], waited: bool) -> None:
    pipeline = build()
    run = asyncio.run(rm.aretrieve(pipeline, QUESTIONS)) if waited else rm.retrieve(pipeline, QUESTIONS)
    stages = rm.evaluate(QUESTIONS, run, f"recall@{K}").stages
    assert list(stages)[:5] == STEPS
    assert stages.first_stage == ("bm25", "dense")
    for name in STEPS:
        assert stages[name] == rm.evaluate(QUESTIONS, RANKINGS[name], f"recall@{K}")
    lost = stages.losses(f"recall@{K}")
    for query, needed in ((query, len(judged)) for query, judged in QRELS.items()):
        shares = {str(metric): lost.per_query[str(metric)][query] for metric in lost.metrics}
        assert Counter({name: round(share * needed) for name, share in shares.items() if share}) == PLANTED[query]


@pytest.mark.parametrize("added", CHANGED_SHARES)
@pytest.mark.parametrize("build", [in_langchain, in_langchain_with_callbacks, in_llama_index, in_haystack])
def test_a_step_loses_what_it_drops_however_often_it_adds(
    build: Callable[[], Any], added: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = build()
    for dropped in CHANGED_SHARES:
        qrels, steps, expected = planted_changes(added, dropped)
        texts = {query: f"text of {query}" for query in qrels}
        for step, rankings in steps.items():
            documents_by_text = {texts[query]: ids for query, ids in rankings.items()}
            monkeypatch.setitem(IDS_BY_STEP, step, documents_by_text)
        questions = rm.EvaluationSet(texts, qrels)
        run = rm.retrieve(pipeline, questions)
        assert list(run.stages)[:5] == STEPS
        lost = rm.evaluate(questions, run, f"recall@{K}").stages.losses(f"recall@{K}").means
        assert {name: share for name, share in lost.items() if share} == pytest.approx(
            {name: share for name, share in expected.items() if share}
        )
        if build is not in_langchain:  # whose steps take a mapping
            expected_inputs = {"bm25": False, "dense": False, "fused": True, "filtered": True, "reranked": True}
            assert run.takes_documents == expected_inputs

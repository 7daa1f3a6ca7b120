"""What components cost, heard from Haystack's tracing, and a user's tracer that goes on as before."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.components.converters import OutputAdapter
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, Tracer, tracer

import retrieval_metrics as rm
from haystack_hosts import Prepared
from haystack_integrations.components.evaluators.retrieval_metrics import (
    PipelineRetriever,
    aevaluate_pipeline,
    evaluate_pipeline,
    record,
)
from haystack_integrations.components.evaluators.retrieval_metrics.tracing import ComponentCosts

QUESTIONS = rm.EvaluationSet({"q1": "even", "q2": "odd", "q3": "evenly"}, {"q1": ["d1"], "q2": ["d2"], "q3": ["d1"]})
ANSWERS = {"even": ["d1", "d2"], "odd": ["d1", "d2"], "evenly": ["d2", "d1"]}

Evaluate = Callable[..., Any]


def waited(*args: Any, **options: Any) -> Any:
    return asyncio.run(aevaluate_pipeline(*args, **options))


both = pytest.mark.parametrize("evaluate", [evaluate_pipeline, waited], ids=["synchronous", "asynchronous"])


@component
class Model:
    """A chat generator that repeats the last message, and reports as many tokens as it has letters."""

    def __init__(self, replies: int = 1) -> None:
        self._replies = replies

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        text = messages[-1].text or ""
        if text == "odd" and self._replies == 0:
            raise ConnectionError("model offline")
        usage = {"prompt_tokens": len(text), "completion_tokens": 2, "total_tokens": len(text) + 2}
        return {"replies": [ChatMessage.from_assistant(text, meta={"usage": usage})] * max(self._replies, 1)}


def rewriting(model: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("{{ query }}")]))
    pipeline.add_component("rewriter", model)
    pipeline.add_component("text", OutputAdapter("{{ replies[0].text }}", output_type=str))
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.connect("prompt.prompt", "rewriter.messages")
    pipeline.connect("rewriter.replies", "text.replies")
    pipeline.connect("text.output", "retriever.query")
    return pipeline


def values(stages: Any, name: str) -> dict[str, float]:
    per_query: dict[str, float] = stages.last.per_query[name]
    return per_query


@both
@pytest.mark.parametrize("replies", [1, 3])
def test_tokens_and_seconds_of_each_component_stand_beside_the_metrics(evaluate: Evaluate, replies: int) -> None:
    stages = evaluate(rewriting(Model(replies)), QUESTIONS, "mrr", costs=True)
    assert values(stages, "rewriter prompt_tokens") == {"q1": 4, "q2": 3, "q3": 6}
    assert values(stages, "rewriter completion_tokens") == {"q1": 2, "q2": 2, "q3": 2}
    total_seconds = stages.last.seconds
    seconds_by_component = [values(stages, f"{name} seconds") for name in ("prompt", "rewriter", "text", "retriever")]
    for query, total in total_seconds.items():
        assert 0 < sum(seconds[query] for seconds in seconds_by_component) <= total
    assert stages.last.means["mrr"] == evaluate(rewriting(Model(replies)), QUESTIONS, "mrr").last.means["mrr"]
    assert not [name for name in stages.last.means if "total" in name]


@both
def test_a_component_that_a_question_does_not_reach_is_undefined(evaluate: Evaluate) -> None:
    @component
    class Router:
        @component.output_types(short=str, long=str)
        def run(self, query: str) -> dict[str, Any]:
            return {"short" if len(query) == 3 else "long": query}

    pipeline = Pipeline()
    pipeline.add_component("router", Router())
    for name in ("short", "long"):
        pipeline.add_component(name, Prepared(ANSWERS))
        pipeline.connect(f"router.{name}", f"{name}.query")
    stages = evaluate(PipelineRetriever(pipeline, output=["short", "long"]), QUESTIONS, "mrr", costs=True)
    assert stages.last.n == {"mrr": 3, "router seconds": 3, "short seconds": 1, "long seconds": 2}
    assert stages.last.means["short seconds"] == values(stages, "short seconds")["q2"] > 0


@component
class Expander:
    """Asks a model twice without handing on what it says, as rankers and expanders with a model do."""

    @component.output_types(query=str)
    def run(self, query: str) -> dict[str, Any]:
        for _ in range(2):
            with tracer.trace("haystack.chat_generator.run", parent_span=tracer.current_span()) as span:
                output = Model().run([ChatMessage.from_user(query)])
                span.set_content_tag("haystack.component.output", output)
        return {"query": query}


@both
def test_the_tokens_of_a_model_inside_a_component_are_those_of_the_component(evaluate: Evaluate) -> None:
    pipeline = Pipeline()
    pipeline.add_component("expander", Expander())
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.connect("expander.query", "retriever.query")
    stages = evaluate(pipeline, QUESTIONS, "mrr", costs=True)
    assert values(stages, "expander prompt_tokens") == {"q1": 8, "q2": 6, "q3": 12}
    assert [name for name in stages.last.means if name.startswith("retriever")] == ["retriever seconds"]


def test_a_failed_question_keeps_what_it_cost_and_what_did_not_run_is_undefined() -> None:
    with pytest.warns(rm.RetrievalWarning, match="model offline"):
        stages = evaluate_pipeline(rewriting(Model(0)), QUESTIONS, "mrr", costs=True)
    assert stages.last.n["rewriter seconds"] == 3
    assert stages.last.n["rewriter prompt_tokens"] == stages.last.n["retriever seconds"] == 2


def test_an_embedder_reports_the_tokens_of_its_request() -> None:
    @component
    class Embedder:
        @component.output_types(embedding=list[float], meta=dict[str, Any])
        def run(self, text: str) -> dict[str, Any]:
            return {"embedding": [1.0], "meta": {"usage": {"prompt_tokens": len(text), "total_tokens": len(text)}}}

    @component
    class Finder:
        @component.output_types(documents=list[Document])
        def run(self, query_embedding: list[float]) -> dict[str, Any]:
            assert query_embedding == [1.0]
            return {"documents": [Document(id="d1", content="one")]}

    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder())
    pipeline.add_component("finder", Finder())
    pipeline.connect("embedder.embedding", "finder.query_embedding")
    stages = evaluate_pipeline(pipeline, QUESTIONS, "mrr", costs=True)
    assert stages.last.means["embedder prompt_tokens"] == (4 + 3 + 6) / 3


def test_a_component_by_itself_has_no_parts() -> None:
    with pytest.raises(TypeError, match=r"costs=True needs a pipeline.*stages\.last\.seconds"):
        evaluate_pipeline(Prepared(ANSWERS), QUESTIONS, "mrr", costs=True)


class Users(Tracer):
    """A tracer as a user has one: nested spans, without content."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self._open: list[Span] = []

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        span = Users.One(operation_name, dict(tags or {}), parent_span)
        self.spans.append(span)
        self._open.append(span)
        try:
            yield span
        finally:
            self._open.remove(span)

    def current_span(self) -> Span | None:
        return self._open[-1] if self._open else None

    class One(Span):
        def __init__(self, operation: str, tags: dict[str, Any], parent: Span | None) -> None:
            self.name, self.tags, self.parent = operation, tags, parent

        def set_tag(self, key: str, value: Any) -> None:
            self.tags[key] = value

        def get_correlation_data_for_logs(self) -> dict[str, Any]:
            return {"trace": self.name}

    def describe_spans(self) -> str:
        return json.dumps(
            [(span.name, span.tags, getattr(span.parent, "name", None)) for span in self.spans], default=str
        )


@pytest.fixture
def users(monkeypatch: pytest.MonkeyPatch) -> Iterator[Users]:
    monkeypatch.setattr(tracer, "is_content_tracing_enabled", False)  # an environment variable may have set it
    before, tracer.actual_tracer = tracer.actual_tracer, Users()
    yield tracer.actual_tracer
    tracer.actual_tracer = before


def test_a_tracer_of_the_user_gets_the_same_spans_and_has_its_place_again(users: Users) -> None:
    evaluate_pipeline(rewriting(Model()), QUESTIONS, "mrr", workers=1)
    alone, users.spans = users.describe_spans(), []
    evaluate_pipeline(rewriting(Model()), QUESTIONS, "mrr", workers=1, costs=True)
    assert users.describe_spans() == alone
    assert "component.output_spec" in alone
    assert 'component.output"' not in alone  # content is not traced, because the user has not asked for it
    assert tracer.actual_tracer is users
    with tracer.trace("around"), record():
        assert tracer.current_span() is users.spans[-1]
        with tracer.trace("inside"):
            span = tracer.current_span()
            assert span is not None
            assert (span.get_correlation_data_for_logs(), span.raw_span()) == ({"trace": "inside"}, users.spans[-1])
    assert tracer.actual_tracer is users


def test_of_listeners_that_overlap_each_hears_all_and_the_tracer_before_is_back(users: Users) -> None:
    earlier = ComponentCosts().listen()
    later = ComponentCosts().listen()
    earlier.__enter__()
    later.__enter__()
    earlier.__exit__(None, None, None)
    assert tracer.actual_tracer is not users
    later.__exit__(None, None, None)
    assert tracer.actual_tracer is users
    with record():
        tracer.actual_tracer = new = Users()
    assert tracer.actual_tracer is new  # set meanwhile by the user

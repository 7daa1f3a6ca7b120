"""What pipelines and agents of Haystack searched, recorded from its tracing."""

from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, PipelineTool
from haystack.tracing.tracer import tracer

from haystack_integrations.components.evaluators.retrieval_metrics import record

RANKINGS = {"close": ["d2", "d1"], "exit": ["d3", "d1", "d6"], "suppress": ["d7", "d4"]}
HOPS = [["close"], ["exit", "suppress"], ["down"], ["suppress"]]
ANSWER = "It is closed [d2] and swallowed [d4]."


@component
class Finder:
    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Search the documents."""
        if query == "down":
            raise ConnectionError("index offline")
        return {
            "documents": [
                Document(id=document_id, content=f"the whole text of {document_id}") for document_id in RANKINGS[query]
            ]
        }


@component
class Top2:
    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents[:2]}


@component
class Scripted:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **kwargs: Any) -> dict[str, Any]:
        del tools, kwargs
        turn = sum(message.role.value == "assistant" for message in messages)
        if turn == len(HOPS):
            return {"replies": [ChatMessage.from_assistant(ANSWER)]}
        calls = [
            ToolCall(tool_name="search", arguments={"query": query}, id=f"{turn}/{index}")
            for index, query in enumerate(HOPS[turn])
        ]
        return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}


def pipeline() -> Pipeline:
    pipeline_with_ranker = Pipeline()
    pipeline_with_ranker.add_component("finder", Finder())
    pipeline_with_ranker.add_component("top", Top2())
    pipeline_with_ranker.connect("finder.documents", "top.documents")
    return pipeline_with_ranker


def make_agent(tool: Any) -> Agent:
    return Agent(chat_generator=Scripted(), tools=[tool], raise_on_tool_invocation_failure=False)


def make_pipeline_tool() -> PipelineTool:
    return PipelineTool(
        pipeline=pipeline(),
        name="search",
        description="Search",
        input_mapping={"query": ["finder.query"]},
        output_mapping={"top.documents": "documents"},
    )


def read_citations(answer: str) -> list[str]:
    return [document_id for document_id in ("d2", "d4") if f"[{document_id}]" in answer]


def ids(items: Any) -> list[str]:
    return [item.id for item in items]


def test_an_agent_is_recorded_call_by_call() -> None:
    with record(citations=read_citations) as recorded, recorded.question("q1"):
        make_agent(make_pipeline_tool()).run(messages=[ChatMessage.from_user("How is a file closed?")])
    trajectory = recorded.trajectories["q1"]
    assert [(call.query, ids(call.ranking), call.turn, call.error is None) for call in trajectory.calls] == [
        ("close", ["d2", "d1"], 1, True),
        ("exit", ["d3", "d1"], 2, True),
        ("suppress", ["d7", "d4"], 2, True),
        ("down", [], 3, False),
        ("suppress", ["d7", "d4"], 4, True),
    ]
    assert [ids(before) for before in trajectory.calls[1].inner_rankings] == [["d3", "d1", "d6"]]
    assert "index offline" in str(trajectory.calls[3].error)
    assert ids(trajectory.context) == ["d2", "d1", "d3", "d7", "d4"]
    assert trajectory.citations == ["d2", "d4"]


def test_a_tool_made_of_a_component_is_named() -> None:
    tool = ComponentTool(Finder(), name="search", description="Search")
    with record(tools="search") as recorded, recorded.question("q1"):
        make_agent(tool).run(messages=[ChatMessage.from_user("How is a file closed?")])
    calls = recorded.trajectories["q1"].calls
    assert [ids(call.ranking) for call in calls] == [["d2", "d1"], ["d3", "d1", "d6"], ["d7", "d4"], [], ["d7", "d4"]]
    assert [call.error is None for call in calls] == [True, True, True, False, True]


def test_a_pipeline_is_one_call_and_the_tracer_before_is_back_afterwards() -> None:
    tracer_before = tracer.actual_tracer
    with record() as recorded:
        pipeline().run({"finder": {"query": "close"}})
        with recorded.question("q1"):
            pipeline().run({"finder": {"query": "exit"}})
        with recorded.question("q2"), pytest.raises(Exception, match="index offline"):
            pipeline().run({"finder": {"query": "down"}})
    assert tracer.actual_tracer is tracer_before
    trajectories = recorded.trajectories
    assert [ids(call.ranking) for call in trajectories["q1"].calls] == [["d3", "d1"]]
    assert [call.error for call in trajectories["q2"].calls] == ["ConnectionError: index offline"]
    assert "1 trace without the ID of a question, excluded" in repr(trajectories)

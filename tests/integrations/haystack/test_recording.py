"""What pipelines and agents of Haystack searched, recorded from its tracing."""

from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, PipelineTool
from haystack.tracing.tracer import tracer

from haystack_integrations.components.evaluators.retrieval_metrics import record

FOUND = {"close": ["d2", "d1"], "exit": ["d3", "d1", "d6"], "suppress": ["d7", "d4"]}
HOPS = [["close"], ["exit", "suppress"], ["down"], ["suppress"]]
ANSWER = "It is closed [d2] and swallowed [d4]."


@component
class Finder:
    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Search the documents."""
        if query == "down":
            raise ConnectionError("index offline")
        return {"documents": [Document(id=one, content=f"the whole text of {one}") for one in FOUND[query]]}


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
            ToolCall(tool_name="search", arguments={"query": query}, id=f"{turn}/{at}")
            for at, query in enumerate(HOPS[turn])
        ]
        return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}


def pipeline() -> Pipeline:
    made = Pipeline()
    made.add_component("finder", Finder())
    made.add_component("top", Top2())
    made.connect("finder.documents", "top.documents")
    return made


def agent(tool: Any) -> Agent:
    return Agent(chat_generator=Scripted(), tools=[tool], raise_on_tool_invocation_failure=False)


def as_tool() -> PipelineTool:
    return PipelineTool(
        pipeline=pipeline(),
        name="search",
        description="Search",
        input_mapping={"query": ["finder.query"]},
        output_mapping={"top.documents": "documents"},
    )


def cited(answer: str) -> list[str]:
    return [one for one in ("d2", "d4") if f"[{one}]" in answer]


def ids(found: Any) -> list[str]:
    return [item.id for item in found]


def test_an_agent_is_recorded_call_by_call() -> None:
    with record(citations=cited) as recorded, recorded.question("q1"):
        agent(as_tool()).run(messages=[ChatMessage.from_user("How is a file closed?")])
    one = recorded.trajectories["q1"]
    assert [(call.query, ids(call.ranking), call.turn, call.error is None) for call in one.calls] == [
        ("close", ["d2", "d1"], 1, True),
        ("exit", ["d3", "d1"], 2, True),
        ("suppress", ["d7", "d4"], 2, True),
        ("down", [], 3, False),
        ("suppress", ["d7", "d4"], 4, True),
    ]
    assert [ids(before) for before in one.calls[1].inner_rankings] == [["d3", "d1", "d6"]]
    assert "index offline" in str(one.calls[3].error)
    assert ids(one.context) == ["d2", "d1", "d3", "d7", "d4"]
    assert one.citations == ["d2", "d4"]


def test_a_tool_made_of_a_component_is_named() -> None:
    tool = ComponentTool(Finder(), name="search", description="Search")
    with record(tools="search") as recorded, recorded.question("q1"):
        agent(tool).run(messages=[ChatMessage.from_user("How is a file closed?")])
    calls = recorded.trajectories["q1"].calls
    assert [ids(call.ranking) for call in calls] == [["d2", "d1"], ["d3", "d1", "d6"], ["d7", "d4"], [], ["d7", "d4"]]
    assert [call.error is None for call in calls] == [True, True, True, False, True]


def test_a_pipeline_is_one_call_and_the_tracer_before_is_back_afterwards() -> None:
    before = tracer.actual_tracer
    with record() as recorded:
        pipeline().run({"finder": {"query": "close"}})
        with recorded.question("q1"):
            pipeline().run({"finder": {"query": "exit"}})
        with recorded.question("q2"), pytest.raises(Exception, match="index offline"):
            pipeline().run({"finder": {"query": "down"}})
    assert tracer.actual_tracer is before
    t = recorded.trajectories
    assert [ids(call.ranking) for call in t["q1"].calls] == [["d3", "d1"]]
    assert [call.error for call in t["q2"].calls] == ["ConnectionError: index offline"]
    assert "1 trace without the id of a question left out" in repr(t)

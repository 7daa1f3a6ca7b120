"""What agents and query engines of LlamaIndex searched, recorded from its instrumentation."""

import asyncio
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms import types as message_types
from llama_index.core.llms import ChatMessage
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, RetrieverTool
from llama_index_instrumentation import get_dispatcher

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import record
from llama_index_hosts import Scripted

IDS_BY_QUERY = {"close": ["d2", "d1"], "exit": ["d3", "d1"], "suppress": ["d7", "d4"]}
HOPS = [["close"], ["exit", "suppress"], ["down"], ["suppress"]]
ANSWER = "It is closed [d2] and swallowed [d4]."


class Finder(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str.strip().removeprefix("input is ")
        if query == "down":
            raise ConnectionError("index offline")
        nodes = [
            TextNode(id_=document_id, text=f"the whole text of {document_id}") for document_id in IDS_BY_QUERY[query]
        ]
        return [NodeWithScore(node=node, score=1.0) for node in nodes]


def agent(tool: Any = None) -> FunctionAgent:
    tool = tool or RetrieverTool.from_defaults(Finder(), name="search", description="Search the documents")
    key = "query" if isinstance(tool, FunctionTool) else "input"
    return FunctionAgent(tools=[tool], llm=Scripted(key=key, hops=HOPS, answer=ANSWER), system_prompt="search")


def cited(answer: str) -> list[str]:
    return [document_id for document_id in ("d2", "d4") if f"[{document_id}]" in answer]


def ask(target: Any) -> Any:
    async def run() -> Any:
        return await target.run(user_msg="How is a file closed?")

    return asyncio.run(run())


def ids(items: Any) -> list[str]:
    return [item.id for item in items]


def test_lists_of_chat_messages_are_conversations() -> None:
    search_arguments = {"query": "close"}
    calls = [{"id": "1", "type": "function", "function": {"name": "search", "arguments": json.dumps(search_arguments)}}]
    requests = [
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": calls}),
    ]
    block_class = getattr(message_types, "ToolCallBlock", None)
    if block_class is not None:  # new in llama-index-core 0.14
        block = block_class(tool_call_id="1", tool_name="search", tool_kwargs=search_arguments)
        requests.append(ChatMessage(role="assistant", blocks=[block]))
    result = json.dumps([{"id": "d2", "text": "the whole text of d2"}])
    for call in requests:
        messages = [
            ChatMessage(role="user", content="How is a file closed?"),
            call,
            ChatMessage(role="tool", content=result, additional_kwargs={"tool_call_id": "1", "name": "search"}),
            ChatMessage(role="assistant", content="By with [1]."),
        ]
        for source in (messages, {"1": messages}, [[message.model_dump() for message in messages]]):
            trajectory = rm.read_traces(source, tools="search", citations="numbered")["1"]
            assert [(search.query, ids(search.ranking)) for search in trajectory.calls] == [("close", ["d2"])]
            assert trajectory.citations == ["d2"]


@pytest.mark.parametrize("make", [agent, lambda: AgentWorkflow(agents=[agent()])], ids=["agent", "workflow"])
def test_an_agent_is_recorded_call_by_call(make: Any) -> None:
    with record(citations=cited) as recorded, recorded.question("q1"):
        ask(make())
    trajectory = recorded.trajectories["q1"]
    assert [(call.query, ids(call.ranking), call.error) for call in trajectory.calls] == [
        ("close", ["d2", "d1"], None),
        ("exit", ["d3", "d1"], None),
        ("suppress", ["d7", "d4"], None),
        ("down", [], "ConnectionError: index offline"),
        ("suppress", ["d7", "d4"], None),
    ]
    assert trajectory.citations is None or trajectory.citations == ["d2", "d4"]


@pytest.mark.parametrize("make", [agent, lambda: AgentWorkflow(agents=[agent()])], ids=["agent", "workflow"])
def test_parallel_calls_stand_in_the_order_of_the_models_message(make: Any) -> None:
    with record() as recorded, recorded.question("q1"):
        ask(make())
    trajectory = recorded.trajectories["q1"]
    assert [call.turn for call in trajectory.calls] == [1, 2, 2, 3, 4]
    tools = [span for span in recorded.spans if span["kind"] == "tool"]
    assert [span["call"] for span in tools] == ["0/0", "1/0", "1/1", "2/0", "3/0"]
    # The second and the third begin in the other order, as threads would have it.
    second_start = tools[1]["start"]
    tools[1]["start"] = tools[2]["start"]
    tools[2]["start"] = second_start
    assert [call.query for call in recorded.trajectories["q1"].calls] == [call.query for call in trajectory.calls]


def test_what_is_asked_outside_is_left_out_and_handlers_are_taken_away_again() -> None:
    dispatcher = get_dispatcher()
    before = list(dispatcher.event_handlers), list(dispatcher.span_handlers)
    with record() as recorded:
        Finder().retrieve("close")
        with recorded.question(7):
            Finder().retrieve("exit")
    assert (dispatcher.event_handlers, dispatcher.span_handlers) == before
    t = recorded.trajectories
    assert ids(t[7].calls[0].ranking) == ["d3", "d1"]
    assert "1 trace without the ID of a question, excluded" in repr(t)


@pytest.mark.parametrize("make", [agent, lambda: AgentWorkflow(agents=[agent()])], ids=["agent", "workflow"])
def test_an_agent_is_a_target_of_an_evaluation(make: Any) -> None:
    questions = rm.EvaluationSet.from_dataset([{"id": "q1", "query": "How?", "relevant": {"d2": 1, "d3": 1, "d4": 2}}])
    run = rm.retrieve(make(), questions)
    assert ids(run["q1"]) == ["d2", "d3", "d7", "d1", "d4"]
    assert round(rm.evaluate(questions, run, "ndcg").means["ndcg"], 6) == 0.768026


def test_an_outage_behind_a_tool_is_an_error_of_the_question() -> None:
    class Down(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            raise ConnectionError(f"index offline: {query_bundle.query_str}")

    questions = rm.EvaluationSet.from_dataset([{"id": "q1", "query": "How?", "relevant": ["d2"]}])
    tool = RetrieverTool.from_defaults(Down(), name="search", description="Search the documents")
    with pytest.raises(RuntimeError, match="index offline"):
        rm.retrieve(agent(tool), questions)


def test_the_events_of_an_agent_are_read() -> None:
    async def events() -> list[Any]:
        handler = agent().run("How?")
        return [event async for event in handler.stream_events()]

    recorded_events = asyncio.run(events())
    for source in (
        recorded_events,
        [json.loads(event.model_dump_json()) for event in recorded_events if hasattr(event, "model_dump_json")],
    ):
        (trajectory,) = rm.read_traces([source], tools="search", citations=cited).values()
        calls = [(call.query, ids(call.ranking), call.turn, call.error is None) for call in trajectory.calls]
        assert calls == [
            ("close", ["d2", "d1"], 1, True),
            ("exit", ["d3", "d1"], 2, True),
            ("suppress", ["d7", "d4"], 2, True),
            ("down", [], 3, False),
            ("suppress", ["d7", "d4"], 4, True),
        ]
        assert ids(trajectory.context) == ["d2", "d1", "d3", "d7", "d4"]
        assert trajectory.citations == ["d2", "d4"]


def test_an_agent_whose_tools_return_texts_is_refused() -> None:
    def search(query: str) -> str:
        """Search the documents."""
        return f"a text about {query}"

    questions = rm.EvaluationSet.from_dataset([{"id": "q1", "query": "How?", "relevant": ["d2"]}])
    with pytest.raises(TypeError, match=r"the tools of the agent \('search'\) returned texts"):
        rm.retrieve(agent(FunctionTool.from_defaults(search, name="search")), questions)

"""What chains and agents of LangChain search, read and cite, recorded by its callbacks."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, messages_to_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import retrieval_metrics as rm
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever, record

FOUND_FOR = {"close": ["d2", "d1"], "exit": ["d3", "d1"], "suppress": ["d7", "d4"]}


TEXTS = {document_id: f"the whole text of {document_id}" for document_id in ("d1", "d2", "d3", "d4", "d7")}


HOPS = [["close"], ["exit", "suppress"], ["down"], ["suppress"]]


HOPS_WITHOUT_OUTAGE = [hop for hop in HOPS if hop != ["down"]]


class Library(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        del run_manager
        if query == "down":
            raise ConnectionError("index offline")
        return [Document(TEXTS[document_id], id=document_id) for document_id in FOUND_FOR[query]]


class Scripted(BaseChatModel):
    hops: list[list[str]] = HOPS

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        del tools, kwargs
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        del stop, run_manager, kwargs
        turn = sum(isinstance(message, AIMessage) for message in messages)
        message = AIMessage("It is closed [d2], swallowed [d4], and more [d9].")
        if turn < len(self.hops):
            calls: list[Any] = []
            for position, query in enumerate(self.hops[turn]):
                calls.append({"name": "search", "args": {"query": query}, "id": f"{turn}/{position}"})
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(hops: list[list[str]] = HOPS, searching: Any = None) -> Any:
    searching = searching or create_retriever_tool(Library(), "search", "Search the documents")
    middleware = [keep_going] if ["down"] in hops else []
    return create_agent(Scripted(hops=hops), [searching], middleware=middleware)


@wrap_tool_call
def keep_going(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except ConnectionError as error:
        return ToolMessage(f"error: {error}", tool_call_id=request.tool_call["id"], status="error")


MESSAGES = {"messages": [("user", "How is a file closed?")]}


def cited(answer: str) -> list[str]:
    return [document_id for document_id in ("d2", "d4", "d9") if f"[{document_id}]" in answer]


def item_ids(items: Any) -> list[str]:
    return [item.id for item in items]


def describe_calls(trajectory: rm.Trajectory) -> list[Any]:
    return [(call.query, item_ids(call.ranking), call.turn, call.error) for call in trajectory.calls]


def test_an_agent_is_recorded_call_by_call() -> None:
    with record(citations=cited) as recorded:
        agent().invoke(MESSAGES, config={"callbacks": [recorded.handler("q1")]})
    t = recorded.trajectories
    assert repr(t) == "<Trajectories: 1 query, 5 calls, 1 failed>"
    assert describe_calls(t["q1"]) == [
        ("close", ["d2", "d1"], 1, None),
        ("exit", ["d3", "d1"], 2, None),
        ("suppress", ["d7", "d4"], 2, None),
        ("down", [], 3, "ConnectionError: index offline"),
        ("suppress", ["d7", "d4"], 4, None),
    ]
    assert item_ids(t["q1"].context or ()) == ["d2", "d1", "d3", "d7", "d4"]
    assert t["q1"].citations == ["d2", "d4", "d9"]
    result = rm.evaluate({"q1": {"d2": 1, "d3": 1, "d4": 2}}, t.union(), ["map", "ndcg", "recall@1calls"])
    assert [round(value, 6) for value in result.means.values()] == [0.755556, 0.726208, round(1 / 3, 6)]


def test_parallel_calls_have_one_order() -> None:
    with record() as recorded:
        for number in range(10):
            agent([["close", "exit", "suppress"]]).invoke(MESSAGES, config={"callbacks": [recorded.handler(number)]})
    assert len(recorded.trajectories) == 10
    for trajectory in recorded.trajectories.values():
        assert [call.query for call in trajectory.calls] == ["close", "exit", "suppress"]


def test_an_asynchronous_run_is_recorded_alike() -> None:
    with record() as recorded:
        asyncio.run(agent(HOPS_WITHOUT_OUTAGE).ainvoke(MESSAGES, config={"callbacks": [recorded.handler("q1")]}))
    queries = [call.query for call in recorded.trajectories["q1"].calls]
    assert queries == ["close", "exit", "suppress", "suppress"]


def test_a_retriever_alone_is_one_call_and_two_runs_of_a_question_are_rows() -> None:
    with record() as recorded:
        for _ in range(2):
            Library().invoke("close", config={"callbacks": [recorded.handler("q1")]})
    assert recorded.trajectories.questions == {"q1#1": "q1", "q1#2": "q1"}


def test_a_tool_without_a_retriever_is_named_and_keeps_its_documents_as_artifact() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        return "texts", Library().invoke(query, config={"callbacks": []})

    with record() as unnamed, record(tools="search") as named:
        callbacks = [unnamed.handler("q1"), named.handler("q1")]
        agent([["close"]], search).invoke(MESSAGES, config={"callbacks": callbacks})
    assert item_ids(named.trajectories.union()["q1"]) == ["d2", "d1"]
    with pytest.raises(ValueError, match=r"if one searches, name it: tools=\['search'\]"):
        _ = unnamed.trajectories


def test_an_agent_is_a_target_of_an_evaluation() -> None:
    questions = rm.EvaluationSet.from_dataset(
        [{"id": "q1", "query": "How is a file closed?", "relevant": {"d2": 1, "d3": 1, "d4": 2}}]
    )
    run = rm.retrieve(agent(HOPS_WITHOUT_OUTAGE), questions)
    assert item_ids(run["q1"]) == ["d2", "d3", "d7", "d1", "d4"]
    assert round(rm.evaluate(questions, run, "ndcg").means["ndcg"], 6) == 0.768026
    config: Any = {"tags": ["evaluation"]}
    ours = evaluate_retriever(agent(HOPS_WITHOUT_OUTAGE), questions, "ndcg", config=config)
    twin = asyncio.run(aevaluate_retriever(agent(HOPS_WITHOUT_OUTAGE), questions, "ndcg"))
    assert [round(result.means["ndcg"], 6) for result in (ours, twin)] == [0.768026] * 2
    assert rm.retrieve(agent([]), questions)["q1"] == []  # it answered at once


@pytest.mark.parametrize("handled_by", ["middleware", "tool node"])
def test_an_outage_behind_a_tool_is_an_error_of_the_question(handled_by: str) -> None:
    @wrap_tool_call
    async def go_on(request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ConnectionError as error:
            return ToolMessage(f"error: {error}", tool_call_id=request.tool_call["id"], status="error")

    model = Scripted(hops=[["down"]])
    searching = create_retriever_tool(Library(), "search", "Search the documents")
    target: Any = create_agent(model, [searching], middleware=[go_on])
    if handled_by == "tool node":
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode([searching], handle_tool_errors=True))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
        graph.add_edge("tools", "model")
        target = graph.compile()
    questions = [(f"How is file {number} closed?", ["d1"]) for number in range(2)]
    with pytest.raises(RuntimeError, match="ConnectionError: index offline"):
        evaluate_retriever(target, questions, "mrr")


def test_the_messages_in_the_state_of_an_agent_are_a_trace() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        documents = Library().invoke(query)
        return "\n".join(document.page_content for document in documents), documents

    state = agent(searching=search).invoke(MESSAGES)
    for source in ({"q1": state}, {"q1": state["messages"]}, {"q1": messages_to_dict(state["messages"])}):
        t = rm.read_traces(source, tools="search", citations=cited)
        assert describe_calls(t["q1"]) == [
            ("close", ["d2", "d1"], 1, None),
            ("exit", ["d3", "d1"], 2, None),
            ("suppress", ["d7", "d4"], 2, None),
            ("down", [], 3, "error: index offline"),
            ("suppress", ["d7", "d4"], 4, None),
        ]
        assert item_ids(t["q1"].context or ()) == ["d2", "d1", "d3", "d7", "d4"]
        assert t["q1"].citations == ["d2", "d4", "d9"]


def test_tools_without_a_retriever_are_named_in_the_evaluation_too() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        return "texts", Library().invoke(query, config={"callbacks": []})

    questions = [("How is a file closed?", ["d1"])]
    target = agent([["close"]], search)
    with pytest.raises(ValueError, match=r"if one searches, name it: tools=\['search'\]"):
        evaluate_retriever(target, questions, "mrr")
    ours = evaluate_retriever(target, questions, "mrr", tools="search")
    twin = asyncio.run(aevaluate_retriever(target, questions, "mrr", tools=["search"]))
    assert [result.means["mrr"] for result in (ours, twin)] == [0.5] * 2
    with pytest.raises(TypeError, match=r"tools='search' names the tools of an agent .*, but Library is not an agent"):
        evaluate_retriever(Library(), questions, "mrr", tools="search")

"""What chains and agents searched, recorded from their callbacks."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool, tool

import retrieval_metrics as rm
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever, record

FOUND = {"close": ["d2", "d1"], "exit": ["d3", "d1"], "suppress": ["d7", "d4"]}
TEXTS = {one: f"the whole text of {one}" for ids in FOUND.values() for one in ids}
HOPS = [["close"], ["exit", "suppress"], ["down"], ["suppress"]]
CALM = [one for one in HOPS if one != ["down"]]


class Finder(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        del run_manager
        if query == "down":
            raise ConnectionError("index offline")
        return [Document(TEXTS[one], id=one) for one in FOUND[query]]


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
            asked = enumerate(self.hops[turn])
            calls = [{"name": "search", "args": {"query": query}, "id": f"{turn}/{at}"} for at, query in asked]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(hops: list[list[str]] = HOPS, searching: Any = None) -> Any:
    searching = searching or create_retriever_tool(Finder(), "search", "Search the documents")
    middleware = [keep_going] if ["down"] in hops else []
    return create_agent(Scripted(hops=hops), [searching], middleware=middleware)


@wrap_tool_call
def keep_going(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except ConnectionError as error:
        return ToolMessage(f"error: {error}", tool_call_id=request.tool_call["id"], status="error")


ASKED = {"messages": [("user", "How is a file closed?")]}


def cited(answer: str) -> list[str]:
    return [one for one in ("d2", "d4", "d9") if f"[{one}]" in answer]


def test_an_agent_is_recorded_call_by_call() -> None:
    with record(citations=cited) as recorded:
        agent().invoke(ASKED, config={"callbacks": [recorded.handler("q1")]})
    t = recorded.trajectories
    assert repr(t) == "<Trajectories: 1 query, 5 calls, 1 failed>"
    assert [(call.query, [item.id for item in call.ranking], call.turn, call.error) for call in t["q1"].calls] == [  # type: ignore[union-attr]
        ("close", ["d2", "d1"], 1, None),
        ("exit", ["d3", "d1"], 2, None),
        ("suppress", ["d7", "d4"], 2, None),
        ("down", [], 3, "ConnectionError: index offline"),
        ("suppress", ["d7", "d4"], 4, None),
    ]
    assert [item.id for item in t["q1"].context or ()] == ["d2", "d1", "d3", "d7", "d4"]  # type: ignore[union-attr]
    assert t["q1"].citations == ["d2", "d4", "d9"]
    result = rm.evaluate({"q1": {"d2": 1, "d3": 1, "d4": 2}}, t.union(), ["map", "ndcg", "recall@1calls"])
    assert [round(value, 6) for value in result.means.values()] == [0.755556, 0.726208, round(1 / 3, 6)]


def test_parallel_calls_have_one_order() -> None:
    with record() as recorded:
        for number in range(10):
            agent([["close", "exit", "suppress"]]).invoke(ASKED, config={"callbacks": [recorded.handler(number)]})
    orders = {tuple(call.query for call in one.calls) for one in recorded.trajectories.values()}
    assert orders == {("close", "exit", "suppress")}


def test_an_asynchronous_run_is_recorded_alike() -> None:
    with record() as recorded:
        asyncio.run(agent(CALM).ainvoke(ASKED, config={"callbacks": [recorded.handler("q1")]}))
    queries = [call.query for call in recorded.trajectories["q1"].calls]
    assert queries == ["close", "exit", "suppress", "suppress"]


def test_a_retriever_alone_is_one_call_and_two_runs_of_a_question_are_rows() -> None:
    with record() as recorded:
        for _ in range(2):
            Finder().invoke("close", config={"callbacks": [recorded.handler("q1")]})
    assert recorded.trajectories.questions == {"q1#1": "q1", "q1#2": "q1"}


def test_a_tool_without_a_retriever_is_named_and_keeps_its_documents_as_artifact() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        return "texts", Finder().invoke(query, config={"callbacks": []})

    with record() as unnamed, record(tools="search") as named:
        callbacks = [unnamed.handler("q1"), named.handler("q1")]
        agent([["close"]], search).invoke(ASKED, config={"callbacks": callbacks})
    assert [item.id for item in named.trajectories.union()["q1"]] == ["d2", "d1"]
    with pytest.raises(ValueError, match=r"tools=\['search'\] says that one searches"):
        _ = unnamed.trajectories


def test_an_agent_is_a_target_of_an_evaluation() -> None:
    questions = rm.EvaluationSet.of(
        [{"id": "q1", "query": "How is a file closed?", "relevant": {"d2": 1, "d3": 1, "d4": 2}}]
    )
    run = rm.retrieve(agent(CALM), questions)
    assert [item.id for item in run["q1"]] == ["d2", "d3", "d7", "d1", "d4"]
    assert round(rm.evaluate(questions, run, "ndcg").means["ndcg"], 6) == 0.768026
    config: Any = {"tags": ["evaluation"]}
    ours = evaluate_retriever(agent(CALM), questions, "ndcg", config=config)
    twin = asyncio.run(aevaluate_retriever(agent(CALM), questions, "ndcg"))
    assert [round(one.means["ndcg"], 6) for one in (ours, twin)] == [0.768026] * 2
    assert rm.retrieve(agent([]), questions)["q1"] == []  # it answered at once


def test_tools_without_a_retriever_are_named_in_the_evaluation_too() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        return "texts", Finder().invoke(query, config={"callbacks": []})

    asked = [("How is a file closed?", ["d1"])]
    target = agent([["close"]], search)
    with pytest.raises(ValueError, match=r"tools=\['search'\] says that one searches"):
        evaluate_retriever(target, asked, "mrr")
    ours = evaluate_retriever(target, asked, "mrr", tools="search")
    twin = asyncio.run(aevaluate_retriever(target, asked, "mrr", tools=["search"]))
    assert [one.means["mrr"] for one in (ours, twin)] == [0.5] * 2
    with pytest.raises(TypeError, match=r"tools='search' names the tools of an agent .*, but Finder is no agent"):
        evaluate_retriever(Finder(), asked, "mrr", tools="search")

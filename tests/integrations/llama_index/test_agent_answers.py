"""The nodes in the answers of engines and of agents, whose tools returned them."""

from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import ToolOutput

from llama_index.evaluation.retrieval_metrics.agent_answers import find_answer_nodes, find_output_nodes


def make_nodes(*node_ids: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(id_=node_id, text=f"the text of {node_id}")) for node_id in node_ids]


def make_answer(*outputs: Any, failed: str = "") -> AgentOutput:
    """Return the answer of an agent whose tool returned these outputs, and whose last call failed with a message."""
    results = []
    for output in outputs:
        results.append(ToolOutput(tool_name="search", content="", raw_input={}, raw_output=output))
    if failed:
        results.append(ToolOutput(tool_name="search", content=failed, raw_input={}, raw_output=None, is_error=True))
    calls: list[Any] = []
    for number, result in enumerate(results):
        calls.append(
            ToolCallResult(
                tool_name="search", tool_kwargs={}, tool_id=str(number), tool_output=result, return_direct=False
            )
        )
    answer = AgentOutput(response=ChatMessage("done"), current_agent_name="agent")
    answer.tool_calls = calls  # as the workflow of the agent assigns them, without validation
    return answer


def find_ids(answer: object) -> list[str]:
    return [scored.node.node_id for scored in find_answer_nodes(answer)]


def test_an_answer_without_tools_is_its_nodes() -> None:
    assert find_ids(make_nodes("a", "b")) == ["a", "b"]
    assert find_ids(Response("text", source_nodes=make_nodes("b"))) == ["b"]


def test_the_first_node_of_each_call_comes_first_and_a_node_once() -> None:
    answer = make_answer(make_nodes("a", "b"), Response("text", source_nodes=make_nodes("c", "a")))
    assert find_ids(answer) == ["a", "c", "b"]


def test_a_failed_call_counts_only_if_no_call_succeeded() -> None:
    assert find_ids(make_answer(make_nodes("a"), failed="index offline")) == ["a"]
    with pytest.raises(RuntimeError, match="index offline"):
        find_ids(make_answer(failed="index offline"))


def test_texts_are_no_nodes() -> None:
    with pytest.raises(TypeError, match=r"the tools of the agent \('search'\) returned texts"):
        find_ids(make_answer("a text"))
    assert find_output_nodes(["a text"]) is None
    assert find_output_nodes([]) == []

"""Find the nodes in the answers of retrievers, engines and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore

from llama_index.evaluation.retrieval_metrics.nodes import convert_items, get_nodes
from retrieval_metrics import SearchCall, Trajectories, Trajectory

if TYPE_CHECKING:
    from llama_index.core.tools import ToolOutput


def find_answer_nodes(answer: object) -> list[NodeWithScore]:
    """Return the nodes of an answer; of an agent, those that its tools returned, the first node of each call first.

    Raises:
        TypeError: If the tools of an agent returned texts.
        RuntimeError: If all of its tools failed, with the error of the last, because an outage is not a bad retrieval.
    """
    if not isinstance(answer, AgentOutput):
        return get_nodes(answer)
    tool_names: list[str] = []
    searches: list[SearchCall] = []
    node_by_id: dict[Any, NodeWithScore] = {}
    for call in answer.tool_calls:
        if not hasattr(call, "tool_output"):
            continue
        tool_names.append(call.tool_name)
        output: ToolOutput = call.tool_output
        if output.is_error:
            searches.append(SearchCall(call.tool_name, (), error=str(output.content)))
            continue
        nodes = find_output_nodes(output.raw_output)
        if nodes is not None:
            searches.append(SearchCall(call.tool_name, convert_items(nodes)))
            for node in nodes:
                node_by_id.setdefault(node.node.node_id, node)
    if tool_names and not searches:
        names = ", ".join(dict.fromkeys(map(repr, tool_names)))
        raise TypeError(
            f"the tools of the agent ({names}) returned texts, from which IDs cannot be read; use RetrieverTool or "
            "QueryEngineTool, or record(tools=..., documents=...)"
        )
    run = Trajectories({"the question": Trajectory(searches)}).interleaved()
    for error in run.errors.values():
        raise error
    (ranking,) = run.values()
    return [node_by_id[item.id] for item in ranking]


def find_output_nodes(output: Any) -> list[NodeWithScore] | None:
    """Return the nodes in the output of a tool; None if it holds something else."""
    nodes = output
    if isinstance(output, Response) or hasattr(output, "source_nodes"):
        nodes = output.source_nodes
    if isinstance(nodes, list) and all(isinstance(node, NodeWithScore) for node in nodes):
        return nodes
    return None

"""Record the searches of query engines and agents from LlamaIndex's instrumentation."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.workflow import AgentOutput, ToolCall
from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionStartEvent,
)
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import BaseTool
from llama_index_instrumentation import get_dispatcher
from pydantic import PrivateAttr

from llama_index.evaluation.retrieval_metrics.scoring import convert_items, get_nodes
from retrieval_metrics import SearchCall, Trajectories, Trajectory
from retrieval_metrics.integration_api import TraceRecording

if TYPE_CHECKING:
    import inspect
    from collections.abc import Iterator


@contextmanager
def record(**settings: Any) -> Iterator[TraceRecording]:
    """Record what query engines and agents search, read and cite inside a `with` statement.

    Ask each question inside `with recorded.question("q1"):`; what is asked outside is left out, and counted. Searches
    are the runs of retrievers; what a tool does with their nodes afterwards shows in the context.

    Args:
        **settings: `citations=`, `tools=`, `documents=` and `context=`, as in the core's `read_traces`.

    Example:
        >>> from llama_index.core.retrievers import BaseRetriever
        >>> from llama_index.core.schema import TextNode
        >>> class Finder(BaseRetriever):
        ...     def _retrieve(self, query_bundle):
        ...         return [NodeWithScore(node=TextNode(id_="d7", text="A context manager."), score=1.0)]
        >>> with record() as recorded, recorded.question("q1"):
        ...     found = Finder().retrieve("with")
        >>> recorded.trajectories
        <Trajectories: 1 query, 1 call, 0 failed>
    """
    recording, dispatcher = TraceRecording(**settings), get_dispatcher()
    events, spans = _EventRecorder(recording), _SpanRecorder(recording)
    dispatcher.event_handlers.append(events)
    dispatcher.span_handlers.append(spans)
    try:
        yield recording
    finally:
        dispatcher.event_handlers.remove(events)
        dispatcher.span_handlers.remove(spans)


def find_agent_nodes(answer: Any) -> list[NodeWithScore]:
    """Return the nodes of an answer; of an agent, what its tools found, the first node of each call first.

    Raises:
        TypeError: If the tools of an agent returned texts.
        RuntimeError: If all of its tools failed, with the error of the last: an outage is no bad retrieval.
    """
    if not isinstance(answer, AgentOutput):
        return get_nodes(answer)
    results = [(call.tool_name, call.tool_output) for call in answer.tool_calls if hasattr(call, "tool_output")]
    nodes = [(name, _nodes(one.raw_output), str(one.content) if one.is_error else None) for name, one in results]
    searches = [
        SearchCall(name, convert_items(found or []) if failed is None else (), error=failed)
        for name, found, failed in nodes
        if failed is not None or found is not None
    ]
    if results and not searches:
        names = ", ".join(dict.fromkeys(repr(name) for name, _ in results))
        raise TypeError(
            f"the tools of the agent ({names}) returned texts, from which no ids can be told; use RetrieverTool or "
            "QueryEngineTool, or record(tools=..., documents=...)"
        )
    by_id: dict[Any, NodeWithScore] = {}
    for _, found, failed in nodes:
        for node in (found or []) if failed is None else []:
            by_id.setdefault(node.node.node_id, node)
    view = Trajectories({"the question": Trajectory(searches)}).interleaved()
    for error in view.errors.values():
        raise error
    (ranking,) = view.values()
    return [by_id[item.id] for item in ranking]


def _nodes(output: Any) -> list[NodeWithScore] | None:
    """Return the nodes in what a tool returned; None if it returned something else."""
    found = output.source_nodes if isinstance(output, Response) or hasattr(output, "source_nodes") else output
    if isinstance(found, list) and all(isinstance(one, NodeWithScore) for one in found):
        return found
    return None


class _SpanRecorder(BaseSpanHandler[Any]):
    """Notes where spans begin and end, and which of them are tools."""

    _recording: TraceRecording = PrivateAttr()
    _calls: dict[str, str] = PrivateAttr(default_factory=dict)
    _told: set[str] = PrivateAttr(default_factory=set)

    def __init__(self, recording: TraceRecording) -> None:
        super().__init__()
        self._recording = recording

    @classmethod
    def class_name(cls) -> str:
        """Return the name by which the dispatcher knows it."""
        return "RetrievalMetricsSpans"

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note that a span began."""
        del tags, kwargs
        name = id_.partition("-")[0]
        if isinstance(instance, BaseTool) and name.endswith(("call", "__call__")):
            given = dict(bound_args.arguments)
            given |= given.pop("kwargs", None) or {}
            call = self._calls.get(parent_span_id or "")
            self._recording.start(id_, parent_span_id, "tool", str(instance.metadata.name), given, call=call)
            return
        self._recording.start(id_, parent_span_id, "other", name, None)
        # The steps of an agent: first what its model asked for, in the order of its message, then a step for each call.
        event = bound_args.arguments.get("ev")
        if isinstance(event, AgentOutput):
            asked = [{"id": one.tool_id, "name": one.tool_name, "args": one.tool_kwargs} for one in event.tool_calls]
            said = {"content": str(event.response.content or ""), "tool_calls": asked}
            self._say(id_, parent_span_id, said)
        elif isinstance(event, ToolCall):
            self._calls[id_] = event.tool_id

    def _say(self, span: str, agent: str | None, message: dict[str, Any]) -> None:
        """Note what the last model of an agent said, where the agent shows it; for an untold model, its span does."""
        parents = {one["span"]: one["parent"] for one in self._recording.spans}

        def inside(one: str | None) -> bool:
            while one is not None and one != agent:
                one = parents[one]
            return one is not None

        models = [one["span"] for one in self._recording.spans if one["kind"] == "model" and inside(one["parent"])]
        of = span if not models or models[-1] in self._told else models[-1]
        self._told.add(of)
        self._recording.change(of, kind="model", output=message)

    def prepare_to_exit_span(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> None:
        """Note that a span ended, and what a tool returned."""
        del bound_args, kwargs
        if not isinstance(instance, BaseTool) or not hasattr(result, "raw_output"):
            self._recording.end(id_)
        elif result.is_error:
            self._recording.end(id_, error=str(result.content))
        else:
            nodes = _nodes(result.raw_output)
            self._recording.end(id_, output=str(result.content) if nodes is None else convert_items(nodes))

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        """Note that a span failed."""
        del bound_args, instance, kwargs
        self._recording.end(id_, error="failed" if err is None else f"{type(err).__name__}: {err}")


class _EventRecorder(BaseEventHandler):
    """Notes what retrievers were asked and found, and what models read and said."""

    _recording: TraceRecording = PrivateAttr()

    def __init__(self, recording: TraceRecording) -> None:
        super().__init__()
        self._recording = recording

    @classmethod
    def class_name(cls) -> str:
        """Return the name by which the dispatcher knows it."""
        return "RetrievalMetricsEvents"

    def handle(self, event: Any, **kwargs: Any) -> None:
        """Add what an event says to its span."""
        del kwargs
        span = str(event.span_id)
        if isinstance(event, RetrievalStartEvent):
            asked = event.str_or_query_bundle
            self._recording.change(
                span, kind="retriever", input=asked.query_str if isinstance(asked, QueryBundle) else asked
            )
        elif isinstance(event, RetrievalEndEvent):
            self._recording.change(span, output=convert_items(event.nodes))
        elif isinstance(event, LLMChatStartEvent):
            self._recording.change(span, kind="model", input=[str(one.content or "") for one in event.messages])
        elif isinstance(event, LLMChatEndEvent) and event.response is not None:
            self._recording.change(span, output={"content": str(event.response.message.content or "")})
        elif isinstance(event, LLMCompletionStartEvent):
            self._recording.change(span, kind="model", input=event.prompt)
        elif isinstance(event, LLMCompletionEndEvent):
            self._recording.change(span, output=event.response.text)

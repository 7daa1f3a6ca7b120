"""Record the searches of query engines and agents from LlamaIndex's instrumentation."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.agent.workflow import AgentOutput, ToolCall
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionStartEvent,
)
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import BaseTool
from llama_index_instrumentation import get_dispatcher
from pydantic import PrivateAttr

from llama_index.evaluation.retrieval_metrics.agent_answers import find_output_nodes
from llama_index.evaluation.retrieval_metrics.nodes import convert_items
from retrieval_metrics.integration_api import RecordingOptions, TraceRecording

if TYPE_CHECKING:
    import inspect
    from collections.abc import Iterator


@contextmanager
def record(**options: Unpack[RecordingOptions]) -> Iterator[TraceRecording]:
    """Record what query engines and agents search, read and cite inside a `with` statement.

    Ask each question inside `with recorded.question("q1"):`; what is asked outside is left out, and counted. Searches
    are the runs of retrievers; what a tool does with their nodes afterwards shows in the context.

    Args:
        **options: `citations=`, `tools=`, `documents=` and `context=`, as in the core's `read_traces`.

    Example:
        >>> from llama_index.core.retrievers import BaseRetriever
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> class Finder(BaseRetriever):
        ...     def _retrieve(self, query_bundle):
        ...         return [NodeWithScore(node=TextNode(id_="d7", text="A context manager."), score=1.0)]
        >>> with record() as recorded, recorded.question("q1"):
        ...     nodes = Finder().retrieve("with")
        >>> recorded.trajectories
        <Trajectories: 1 query, 1 call, 0 failed>
    """
    recording = TraceRecording(**options)
    events = _EventRecorder(recording)
    spans = _SpanRecorder(recording)
    dispatcher = get_dispatcher()
    dispatcher.event_handlers.append(events)
    dispatcher.span_handlers.append(spans)
    try:
        yield recording
    finally:
        dispatcher.event_handlers.remove(events)
        dispatcher.span_handlers.remove(spans)


class _SpanRecorder(BaseSpanHandler[Any]):
    """Records where spans begin and end, and which of them are tools."""

    _recording: TraceRecording = PrivateAttr()
    _call_by_span: dict[str, str] = PrivateAttr(default_factory=dict)
    _spans_with_message: set[str] = PrivateAttr(default_factory=set)

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
        """Record the start of a span."""
        del tags, kwargs
        name = id_.partition("-")[0]
        if isinstance(instance, BaseTool) and name.endswith(("call", "__call__")):
            arguments = dict(bound_args.arguments)
            arguments |= arguments.pop("kwargs", None) or {}
            call = self._call_by_span.get(parent_span_id or "")
            self._recording.start(id_, parent_span_id, "tool", str(instance.metadata.name), arguments, call=call)
            return
        self._recording.start(id_, parent_span_id, "other", name, None)
        # An agent has a step with the message of its model, and then a step for each tool call in that message.
        event = bound_args.arguments.get("ev")
        if isinstance(event, AgentOutput):
            self._note_message(id_, parent_span_id, _message_content(event))
        elif isinstance(event, ToolCall):
            self._call_by_span[id_] = event.tool_id

    def _note_message(self, span: str, agent: str | None, message: dict[str, Any]) -> None:
        """Record the message of an agent as the output of its last model, or of this span if no model was recorded."""
        models = self._find_models(agent)
        if models and models[-1] not in self._spans_with_message:
            span = models[-1]
        self._spans_with_message.add(span)
        self._recording.change(span, kind="model", output=message)

    def _find_models(self, agent: str | None) -> list[str]:
        """Return the ids of the spans of models inside the span of an agent."""
        parents = {span["span"]: span["parent"] for span in self._recording.spans}
        models = []
        for span in self._recording.spans:
            if span["kind"] != "model":
                continue
            ancestor = span["parent"]
            while ancestor is not None and ancestor != agent:
                ancestor = parents[ancestor]
            if ancestor is not None:
                models.append(span["span"])
        return models

    def prepare_to_exit_span(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> None:
        """Record the end of a span, and the output of a tool."""
        del bound_args, kwargs
        if not isinstance(instance, BaseTool) or not hasattr(result, "raw_output"):
            self._recording.end(id_)
        elif result.is_error:
            self._recording.end(id_, error=str(result.content))
        else:
            nodes = find_output_nodes(result.raw_output)
            self._recording.end(id_, output=str(result.content) if nodes is None else convert_items(nodes))

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        """Record the error of a span."""
        del bound_args, instance, kwargs
        self._recording.end(id_, error="failed" if err is None else f"{type(err).__name__}: {err}")


def _message_content(event: AgentOutput) -> dict[str, Any]:
    """Return the message of a model, with its tool calls."""
    calls = []
    for call in event.tool_calls:
        calls.append({"id": call.tool_id, "name": call.tool_name, "args": call.tool_kwargs})
    return {"content": str(event.response.content or ""), "tool_calls": calls}


class _EventRecorder(BaseEventHandler):
    """Records the queries and nodes of retrievers, and the inputs and outputs of models."""

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
            query = event.str_or_query_bundle
            query_text = query.query_str if isinstance(query, QueryBundle) else query
            self._recording.change(span, kind="retriever", input=query_text)
        elif isinstance(event, RetrievalEndEvent):
            self._recording.change(span, output=convert_items(event.nodes))
        elif isinstance(event, LLMChatStartEvent):
            texts = [str(message.content or "") for message in event.messages]
            self._recording.change(span, kind="model", input=texts)
        elif isinstance(event, LLMChatEndEvent) and event.response is not None:
            self._recording.change(span, output={"content": str(event.response.message.content or "")})
        elif isinstance(event, LLMCompletionStartEvent):
            self._recording.change(span, kind="model", input=event.prompt)
        elif isinstance(event, LLMCompletionEndEvent):
            self._recording.change(span, output=event.response.text)

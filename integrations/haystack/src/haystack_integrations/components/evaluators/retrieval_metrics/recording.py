"""Record the searches of pipelines and agents from Haystack's tracing."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Unpack

from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.documents import convert_items
from haystack_integrations.components.evaluators.retrieval_metrics.tracing import ObservedSpan, SpanListener
from retrieval_metrics.integration_api import RecordingOptions, TraceRecording

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def record(**options: Unpack[RecordingOptions]) -> Iterator[TraceRecording]:
    """Record what pipelines and agents search, read and cite inside a `with` statement.

    Ask each question inside `with recorded.question("q1"):`; what is asked outside is left out, and counted. Searches
    are the runs of components that take a query and return documents; a ranker behind one in the same pipeline hands on
    what counts. Content is recorded here whatever HAYSTACK_CONTENT_TRACING_ENABLED says; another tracer goes on as
    before.

    Args:
        **options: `citations=`, `tools=`, `documents=` and `context=`, as in the core's `read_traces`.

    Example:
        >>> from haystack import Pipeline, component
        >>> @component
        ... class Finder:
        ...     @component.output_types(documents=list[Document])
        ...     def run(self, query: str):
        ...         return {"documents": [Document(id="d7", content="A context manager.")]}
        >>> pipeline = Pipeline()
        >>> _ = pipeline.add_component("finder", Finder())
        >>> with record() as recorded, recorded.question("q1"):
        ...     found = pipeline.run({"finder": {"query": "with"}})
        >>> recorded.trajectories
        <Trajectories: 1 query, 1 call, 0 failed>
    """
    recording = TraceRecording(**options)
    with _Recorder(recording).listen():
        yield recording


class _Recorder(SpanListener):
    """Writes every span of Haystack into a recording of the core."""

    def __init__(self, recording: TraceRecording) -> None:
        super().__init__()
        self._recording = recording
        self._span_numbers = count()
        self._span_ids: dict[ObservedSpan, str] = {}

    def begin(self, span: ObservedSpan) -> None:
        self._span_ids[span] = str(next(self._span_numbers))
        parent_id = None if span.parent is None else self._span_ids.get(span.parent)
        self._recording.start(self._span_ids[span], parent_id, "other", span.operation, None)

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        attributes = {key: _convert_tag(value) for key, value in span.tags.items()}
        error_field = {}
        if error is not None:
            cause = error.__cause__ or error  # a pipeline wraps the error of a component
            error_field["error"] = f"{type(cause).__name__}: {cause}"
        self._recording.end(self._span_ids[span], attributes=attributes, **error_field)


def _convert_tag(value: Any) -> Any:
    """Return the value of a tag as the core reads it: documents as items, messages as their text and their calls."""
    if isinstance(value, ChatMessage):
        return _convert_message(value)
    if isinstance(value, dict):
        return {str(key): _convert_tag(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(child, Document) for child in value):
            return convert_items(list(value))
        return [_convert_tag(child) for child in value]
    return value


def _convert_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message as the core reads it: its text, the results of its tools, and the tools that it calls."""
    texts = [message.text or "", *(str(call_result.result) for call_result in message.tool_call_results)]
    calls = []
    for call in message.tool_calls:
        calls.append({"name": call.tool_name, "arguments": call.arguments, "id": call.id})
    return {"content": "\n".join(texts), "tool_calls": calls}

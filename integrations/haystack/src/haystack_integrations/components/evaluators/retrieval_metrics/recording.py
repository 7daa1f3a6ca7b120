"""Record the searches of pipelines and agents from Haystack's tracing."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import convert_items
from haystack_integrations.components.evaluators.retrieval_metrics.tracing import ObservedSpan, SpanListener
from retrieval_metrics.integration_api import TraceRecording

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def record(**settings: Any) -> Iterator[TraceRecording]:
    """Record what pipelines and agents search, read and cite inside a `with` statement.

    Ask each question inside `with recorded.question("q1"):`; what is asked outside is left out, and counted. Searches
    are the runs of components that take a query and return documents; a ranker behind one in the same pipeline hands on
    what counts. Content is recorded here whatever HAYSTACK_CONTENT_TRACING_ENABLED says; another tracer goes on as
    before.

    Args:
        **settings: `citations=`, `tools=`, `documents=` and `context=`, as in the core's `read_traces`.

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
    recording = TraceRecording(**settings)
    with _Recorder(recording).listening():
        yield recording


class _Recorder(SpanListener):
    def __init__(self, recording: TraceRecording) -> None:
        super().__init__()
        self._recording = recording
        self._numbers = count()
        self._ids: dict[ObservedSpan, str] = {}

    def begin(self, span: ObservedSpan) -> None:
        self._ids[span] = str(next(self._numbers))
        around = None if span.around is None else self._ids.get(span.around)
        self._recording.start(self._ids[span], around, "other", span.operation, None)

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        why = None if error is None else error.__cause__ or error  # a pipeline wraps the error of a component
        failure = {} if why is None else {"error": f"{type(why).__name__}: {why}"}
        attributes = {key: _plain(value) for key, value in span.tags.items()}
        self._recording.end(self._ids[span], attributes=attributes, **failure)


def _plain(value: Any) -> Any:
    """Return a tag as the core reads it: documents as items, messages as their text and their calls."""
    if isinstance(value, ChatMessage):
        said = [value.text or "", *(str(one.result) for one in value.tool_call_results)]
        calls = [{"name": one.tool_name, "arguments": one.arguments, "id": one.id} for one in value.tool_calls]
        return {"content": "\n".join(said), "tool_calls": calls}
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        documents = value and all(isinstance(one, Document) for one in value)
        return list(convert_items(list(value))) if documents else [_plain(one) for one in value]
    return value

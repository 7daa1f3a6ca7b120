"""Record the searches of pipelines and agents from Haystack's tracing."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any

from haystack import Document
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, Tracer, tracer

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import items_of
from retrieval_metrics.adapting import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def record(**settings: Any) -> Iterator[Recording]:
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
    recording, before = Recording(**settings), tracer.actual_tracer
    tracer.actual_tracer = _Tracer(recording, before)
    try:
        yield recording
    finally:
        tracer.actual_tracer = before


class _Span(Span):
    """A span that is recorded, and goes to the tracer that was there before."""

    def __init__(self, id_: str, tags: dict[str, Any], inner: Span) -> None:
        self.id = id_
        self.tags = tags
        self._inner = inner

    def set_tag(self, key: str, value: Any) -> None:
        self.tags[key] = value
        self._inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        self.tags[key] = value
        self._inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        return self._inner.raw_span()


class _Tracer(Tracer):
    def __init__(self, recording: Recording, before: Tracer) -> None:
        self._recording = recording
        self._before = before
        self._current: ContextVar[_Span | None] = ContextVar("current", default=None)
        self._numbers = count()

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        around = parent_span if isinstance(parent_span, _Span) else self._current.get()
        inner_around = around._inner if around is not None else parent_span  # noqa: SLF001  (a span of this file)
        with self._before.trace(operation_name, tags=tags, parent_span=inner_around) as inner:
            span = _Span(str(next(self._numbers)), dict(tags or {}), inner)
            self._recording.start(span.id, None if around is None else around.id, "other", operation_name, None)
            token = self._current.set(span)
            failure: dict[str, Any] = {}
            try:
                yield span
            except Exception as error:
                why = error.__cause__ or error  # a pipeline wraps the error of a component
                failure = {"error": f"{type(why).__name__}: {why}"}
                raise
            finally:
                self._current.reset(token)
                attributes = {key: _plain(value) for key, value in span.tags.items()}
                self._recording.end(span.id, attributes=attributes, **failure)

    def current_span(self) -> Span | None:
        return self._current.get()


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
        return list(items_of(list(value))) if documents else [_plain(one) for one in value]
    return value

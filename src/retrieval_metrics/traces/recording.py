"""Record what agents do while they run."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from retrieval_metrics._internal.redaction import redact_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.traces.trajectories import Trajectories


class RecordingOptions(TypedDict, total=False):
    """How a recording is read; see `read_traces`."""

    citations: Callable[..., Sequence[Any]] | Literal["numbered"] | None
    tools: str | Collection[str]
    documents: Callable[[Any], Any] | None
    context: Literal["answer", "any"]


class TraceRecording:
    """A recording of what agents search, read and cite; made by the `record` function of an integration.

    Attributes:
        spans: The recorded spans as plain dicts, as `read_traces` takes them.
    """

    def __init__(
        self,
        *,
        citations: Callable[..., Sequence[Any]] | Literal["numbered"] | None = None,
        tools: str | Collection[str] = (),
        documents: Callable[[Any], Any] | None = None,
        context: Literal["answer", "any"] = "answer",
    ) -> None:
        """Take what `read_traces` takes."""
        self.spans: list[dict[str, Any]] = []
        self._options: RecordingOptions = {
            "citations": citations,
            "tools": tools,
            "documents": documents,
            "context": context,
        }
        self._question: ContextVar[QueryId | None] = ContextVar("question", default=None)
        self._open: dict[str, dict[str, Any]] = {}

    @contextmanager
    def question(self, query: QueryId) -> Iterator[None]:
        """Name the question that is asked inside a `with` statement.

        Args:
            query: Its id in the judgments.
        """
        token = self._question.set(query)
        try:
            yield
        finally:
            self._question.reset(token)

    def start(
        self,
        span: str,
        parent: str | None,
        kind: str,
        name: str,
        payload: object,
        *,
        query: QueryId | None = None,
        **fields: object,
    ) -> None:
        """Note that a span began.

        Args:
            span: Its id.
            parent: The id of the span around it; the id of a span that has not started counts as None.
            kind: The kind of the span, as in `read_traces`.
            name: The name of the step, or of the tool.
            payload: What went in.
            query: The question of an outermost span, if it is known by another way.
            fields: Other fields of the span.
        """
        parent_span = self._open.get(parent) if parent is not None else None
        question = query if query is not None else self._question.get()
        recorded = {
            "trace": parent_span["trace"] if parent_span is not None else span,
            "span": span,
            "parent": None if parent_span is None else parent,
            "kind": kind,
            "name": name,
            "input": _copy_payload(payload),
            "start": perf_counter(),
            "metadata": {} if question is None else {"question": question},
            **_copy_payload(fields),
        }
        self._open[span] = recorded
        self.spans.append(recorded)

    def change(self, span: str, **values: object) -> None:
        """Add to what is known of a span that has begun; another span is ignored."""
        if span in self._open:
            error = values.get("error")
            if isinstance(error, str):
                values["error"] = redact_secrets(error)
            self._open[span] |= _copy_payload(values)

    def end(self, span: str, **values: object) -> None:
        """Note that a span ended, with its `output` or its `error`."""
        self.change(span, end=perf_counter(), **values)

    @property
    def trajectories(self) -> Trajectories:
        """What was recorded, by question; runs without the id of a question are left out and counted.

        Raises:
            ValueError: If nothing was recorded, or a search does not say what it found.
        """
        if not self.spans:
            raise ValueError("nothing was recorded: nothing ran inside record(), or its callbacks were not passed on")
        # Imported here so that an integration loads it only where something was recorded.
        from retrieval_metrics.traces.read_traces import read_traces

        return read_traces(list(self.spans), query="metadata.question", **self._options)


def _copy_payload(payload: Any) -> Any:
    """Return what went in or came out, with the lists and dicts in it copied, because agents add to them later."""
    if type(payload) is dict:
        return {key: _copy_payload(value) for key, value in payload.items()}
    if type(payload) in {list, tuple}:
        return type(payload)(map(_copy_payload, payload))
    return payload

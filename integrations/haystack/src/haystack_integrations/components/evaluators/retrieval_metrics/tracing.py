"""Observe the spans of Haystack's tracing for a while, and add up what each component of a pipeline costs."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any

from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, Tracer, tracer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The operation of a span in which a component runs.
COMPONENT_RUN = "haystack.component.run"

# The unit of the sum of all other numbers of tokens, which would count them twice.
TOTAL_TOKENS = "total_tokens"


class ObservedSpan(Span):
    """A span that is observed and also passed on to the previous tracer, the one that was active before.

    Attributes:
        operation: What Haystack does in the span, such as `COMPONENT_RUN`.
        tags: The tags so far.
        parent: The observed span around it.
        inner: The span that the previous tracer opened for the same operation.
        is_inside_component: Whether the span is inside the run of a component.
        start: When it began, in seconds.
        used_tokens: What models inside it report, by unit.
    """

    def __init__(self, operation: str, tags: dict[str, Any], parent: ObservedSpan | None, inner: Span) -> None:
        self.operation = operation
        self.tags = tags
        self.parent = parent
        self.inner = inner
        self.is_inside_component: bool = parent is not None and (
            parent.is_inside_component or parent.operation == COMPONENT_RUN
        )
        self.start = perf_counter()
        self.used_tokens: list[Mapping[str, float]] = []

    def set_tag(self, key: str, value: Any) -> None:
        """Keep a tag, and pass it on to the previous tracer."""
        self.tags[key] = value
        self.inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """Keep a tag that may be confidential; the previous tracer decides for itself whether to keep it."""
        self.tags[key] = value
        self.inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        """Return the raw span of the previous tracer."""
        return self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """Return what the previous tracer puts into logs."""
        return self.inner.get_correlation_data_for_logs()


class SpanListener(Tracer):
    """Observes every span and passes it on to the previous tracer, which is restored afterwards."""

    def __init__(self) -> None:
        self._previous = tracer.actual_tracer
        self.is_over = False
        self._current: ContextVar[ObservedSpan | None] = ContextVar("current", default=None)

    def begin(self, span: ObservedSpan) -> None:
        """Handle the begin of a span; subclasses override it."""

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        """Handle the end of a span and the error that it raised; subclasses override it."""

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Observe the spans inside a `with` statement."""
        self._previous = tracer.actual_tracer
        tracer.actual_tracer = self
        try:
            yield
        finally:
            self.is_over = True
            # A tracer that was set in the meantime stays; it passes its spans on to this one.
            if tracer.actual_tracer is self:
                tracer.actual_tracer = self.find_active_tracer()

    def find_active_tracer(self) -> Tracer:
        """Return the previous tracer, or its own previous one if it is a listener that has stopped."""
        previous = self._previous
        if isinstance(previous, SpanListener) and previous.is_over:
            return previous.find_active_tracer()
        return previous

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Open a span of the previous tracer, and observe it."""
        parent = parent_span if isinstance(parent_span, ObservedSpan) else self._current.get()
        inner_parent = parent_span if parent is None else parent.inner
        with self._previous.trace(operation_name, tags=tags, parent_span=inner_parent) as inner:
            span = ObservedSpan(operation_name, dict(tags or {}), parent, inner)
            self.begin(span)
            token = self._current.set(span)
            error: Exception | None = None
            try:
                yield span
            except Exception as raised:
                error = raised
                raise
            finally:
                self._current.reset(token)
                self.end(span, error)

    def current_span(self) -> Span | None:
        """Return the open observed span; if there is none, the open span of the previous tracer."""
        return self._current.get() or self._previous.current_span()


class ComponentCosts(SpanListener):
    """Adds up the seconds and the tokens of each component of a pipeline, for each question.

    Attributes:
        costs_by_text: For the text of each question, the costs by name, such as `"rewriter prompt_tokens"`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.costs_by_text: dict[str, dict[str, float]] = {}
        self._costs: ContextVar[dict[str, float] | None] = ContextVar("costs", default=None)

    @contextmanager
    def record_question(self, text: str) -> Iterator[None]:
        """Record the costs of a question inside a `with` statement; those of an earlier attempt are dropped."""
        self.costs_by_text[text] = {}
        token = self._costs.set(self.costs_by_text[text])
        try:
            yield
        finally:
            self._costs.reset(token)

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        """Add the costs of a component, with the tokens of models inside it unless it reports tokens itself."""
        used_tokens = _reported_usages(span.tags.get("haystack.component.output")) or span.used_tokens
        costs = self._costs.get()
        if span.is_inside_component and span.parent is not None:
            span.parent.used_tokens.extend(used_tokens)
            return
        if span.operation != COMPONENT_RUN or costs is None:
            return
        for usage in [{"seconds": perf_counter() - span.start}, *used_tokens]:
            for unit, amount in usage.items():
                name = f"{span.tags['haystack.component.name']} {unit}"
                costs[name] = costs.get(name, 0) + amount


def _reported_usages(output: Any) -> list[Mapping[str, float]]:
    """Return the token usages that a component reports for its replies, its request, or all requests of an agent."""
    if not isinstance(output, dict):
        return []
    metadata_entries: list[Any] = []
    for reply in output.get("replies") or ():
        if isinstance(reply, ChatMessage):
            metadata_entries.append(reply.meta)
    component_metadata = output.get("meta") or ()
    if isinstance(component_metadata, list):
        metadata_entries += component_metadata
    else:
        metadata_entries.append(component_metadata)
    usages = [entry.get("usage") for entry in metadata_entries if isinstance(entry, dict)]
    usages.append(output.get("token_usage"))
    distinct_usages: list[Mapping[str, float]] = []
    for usage in usages:
        tokens = _token_counts(usage)
        if tokens and tokens not in distinct_usages:  # several replies to one request repeat its usage
            distinct_usages.append(tokens)
    return distinct_usages


def _token_counts(usage: Any) -> dict[str, float]:
    """Return the numbers of tokens in a usage by unit, without their total."""
    if not isinstance(usage, dict):
        return {}
    units = [unit for unit in usage if unit.endswith("_tokens") and unit != TOTAL_TOKENS]
    return {unit: usage[unit] for unit in units if isinstance(usage[unit], int)}

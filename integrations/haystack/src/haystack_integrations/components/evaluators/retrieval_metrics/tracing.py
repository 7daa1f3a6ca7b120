"""Haystack's tracing, heard for a while: every span, and what each component of a pipeline costs."""

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

# The unit of which the other numbers of tokens are the parts.
TOTAL_TOKENS = "total_tokens"


class ObservedSpan(Span):
    """A span that is observed, and goes to the tracer that was there before.

    Attributes:
        operation: What is done.
        tags: The tags so far.
        parent: The observed span around it.
        inner: The span of the tracer before.
        is_inside_component: Whether a component around it runs.
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
        """Keep a tag, and hand it on."""
        self.tags[key] = value
        self.inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """Keep what may be confidential too, and let the tracer before decide whether it does."""
        self.tags[key] = value
        self.inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        """Return the span of the tracer before."""
        return self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """Return what the tracer before puts into logs."""
        return self.inner.get_correlation_data_for_logs()


class SpanListener(Tracer):
    """Observes every span; another tracer goes on as before, and has its place again afterwards."""

    def __init__(self) -> None:
        self._previous = tracer.actual_tracer
        self.is_over = False
        self._current: ContextVar[ObservedSpan | None] = ContextVar("current", default=None)

    def begin(self, span: ObservedSpan) -> None:
        """Take a span that begins."""

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        """Take a span that ends, with what it raised."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Observe the spans inside a `with` statement."""
        self._previous = tracer.actual_tracer
        tracer.actual_tracer = self
        try:
            yield
        finally:
            self.is_over = True
            if tracer.actual_tracer is self:  # else another one, set since, hands on to this one
                tracer.actual_tracer = self.find_active_tracer()

    def find_active_tracer(self) -> Tracer:
        """Return the tracer before, or the one before that if it listens no more."""
        previous = self._previous
        if isinstance(previous, SpanListener) and previous.is_over:
            return previous.find_active_tracer()
        return previous

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Open a span of the tracer before, and observe it."""
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
        """Return the open span; outside of all that were observed, that of the tracer before."""
        return self._current.get() or self._previous.current_span()


class ComponentCosts(SpanListener):
    """The seconds and the tokens of each component of a pipeline, such as `"rewriter prompt_tokens"`, by text asked."""

    def __init__(self) -> None:
        super().__init__()
        self.by_text: dict[str, dict[str, float]] = {}
        self._costs: ContextVar[dict[str, float] | None] = ContextVar("costs", default=None)

    @contextmanager
    def recording(self, text: str) -> Iterator[None]:
        """Note what runs inside a `with` statement as the costs of a text; what an earlier attempt cost is dropped."""
        self.by_text[text] = {}
        token = self._costs.set(self.by_text[text])
        try:
            yield
        finally:
            self._costs.reset(token)

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        """Add up a component; the tokens of models inside it are its own, unless it reports them too."""
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
    """Return the usage that a component reports: of its replies, of its request, or of all requests of an agent."""
    if not isinstance(output, dict):
        return []
    metadata: list[Any] = []
    for reply in output.get("replies") or ():
        if isinstance(reply, ChatMessage):
            metadata.append(reply.meta)
    component_metadata = output.get("meta") or ()
    if isinstance(component_metadata, list):
        metadata += component_metadata
    else:
        metadata.append(component_metadata)
    usages = [entry.get("usage") for entry in metadata if isinstance(entry, dict)]
    usages.append(output.get("token_usage"))
    distinct: list[Mapping[str, float]] = []
    for usage in usages:
        tokens = _token_counts(usage)
        if tokens and tokens not in distinct:  # several replies to one request repeat its usage
            distinct.append(tokens)
    return distinct


def _token_counts(usage: Any) -> dict[str, float]:
    """Return the numbers of tokens in a usage, without their total."""
    if not isinstance(usage, dict):
        return {}
    units = [unit for unit in usage if unit.endswith("_tokens") and unit != TOTAL_TOKENS]
    return {unit: usage[unit] for unit in units if isinstance(usage[unit], int)}

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

COMPONENT, TOTAL = "haystack.component.run", "total_tokens"  # of which the other numbers are the parts


class ObservedSpan(Span):
    """A span that is heard, and goes to the tracer that was there before."""

    def __init__(self, operation: str, tags: dict[str, Any], around: ObservedSpan | None, inner: Span) -> None:
        self.operation = operation
        self.tags = tags
        self.around = around
        self.inner = inner
        self.is_inside: bool = around is not None and (around.is_inside or around.operation == COMPONENT)
        self.began = perf_counter()
        self.used: list[Mapping[str, float]] = []

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
    """Hears every span; another tracer goes on as before, and has its place again afterwards."""

    def __init__(self) -> None:
        self._before = tracer.actual_tracer
        self.is_over = False
        self._current: ContextVar[ObservedSpan | None] = ContextVar("current", default=None)

    def begin(self, span: ObservedSpan) -> None:
        """Take a span that begins."""

    def end(self, span: ObservedSpan, error: Exception | None) -> None:
        """Take a span that ends, with what it raised."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear the spans inside a `with` statement."""
        self._before = tracer.actual_tracer
        tracer.actual_tracer = self
        try:
            yield
        finally:
            self.is_over = True
            if tracer.actual_tracer is self:  # else another one, set since, hands on to this one
                tracer.actual_tracer = self.still_wanted()

    def still_wanted(self) -> Tracer:
        """Return the tracer before, or the one before that if it listens no more."""
        before = self._before
        return before.still_wanted() if isinstance(before, SpanListener) and before.is_over else before

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Open a span of the tracer before, and hear it."""
        around = parent_span if isinstance(parent_span, ObservedSpan) else self._current.get()
        inner_around = parent_span if around is None else around.inner
        with self._before.trace(operation_name, tags=tags, parent_span=inner_around) as inner:
            span = ObservedSpan(operation_name, dict(tags or {}), around, inner)
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
        """Return the open span; outside of all that were heard, that of the tracer before."""
        return self._current.get() or self._before.current_span()


class ComponentCosts(SpanListener):
    """The seconds and the tokens of each component of a pipeline, such as `"rewriter prompt_tokens"`, by text asked."""

    def __init__(self) -> None:
        super().__init__()
        self.by_text: dict[str, dict[str, float]] = {}
        self._asked: ContextVar[dict[str, float] | None] = ContextVar("asked", default=None)

    @contextmanager
    def of(self, text: str) -> Iterator[None]:
        """Note what runs inside a `with` statement as the costs of a text; what an earlier attempt cost is dropped."""
        self.by_text[text] = {}
        token = self._asked.set(self.by_text[text])
        try:
            yield
        finally:
            self._asked.reset(token)

    def end(self, span: ObservedSpan, error: Exception | None) -> None:  # noqa: ARG002  (what failed has cost something too)
        """Add up a component; the tokens of models inside it are its own, unless it reports them too."""
        used, asked = _reported(span.tags.get("haystack.component.output")) or span.used, self._asked.get()
        if span.is_inside and span.around is not None:
            span.around.used.extend(used)
        elif span.operation == COMPONENT and asked is not None:
            for each in [{"seconds": perf_counter() - span.began}, *used]:
                for unit, number in each.items():
                    name = f"{span.tags['haystack.component.name']} {unit}"
                    asked[name] = asked.get(name, 0) + number


def _reported(output: Any) -> list[dict[str, int]]:
    """Return the usage that a component reports: of its replies, of its request, or of all requests of an agent."""
    if not isinstance(output, dict):
        return []
    replies, meta = output.get("replies") or (), output.get("meta") or ()
    said = [one.meta for one in replies if isinstance(one, ChatMessage)] + (meta if isinstance(meta, list) else [meta])
    usages = [one.get("usage") for one in said if isinstance(one, dict)] + [output.get("token_usage")]
    counted = [
        {unit: n for unit, n in one.items() if unit.endswith("_tokens") and unit != TOTAL and isinstance(n, int)}
        for one in usages
        if isinstance(one, dict)
    ]
    # Several replies to one request repeat its usage.
    return [one for at, one in enumerate(counted) if one and one not in counted[:at]]

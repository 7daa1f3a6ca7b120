"""Read the judgments and the retrieved documents of the rows that `mlflow.genai.evaluate` passes to a scorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mlflow.entities import SpanType, Trace

if TYPE_CHECKING:
    from mlflow.entities import Span

    from retrieval_metrics import Retrieved
    from retrieval_metrics.integration_api import RowPaths
    from retrieval_metrics.types import DocumentId, MergedRanking

# The fields of a row in which a path may begin.
FIELDS = ("inputs", "outputs", "expectations")

# The first part of a path that leads into the trace, as in `trace.<name of a span>`.
TRACE = "trace"

# The name and type of the only span in the trace that MLflow makes for a row whose outputs are in the data.
STATIC_SPAN = ("root_span", SpanType.CHAIN)


class Row(NamedTuple):
    """One row of the data, as a scorer receives it."""

    inputs: Any = None
    outputs: Any = None
    expectations: Any = None
    trace: Trace | None = None

    @property
    def spans(self) -> list[Span]:
        """The spans of the trace; none without a trace."""
        return [] if self.trace is None else self.trace.data.spans

    @property
    def query(self) -> str:
        """The first text in the inputs, for messages; empty if there is none."""
        values = self.inputs.values() if isinstance(self.inputs, Mapping) else [self.inputs]
        for value in values:
            if isinstance(value, str):
                return value
        return ""

    def retrieved(self, paths: RowPaths) -> list[Retrieved | DocumentId] | MergedRanking:
        """Return what was retrieved, best first; from a trace, with the searches that returned it."""
        path = paths.retrieved
        fields = self._asdict()
        if path.partition(".")[0] != TRACE:
            return paths.items(fields)
        if path == TRACE and self._is_static():
            return paths.items(fields, "outputs")
        if self.trace is None and self.outputs is not None:
            raise LookupError(
                "the application answered, but MLflow could not store its trace, so what was retrieved is unknown; "
                "see its warnings above. If a SQLite store has too few connections, set "
                "MLFLOW_GENAI_EVAL_MAX_WORKERS=1, or pass retrieved='outputs'"
            )
        return paths.read_trace(fields, map(_span_as_dict, self.spans), self._search_ids(path))

    def failure(self) -> str | None:
        """Return why the application failed on this row; None if it did not."""
        if self.trace is None:
            return "the application failed and left no trace" if self.outputs is None else None
        if self.trace.info.state != "ERROR":
            return None
        for span in self.spans:
            if span.status.status_code == "ERROR":
                return f"the application failed: {span.status.description or 'without a message'}"
        return "the application failed"

    def _is_static(self) -> bool:
        """Return whether the outputs were in the data, for which MLflow makes a trace of a single span."""
        span_names = [(span.name, span.span_type) for span in self.spans]
        return span_names == [STATIC_SPAN] and self.outputs is not None

    def _search_ids(self, path: str) -> list[str]:
        """Return the ids of the spans that a path names; an empty list, for all retriever spans, if it names none."""
        _, _, name = path.partition(".")
        if name:
            searches = [span for span in self.spans if span.name == name]
        else:
            searches = [span for span in self.spans if span.span_type == SpanType.RETRIEVER]
        if not searches:
            wanted = f"span {name!r}" if name else "span of type RETRIEVER"
            present = ", ".join(f"{span.name!r} ({span.span_type})" for span in self.spans) or "no span at all"
            raise ValueError(
                f"the trace has no {wanted}; it has {present}. Decorate the retriever with "
                "@mlflow.trace(span_type='RETRIEVER'), or pass retrieved='outputs' or 'trace.<name of a span>'"
            )
        return [span.span_id for span in searches] if name else []


def _span_as_dict(span: Span) -> dict[str, Any]:
    """Return a span as the core reads it."""
    return {
        "trace": "the trace",
        "span": span.span_id,
        "parent": span.parent_id,
        "attributes": {"mlflow.spanType": span.span_type},  # MLflow has more kinds of spans than OpenTelemetry
        "name": span.name,
        "start": span.start_time_ns,
        "end": span.end_time_ns or span.start_time_ns,
        "status": {"status_code": str(span.status.status_code), "description": span.status.description},
        "input": span.inputs,
        "output": span.outputs,
    }

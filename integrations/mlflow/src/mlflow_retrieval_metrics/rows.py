"""The rows that MLflow passes to its scorers: their judgments, and what was retrieved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mlflow.entities import SpanType, Trace

from retrieval_metrics.adapting import items_in, items_of_calls, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mlflow.entities import Span

    from retrieval_metrics import Retrieved
    from retrieval_metrics.adapting import CallsTaken, DocumentId

TRACE = "trace"
FIELDS = ("inputs", "outputs", "expectations")


class Row(NamedTuple):
    """One row of the data, as a scorer receives it."""

    inputs: Any = None
    outputs: Any = None
    expectations: Any = None
    trace: Trace | None = None

    def part(self, path: str) -> Any:
        """Return the value at a path such as `expectations.relevant_ids`."""
        return part_of(self._asdict(), path)

    def retrieved(self, path: str, calls: CallsTaken) -> list[Retrieved | DocumentId]:
        """Return what was retrieved, best first.

        Args:
            path: A path into inputs, outputs or expectations, `trace` for the calls of the retriever in the trace, or
                `trace.<name>` for the spans of that name.
            calls: Which calls count, if there are several.

        Raises:
            ValueError: If there is no value at the path, or no such call in the trace.
            TypeError: If the value is not a list of documents.
            LookupError: If MLflow lost the trace, so it is unknown what was retrieved.
        """
        if path.partition(".")[0] != TRACE:
            return items_in(self.part(path), path)
        if self.trace is None and self.outputs is not None:
            raise LookupError(
                "the application answered, but MLflow could not store its trace, so what was retrieved is unknown; "
                "see its warnings above. If a SQLite store has too few connections, set "
                "MLFLOW_GENAI_EVAL_MAX_WORKERS=1, or pass retrieved='outputs'"
            )
        found = [items_in(_read(span.outputs), f"span {span.name!r}") for span in self._spans(path)]
        return items_of_calls(found, calls)

    def failure(self) -> str | None:
        """Return why the application failed on this row; None if it did not."""
        if self.trace is None:
            return "the application failed and left no trace" if self.outputs is None else None
        if self.trace.info.state != "ERROR":
            return None
        said = [span.status.description for span in self.trace.data.spans if span.status.status_code == "ERROR"]
        return f"the application failed: {said[0] or 'without a message'}" if said else "the application failed"

    def _spans(self, path: str) -> list[Span]:
        """Return the spans that hold what was retrieved, in the order of the calls."""
        spans = [] if self.trace is None else self.trace.data.spans
        name = path.partition(".")[2]
        if name:
            found = [span for span in spans if span.name == name]
        else:
            by_id = {span.span_id: span for span in spans}
            found = [span for span in spans if span.span_type == SpanType.RETRIEVER]
            # Of nested retrievers, as in an ensemble, the outer one counts.
            found = [span for span in found if all(one.span_type != SpanType.RETRIEVER for one in _above(span, by_id))]
        if not found:
            there = ", ".join(f"{span.name!r} ({span.span_type})" for span in spans) or "no span at all"
            wanted = f"span {name!r}" if name else "span of type RETRIEVER"
            raise ValueError(
                f"the trace has no {wanted}; it has {there}. Decorate the retriever with "
                "@mlflow.trace(span_type='RETRIEVER'), or pass retrieved='outputs' or 'trace.<name of a span>'"
            )
        return sorted(found, key=lambda span: span.start_time_ns)


def _above(span: Span, by_id: Mapping[str, Span]) -> Iterable[Span]:
    """Yield the spans that contain a span, from the inside out."""
    while (above := by_id.get(span.parent_id or "")) is not None:
        yield above
        span = above


def _read(outputs: Any) -> Any:
    """Return the output of a span, parsed if it is JSON as text; a failed call has none."""
    return json.loads(outputs) if isinstance(outputs, str) else outputs or []

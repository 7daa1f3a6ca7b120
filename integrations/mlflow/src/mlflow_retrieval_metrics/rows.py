"""The rows that MLflow hands to its scorers: what is relevant in one, and what was retrieved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from mlflow.entities import Document, SpanType, Trace

from retrieval_metrics import Retrieved
from retrieval_metrics.adapting import host_of

if TYPE_CHECKING:
    from mlflow.entities import Span

    from retrieval_metrics.adapting import DocumentId

Calls: TypeAlias = Literal["union", "first", "last"]
"""Which calls of the retriever count, where a trace holds several."""

TRACE = "trace"
FIELDS = ("inputs", "outputs", "expectations")
_TEXT = ("page_content", "content", "text")
"""Where MLflow looks for the text of a retrieved document, in this order."""


class Row(NamedTuple):
    """One row of the data, as a scorer receives it."""

    inputs: Any = None
    outputs: Any = None
    expectations: Any = None
    trace: Trace | None = None

    def part(self, path: str) -> Any:
        """Return what stands at a path such as `expectations.relevant_ids`.

        Raises:
            ValueError: If nothing does; the message says what is there.
        """
        field, *keys = path.split(".")
        found, at = getattr(self, field), field
        for key in keys:
            if isinstance(found, Mapping) and key in found:
                found = found[key]
            elif not isinstance(found, Mapping) and hasattr(found, key):
                found = getattr(found, key)
            else:
                has = ", ".join(map(repr, found)) if isinstance(found, Mapping) else type(found).__name__
                raise ValueError(f"{at} has no {key!r}, which {path!r} asks for; it has {has or 'nothing'}")
            at = f"{at}.{key}"
        return found

    def retrieved(self, path: str, calls: Calls) -> list[Retrieved | DocumentId]:
        """Return what was retrieved, best first.

        Args:
            path: A path into inputs, outputs or expectations, `trace` for the calls of the retriever in the trace, or
                `trace.<name>` for the spans of that name.
            calls: Which calls count, if there are several.

        Raises:
            ValueError: If nothing stands at the path, or no such call is in the trace.
            TypeError: If what stands there is not a list of documents.
            LookupError: If MLflow lost the trace: nobody knows what was retrieved.
        """
        if path.partition(".")[0] != TRACE:
            return _items(self.part(path), path)
        if self.trace is None and self.outputs is not None:
            raise LookupError(
                "the application answered, but MLflow could not store its trace, so what was retrieved is not known; "
                "see its warnings above. Where a SQLite store has too few connections, set "
                "MLFLOW_GENAI_EVAL_MAX_WORKERS=1, or say retrieved='outputs'"
            )
        found = [_items(_read(span.outputs), f"span {span.name!r}") for span in self._spans(path)]
        return _union(found) if calls == "union" else found[0 if calls == "first" else -1]

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
            # A retriever that asks another one, as an ensemble does, answers for it.
            found = [span for span in found if all(one.span_type != SpanType.RETRIEVER for one in _above(span, by_id))]
        if not found:
            there = ", ".join(f"{span.name!r} ({span.span_type})" for span in spans) or "no span at all"
            wanted = f"span {name!r}" if name else "span of type RETRIEVER"
            raise ValueError(
                f"the trace has no {wanted}; it has {there}. Decorate the retriever with "
                "@mlflow.trace(span_type='RETRIEVER'), or say retrieved='outputs' or retrieved='trace.<name of a span>'"
            )
        return sorted(found, key=lambda span: span.start_time_ns)


def check_path(path: str, what: str, *, trace: bool = False) -> str:
    """Return a path if it begins at a field that a row has.

    Raises:
        ValueError: If it does not.
    """
    fields = (*FIELDS, TRACE) if trace else FIELDS
    if not isinstance(path, str) or path.partition(".")[0] not in fields:
        raise ValueError(f"{what} must begin with {', '.join(fields)}, as in 'outputs.documents', got {path!r}")
    return path


def check_calls(calls: Calls) -> Calls:
    """Return the choice of calls if it is one.

    Raises:
        ValueError: If it is not.
    """
    if calls not in get_args(Calls):
        raise ValueError(f"calls must be one of {', '.join(map(repr, get_args(Calls)))}, got {calls!r}")
    return calls


def _above(span: Span, by_id: Mapping[str, Span]) -> Iterable[Span]:
    """Yield the spans that a span stands in, from the inside out."""
    while (above := by_id.get(span.parent_id or "")) is not None:
        yield above
        span = above


def _read(outputs: Any) -> Any:
    """Return what a span gave back; a span of a call that failed gave nothing back, and some hold JSON as text."""
    return json.loads(outputs) if isinstance(outputs, str) else outputs or []


def _items(found: Any, where: str) -> list[Retrieved | DocumentId]:
    if isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        raise TypeError(f"{where} must hold a list of documents or ids, got {found!r} ({type(found).__name__})")
    return [_item(one, where) for one in found]


def _item(found: Any, where: str) -> Retrieved | DocumentId:
    """Return an item from an id, from a document of MLflow or its JSON, or from that of a host that is installed."""
    if isinstance(found, (str, int, Retrieved)):
        return found
    if isinstance(found, Document):
        found = found.to_dict()
    if isinstance(found, Mapping):
        metadata = found.get("metadata") or {}
        start = metadata.get("start_index")
        return Retrieved(
            found.get("id"),
            text=next((found[key] for key in _TEXT if key in found), None),
            source=metadata.get("doc_uri", metadata.get("source")),
            start=start if isinstance(start, int) and start >= 0 else None,
            metadata=metadata,
        )
    host = host_of(found)
    if host is None or host.documents is None:
        raise TypeError(f"{where} must hold documents or ids; it holds {found!r} ({type(found).__name__})")
    return host.documents([found])[0]


def _union(found: Iterable[Iterable[Retrieved | DocumentId]]) -> list[Retrieved | DocumentId]:
    """Return what several calls found, without what an earlier call had found; a repeat within a call stays."""
    union: list[Retrieved | DocumentId] = []
    seen: set[Any] = set()
    for items in found:
        new = [(item, _identity(item)) for item in items]
        union += [item for item, identity in new if identity not in seen]
        seen.update(identity for _, identity in new)
    return union


def _identity(item: Retrieved | DocumentId) -> Any:
    return (item.id, item.text, item.source) if isinstance(item, Retrieved) else item

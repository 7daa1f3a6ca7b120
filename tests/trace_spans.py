"""Small spans of traces: of an agent in our own form, and of OpenTelemetry."""

import re
from typing import Any

import retrieval_metrics as rm


def cited(answer: str) -> list[str]:
    return re.findall(r"\[(\w+)\]", answer)


def make_documents(*ids: str) -> list[dict[str, Any]]:
    return [{"id": id_, "text": f"the text of {id_}"} for id_ in ids]


def span(id_: str, kind: str, parent: str | None = "root", **fields: Any) -> dict[str, Any]:
    return {"trace": "t", "span": id_, "parent": parent, "kind": kind, "name": kind, **fields}


def model(
    id_: str, start: float, *queries: str, read: Any = "", answer: str = "", parent: str = "root"
) -> dict[str, Any]:
    calls = [{"name": "search", "id": f"{id_}/{n}", "args": {"query": query}} for n, query in enumerate(queries)]
    output = {"content": answer, "tool_calls": calls}
    return span(id_, "model", parent, start=start, end=start + 0.5, input={"messages": read}, output=output)


def search(
    id_: str, start: float, query: str, output: Any = None, *, parent: str = "root", **fields: Any
) -> dict[str, Any]:
    return span(id_, "retriever", parent, start=start, end=start + 0.25, input=query, output=output, **fields)


ROOT = span("root", "other", None, input="q1", start=0.0, end=9.0)


def read(*spans: dict[str, Any], **options: Any) -> rm.Trajectory:
    (trajectory,) = rm.read_traces([ROOT, *spans], **options).values()
    return trajectory


def ids(call: Any) -> list[Any]:
    ranking: Any = call.ranking if isinstance(call, rm.SearchCall) else call
    return [item.id for item in ranking]


def otel(id_: str, name: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    context = {"trace_id": "t", "span_id": id_}
    return {"name": name, "context": context, "kind": "SpanKind.INTERNAL", "parent_id": parent, **fields}


OTEL_ROOT = otel("1", "agent", attributes={"gen_ai.operation.name": "invoke_agent"})
RETRIEVAL = otel(
    "3", "kb", "1", attributes={"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": '[{"id": "x"}]'}
)
CHAT = otel(
    "4", "chat", "1", attributes={"gen_ai.operation.name": "chat", "gen_ai.output.messages": '[{"content": "Yes."}]'}
)
TAIL = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": "d1"}

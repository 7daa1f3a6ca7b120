"""The forms in which traces are kept, each made into spans: one function for what a span says, whoever recorded it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from retrieval_metrics.trajectories.traces.span import (
    MODEL,
    OTHER,
    RERANKER,
    RETRIEVER,
    TOOL,
    TraceError,
    TraceSpan,
    parsed,
)

_KINDS = {
    "retriever": RETRIEVER,
    "retrieval": RETRIEVER,
    "reranker": RERANKER,
    "tool": TOOL,
    "function": TOOL,
    "execute_tool": TOOL,
    "llm": MODEL,
    "model": MODEL,
    "chat_model": MODEL,
    "generation": MODEL,
    "response": MODEL,
    "chat": MODEL,
    "generate_content": MODEL,
    "text_completion": MODEL,
    "haystack.agent.step.tool": TOOL,
    "haystack.tool.run": TOOL,
    "haystack.agent.step.llm": MODEL,
}
_KIND = (
    "openinference.span.kind", "gen_ai.operation.name", "langfuse.observation.type", "mlflow.spanType",
)  # fmt: skip
_INPUT = (
    "input.value", "gen_ai.retrieval.query.text", "gen_ai.tool.call.arguments", "gen_ai.input.messages",
    "langfuse.observation.input", "mlflow.spanInputs", "haystack.agent.step.tool.input", "haystack.tool.input",
    "haystack.agent.step.llm.input", "haystack.component.input", "haystack.agent.input",
)  # fmt: skip
_OUTPUT = (
    "output.value", "gen_ai.retrieval.documents", "gen_ai.tool.call.result", "gen_ai.output.messages", "final_result",
    "langfuse.observation.output", "mlflow.spanOutputs", "haystack.agent.step.tool.output", "haystack.tool.result",
    "haystack.agent.step.llm.output", "haystack.component.output", "haystack.agent.output",
)  # fmt: skip
_START = ("start", "start_time", "start_time_unix_nano", "started_at", "startTime")
_END = ("end", "end_time", "end_time_unix_nano", "ended_at", "endTime")
_OTLP_ERROR = 2
_DOCUMENT = re.compile(r"retrieval\.documents\.(\d+)\.document\.(\w+)")


def spans_of(unit: Any) -> Iterator[TraceSpan]:
    """Yield the spans of one object of a file: a span, a whole trace, or an export of many.

    Raises:
        TraceError: If it is none of these.
    """
    if not isinstance(unit, dict):
        unit = _as_mapping(unit)
    if isinstance(attributes := unit.get("attributes"), dict):  # the usual form comes first: files hold many of them
        yield _span(unit, attributes)
    else:
        yield from _spans_of_other(unit)


def _spans_of_other(unit: dict[str, Any]) -> Iterator[TraceSpan]:
    """Yield the spans of a whole trace, of an export of many, or of a span without attributes."""
    if "resourceSpans" in unit:
        for one in (
            span for r in unit["resourceSpans"] for s in r.get("scopeSpans", ()) for span in s.get("spans", ())
        ):
            yield _otlp(one)
    elif unit.get("object") == "trace":  # of the OpenAI Agents SDK: a heading without spans
        return
    elif isinstance(trace := parsed(unit.get("trace")), dict):  # a row of mlflow.search_traces
        yield from spans_of(trace)
    elif isinstance(unit.get("data"), dict) and "spans" in unit["data"]:  # a trace of MLflow
        name = (unit.get("info") or {}).get("trace_id")
        for one in unit["data"]["spans"]:
            yield _span(one, {key: parsed(value) for key, value in one["attributes"].items()}, trace=name)
    elif isinstance(unit.get("observations"), list):  # a trace of Langfuse's API
        for one in unit["observations"]:
            yield from spans_of(one)
    else:
        yield _span(unit, _attributes(unit))


def _as_mapping(unit: Any) -> Mapping[str, Any]:
    if isinstance(unit, Mapping):
        return dict(unit)
    for method in ("to_dict", "model_dump", "dict"):
        if callable(getattr(unit, method, None)):
            made: Mapping[str, Any] = getattr(unit, method)()
            return made
    raise TraceError(f"a trace must hold spans as objects, got {unit!r} ({type(unit).__name__})")


def _attributes(unit: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in ("attributes", "tags", "span_data"):
        if isinstance(unit.get(key), dict):
            found: Mapping[str, Any] = unit[key]
            return found
    # A row of a frame of Phoenix.
    return {k.removeprefix("attributes."): v for k, v in unit.items() if k.startswith("attributes.") and v is not None}


def _span(unit: Mapping[str, Any], attributes: Mapping[str, Any], trace: str | None = None) -> TraceSpan:
    context = unit.get("context") or {}
    name = str(unit.get("name") or attributes.get("name") or "")
    kind, cut = _kind(unit, attributes, name), ""
    id_ = context.get("span_id") or _first(unit, ("span", "span_id", "context.span_id", "spanId", "id"))
    trace_id = trace or context.get("trace_id") or _first(unit, ("trace", "trace_id", "context.trace_id", "traceId"))
    if id_ is None or trace_id is None:
        raise TraceError(
            "a span needs an id and a trace, as in {'trace': 't1', 'span': 's1', 'parent': None, 'kind': 'retriever'}; "
            f"this one has {', '.join(map(repr, unit)) or 'nothing'}"
        )
    parent = _first(unit, ("parent", "parent_id", "parent_run_id", "parent_span_id", "parentObservationId"))
    span = TraceSpan(str(trace_id), str(id_), None if parent is None else str(parent), kind, name)
    span.extra = {"attributes": attributes, "unit": unit}
    if kind == OTHER and parent is not None:
        return span
    try:
        span.start, span.end = (seconds(_first(unit, keys)) for keys in (_START, _END))
    except (TypeError, ValueError) as error:
        raise TraceError(f"the time of {span.where} cannot be read: {error}") from None
    span.end = span.end or span.start
    if "type" in attributes and "input" in attributes:  # of the OpenAI Agents SDK
        span.input, span.output = attributes["input"], attributes.get("output")
    else:
        span.input = _first(unit, ("input", "inputs"))
        span.input = _first(attributes, _INPUT) if span.input is None else span.input
        span.output = _first(unit, ("output", "outputs"))
        span.output = _first(attributes, _OUTPUT) if span.output is None else span.output
    span.error = _error(unit, attributes, span.output)
    span.is_json = attributes.get("output.mime_type") == "application/json"
    if kind == TOOL:
        span.name = str(_first(attributes, ("tool.name", "gen_ai.tool.name", "haystack.tool.name")) or name)
        extra = unit.get("extra") or {}
        call = (
            _first(attributes, ("gen_ai.tool.call.id", "tool_call.id")) or unit.get("call") or extra.get("tool_call_id")
        )
        span.call = None if call is None else str(call)
    elif kind == RETRIEVER:
        span.documents, cut = _documents(attributes, span.output)
    elif kind == MODEL:
        span.messages = {key: value for key, value in attributes.items() if key[:4] == "llm."}
    dropped = unit.get("droppedAttributesCount") or unit.get("dropped_attributes_count")
    span.cut = cut or (f"{dropped} attributes were dropped" if dropped else "")
    return span


def _kind(unit: Mapping[str, Any], attributes: Mapping[str, Any], name: str) -> str:
    said = _first(attributes, _KIND)
    if said is None:
        said = _first(unit, ("run_type", "span_kind", "kind", "type"))
    if unit.get("object") == "trace.span":
        said = attributes.get("type")
    kind = _KINDS.get(str(said).lower())
    if kind is not None:
        return kind
    if "span" in unit and not attributes and said is not None and str(said).lower() != OTHER:
        raise TraceError(
            f"span {unit['span']!r} has the kind {said!r}; a plain span is 'retriever', 'reranker', 'tool', 'model' or "
            "'other'"
        )
    if name == "haystack.component.run":
        given = parsed(attributes.get("haystack.component.input")) or {}
        made = parsed(attributes.get("haystack.component.output"))
        documents = isinstance(made, dict) and "documents" in made
        if "documents" in given:
            return RERANKER if documents else OTHER
        if "query" in given or "query_embedding" in given:
            return RETRIEVER if documents or _error(unit, attributes) is not None else OTHER
        return MODEL if isinstance(made, dict) and "replies" in made else OTHER
    return _KINDS.get(name, OTHER) if name.startswith("haystack.") else OTHER


def _error(unit: Mapping[str, Any], attributes: Mapping[str, Any], output: Any = None) -> str | None:
    status = unit.get("status")
    said: Any = None
    if isinstance(status, dict):
        if "ERROR" in str(status.get("status_code", status.get("code", ""))) or status.get("code") == _OTLP_ERROR:
            said = (
                status.get("description") or status.get("message") or _exception(unit) or attributes.get("error.type")
            )
            return str(said or "failed without a message")
    elif str(unit.get("status_code", "")).upper() == "ERROR" or unit.get("level") == "ERROR":
        return str(unit.get("status_message") or unit.get("statusMessage") or "failed without a message")
    said = unit.get("error") or attributes.get("ERROR")
    if isinstance(said, dict):
        said = said.get("message")
    if said is None and isinstance(output, dict) and list(output) == ["error"]:  # a failed tool of Haystack
        said = output["error"]
    return None if said is None else str(said)


def _exception(unit: Mapping[str, Any]) -> str | None:
    for event in unit.get("events") or ():
        said = event.get("attributes") or {} if isinstance(event, dict) else {}
        if isinstance(said, dict) and "exception.message" in said:
            return f"{str(said.get('exception.type', 'error')).rpartition('.')[2]}: {said['exception.message']}"
    return None


def _documents(attributes: Mapping[str, Any], output: Any) -> tuple[list[Any] | None, str]:
    """Return the documents that stand in attributes of their own, and why they are not all there."""
    if isinstance(listed := parsed(attributes.get("retrieval.documents")), list):
        return listed, ""
    if "retrieval.documents.0.document.id" not in attributes and isinstance(output, str) and '"page_content"' in output:
        return None, ""  # of LangChain: the attributes have no ids, the output has
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith("retrieval.documents.") and (match := _DOCUMENT.fullmatch(key)):
            found.setdefault(int(match[1]), {})[match[2]] = value
    if not found:
        return None, ""
    if sorted(found) != list(range(len(found))):
        return None, f"documents {min(found)} to {max(found)} are {len(found)} of the documents"
    return [found[at] for at in range(len(found))], ""


def _otlp(one: Mapping[str, Any]) -> TraceSpan:
    attributes = {entry["key"]: _otlp_value(entry.get("value") or {}) for entry in one.get("attributes", ())}
    unit = {
        **{key: one.get(key) for key in ("name", "status", "droppedAttributesCount")},
        "trace": one.get("traceId"),
        "span": one.get("spanId"),
        "parent": one.get("parentSpanId") or None,
        "start": int(one.get("startTimeUnixNano", 0)),
        "end": int(one.get("endTimeUnixNano", 0)),
    }
    return _span(
        unit, {key: parsed(value) if key.startswith("mlflow.") else value for key, value in attributes.items()}
    )


def _otlp_value(value: Mapping[str, Any]) -> Any:
    for kind, held in value.items():
        if kind == "arrayValue":
            return [_otlp_value(each) for each in held.get("values", ())]
        if kind == "kvlistValue":
            return {each["key"]: _otlp_value(each.get("value") or {}) for each in held.get("values", ())}
        return int(held) if kind == "intValue" else held
    return None


def _first(values: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if (found := values.get(key)) is not None:
            return found
    return None


def seconds(at: Any) -> float:
    """Return a time in seconds: from a text, a number of nanoseconds or of seconds, or a datetime."""
    if isinstance(at, str):
        at = datetime.fromisoformat(at)
    if isinstance(at, datetime):
        return at.timestamp()
    if at is None:
        return 0.0
    return float(at) / 1e9 if at > 1e15 else float(at)  # noqa: PLR2004  (no clock counts that many seconds)

"""Read spans from every form in which traces are kept, by the names that each form has for the parts of a span."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.traces.payload_decoding import FlattenedList, decode_payload
from retrieval_metrics.traces.span_payloads import find_failure
from retrieval_metrics.traces.trace_span import (
    MODEL,
    OTHER,
    RERANKER,
    RETRIEVER,
    TOOL,
    UNKNOWN_KIND,
    SpanFields,
    TraceError,
    TraceSpan,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# The names of each part in all forms; the first with a value counts. Names with a dot are attributes, the others stand
# beside the attributes.
PART_NAMES = {
    "trace": ("trace", "trace_id", "traceId", "context.trace_id"),
    "id": ("span", "span_id", "spanId", "context.span_id", "id"),
    "parent": ("parent", "parent_id", "parent_span_id", "parentSpanId", "parent_run_id", "parentObservationId"),
    "kind": (
        "openinference.span.kind", "gen_ai.operation.name", "langfuse.observation.type", "mlflow.spanType",
        "traceloop.span.kind", "run_type", "span_kind", "kind", "type",
    ),
    "name": ("tool.name", "gen_ai.tool.name", "haystack.tool.name", "traceloop.entity.name", "name"),
    "start": ("start", "start_time", "start_time_unix_nano", "startTimeUnixNano", "started_at", "startTime"),
    "end": ("end", "end_time", "end_time_unix_nano", "endTimeUnixNano", "ended_at", "endTime"),
    "input": (
        "input", "inputs", "input.value", "gen_ai.retrieval.query.text", "gen_ai.tool.call.arguments",
        "gen_ai.input.messages", "langfuse.observation.input", "mlflow.spanInputs", "haystack.agent.step.tool.input",
        "haystack.tool.input", "haystack.agent.step.llm.input", "haystack.component.input", "haystack.agent.input",
        "traceloop.entity.input",
    ),
    "output": (
        "output", "outputs", "output.value", "gen_ai.retrieval.documents", "gen_ai.tool.call.result",
        "gen_ai.output.messages", "langfuse.observation.output", "mlflow.spanOutputs",
        "haystack.agent.step.tool.output", "haystack.tool.result", "haystack.agent.step.llm.output",
        "haystack.component.output", "haystack.agent.output", "traceloop.entity.output",
    ),
    "call": ("call", "tool_call_id", "gen_ai.tool.call.id", "tool_call.id"),
    "status": ("status_code", "level"),
    "failure": ("status_message", "statusMessage", "error.type"),
    "error": ("error",),
    "outcome": ("status",),
    "events": ("events",),
    "dropped": ("droppedAttributesCount", "dropped_attributes_count"),
}  # fmt: skip
# Objects with further fields of a span beside its attributes: of OpenTelemetry, LangSmith and the OpenAI Agents SDK.
NESTED_FIELDS = ("context", "extra", "span_data")
# The kinds of spans, as each form calls them in any case of letters; any other is unknown.
KINDS = {
    **dict.fromkeys(("retriever", "retrieval", "vector_db_retrieve"), RETRIEVER),
    "reranker": RERANKER,
    **dict.fromkeys(("tool", "function", "execute_tool"), TOOL),
    **dict.fromkeys(("llm", "model", "chat_model", "generation", "response", "chat", "generate_content"), MODEL),
    "text_completion": MODEL,
    **dict.fromkeys(("other", "event", "chain", "workflow", "invoke_workflow"), OTHER),
    **dict.fromkeys(("agent", "invoke_agent", "create_agent", "handoff", "task", "execute_task", "turn"), OTHER),
    **dict.fromkeys(("embedding", "embeddings", "prompt", "parser", "memory", "guardrail", "evaluator"), OTHER),
    **dict.fromkeys(("mcp_tools", "speech", "speech_group", "transcription"), OTHER),
    **dict.fromkeys(("unknown", "span", "custom"), UNKNOWN_KIND),
}
# The kinds of OpenTelemetry itself, which say nothing about retrieval.
OTEL_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer", "0", "1", "2", "3", "4", "5")
for _prefix in ("", "span_kind_", "spankind."):
    KINDS |= {f"{_prefix}{kind}": UNKNOWN_KIND for kind in OTEL_KINDS}
# The kinds of spans of Haystack and OpenAI that only the name of the span tells; components of Haystack are told by
# their inputs and outputs instead, see `_kind_of_component`.
KINDS_BY_NAME = {
    "haystack.agent.step.tool": TOOL,
    "haystack.tool.run": TOOL,
    "haystack.agent.step.llm": MODEL,
    "turn": OTHER,
    "task": OTHER,
}
# Objects that are often passed as spans but are not, by a key that they have; messages say what they are.
NO_SPANS = {
    "tags": "a span of Haystack's tracer; add its trace, its start and its end, or record with the integration",
    "event": "an event of callbacks, not a span; record with the integration for LangChain",
}
HAYSTACK_COMPONENT = "haystack.component.run"
# The prefixes of the attributes in which OpenInference lists documents.
DOCUMENT_LIST_PREFIXES = {RETRIEVER: "retrieval.documents", RERANKER: "reranker.output_documents"}
# The prefixes of the attributes in which MLflow and the OpenTelemetry exporters of Langfuse keep one entry of metadata.
METADATA_PREFIXES = ("langfuse.trace.metadata.", "langfuse.observation.metadata.", "metadata.")
# The status code by which OTLP says that a span failed.
OTLP_ERROR = 2
NO_MESSAGE = "failed without a message"


class TimeUnit(NamedTuple):
    """A unit of times since 1970."""

    min_time: float
    per_second: float


# Nanoseconds, microseconds and milliseconds, told by the size of the number.
TIME_UNITS = (TimeUnit(1e17, 1e9), TimeUnit(1e14, 1e6), TimeUnit(1e11, 1e3))


def read_spans(record: object) -> Iterator[TraceSpan]:
    """Yield the spans of one object of a file: a span, a whole trace, or an export of many."""
    if not isinstance(record, dict):
        raise TraceError(f"a trace must hold spans as objects, got {record!r:.80} ({type(record).__name__})")
    if not isinstance(record.get("attributes"), dict):  # the usual form comes first: files hold many of them
        inner_records = _find_inner_records(record)
        if inner_records is not None:
            for inner_record in inner_records:
                yield from read_spans(inner_record)
            return
    yield _read_span(record)


def _find_inner_records(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the spans of a whole trace, or of an export of many; None if it is a span."""
    if "resourceSpans" in record:
        return list(_collector_spans(record))
    if record.get("object") == "trace":  # of the OpenAI Agents SDK: a heading
        return []
    observations = record.get("observations")
    if isinstance(observations, list):  # of Langfuse's API
        return observations
    mlflow_trace = decode_payload(record.get("trace"))
    if isinstance(mlflow_trace, dict):  # a row of mlflow.search_traces
        return [mlflow_trace]
    if isinstance(record.get("data"), dict) and "spans" in record["data"]:
        return _mlflow_spans(record)
    return None


def _collector_spans(export: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the spans of an export of OpenTelemetry, in the form of today and of before 2022."""
    try:
        for resource in export["resourceSpans"]:
            for name in ("scopeSpans", "instrumentationLibrarySpans"):
                for scope in resource.get(name) or ():
                    yield from scope.get("spans") or ()
    except (TypeError, AttributeError):
        raise TraceError("resourceSpans must hold lists of objects, as a collector of OpenTelemetry writes") from None


def _mlflow_spans(trace: Mapping[str, Any]) -> list[Any]:
    info = trace.get("info")
    spans = trace["data"]["spans"]
    trace_id = info.get("trace_id") if isinstance(info, dict) else None
    if not isinstance(spans, list):
        raise TraceError(f"the spans of a trace of MLflow are a list, got {spans!r:.80}")
    return [span | {"trace": trace_id} if isinstance(span, dict) else span for span in spans]


def _read_span(record: Mapping[str, Any]) -> TraceSpan:
    fields = SpanFields(_read_own_fields(record), _read_attributes(record))
    span_id = _find_part(fields, "id")
    trace_id = _find_part(fields, "trace")
    parent_id = _find_part(fields, "parent")
    name = str(fields.own.get("name") or "")
    if span_id is None or trace_id is None:
        raise TraceError(
            "a span needs an ID and a trace, as in {'trace': 't1', 'span': 's1', 'parent': None, 'kind': 'retriever'}; "
            f"{_describe_other_record(record)}"
        )
    is_plain = "span" in record and not fields.attributes
    kind = _read_kind(_find_part(fields, "kind"), name, str(span_id), is_plain=is_plain)
    span = TraceSpan(str(trace_id), str(span_id), str(parent_id) if parent_id else None, kind, name, fields=fields)
    # Steps of other kinds matter only by their place, so their contents are not read.
    is_informative = kind not in {OTHER, UNKNOWN_KIND}
    if is_informative or span.parent is None or name == HAYSTACK_COMPONENT or "output" in fields.own:
        _fill(span)
    return span


def _find_part(fields: SpanFields, part: str) -> Any:
    """Return a part of a span by the first of its names that has a value; None if none has."""
    for name in PART_NAMES[part]:
        value = (fields.attributes if "." in name else fields.own).get(name)
        if value is not None:
            return value
    return None


def _describe_other_record(record: Mapping[str, Any]) -> str:
    """Describe an object without the ids of a span: what it probably is, or which keys it has."""
    for key, description in NO_SPANS.items():
        if key in record:
            return f"this is {description}"
    return f"this one has {', '.join(map(repr, record)) or 'nothing'}"


def _read_kind(form_kind: Any, name: str, span_id: str, *, is_plain: bool) -> str:
    """Return the kind of a span; a kind that is not known is returned as the form calls it."""
    kind = UNKNOWN_KIND if form_kind is None else KINDS.get(str(form_kind).lower())
    if kind in {None, OTHER, UNKNOWN_KIND}:
        kind = KINDS_BY_NAME.get(name, kind)
    if kind is not None:
        return kind
    if is_plain:
        raise TraceError(
            f"span {span_id!r} has the kind {form_kind!r}; a plain span is 'retriever', 'reranker', 'tool', 'model' or "
            "'other'"
        )
    return str(form_kind)


def _fill(span: TraceSpan) -> None:
    """Add to a span when it ran, and what went in and came out."""
    fields = span.fields
    try:
        span.start = parse_seconds(_find_part(fields, "start"))
        span.end = parse_seconds(_find_part(fields, "end"))
    except (TypeError, ValueError) as error:
        raise TraceError(f"the time of {span.label} cannot be read: {error}") from None
    span.end = span.end or span.start
    is_start_unset = span.start == 0 and span.end >= MIN_SECONDS_SINCE_1970
    if is_start_unset or _find_part(fields, "start") is None:
        span.start = span.end  # else it would have begun in 1970
    span.input = _find_part(fields, "input")
    span.output = _find_part(fields, "output")
    span.dropped = _find_part(fields, "dropped") or 0
    span.error = _find_error(fields, span.output)
    if span.name == HAYSTACK_COMPONENT:
        span.kind = _kind_of_component(span)
    if span.kind == TOOL:
        span.name = str(_find_part(fields, "name") or "")
        call_id = _find_part(fields, "call")
        if call_id is not None:
            span.call = str(call_id)
    elif span.kind in DOCUMENT_LIST_PREFIXES:
        span.flattened_documents = _find_flattened_documents(span)
    elif span.kind == MODEL and any(name.startswith("llm.") for name in fields.attributes):
        span.input = FlattenedList(fields.attributes, "llm.input_messages", span.input, keep_flat=True)
        span.output = FlattenedList(fields.attributes, "llm.output_messages", span.output)


def _find_flattened_documents(span: TraceSpan) -> FlattenedList | None:
    """Return the list of documents in the attributes; None if their ids stand in the output alone, as LangChain's."""
    attributes = span.fields.attributes
    prefix = DOCUMENT_LIST_PREFIXES[span.kind]
    has_ids = prefix in attributes or f"{prefix}.0.document.id" in attributes
    is_langchain_output = isinstance(span.output, str) and '"page_content"' in span.output
    if is_langchain_output and not has_ids:
        return None
    return FlattenedList(attributes, prefix)


def _read_own_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a span that are not attributes."""
    own: dict[str, Any] = {}
    for key in NESTED_FIELDS:
        nested = record.get(key)
        if isinstance(nested, dict):
            own |= nested
    own |= record
    status = record.get("status")
    if isinstance(status, dict):
        own["status_code"] = status.get("status_code", status.get("code"))
        own["status_message"] = status.get("description") or status.get("message")
    return own


def _read_attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    attributes = record.get("attributes", record.get("tags"))
    if isinstance(attributes, list):
        attributes = _decode_otlp_attributes(attributes, record.get("spanId"))
    if not isinstance(attributes, dict):  # a row of a frame of Phoenix
        return {name.removeprefix("attributes."): value for name, value in record.items() if "." in name}
    if "mlflow.spanType" in attributes:  # MLflow writes every attribute as JSON
        return {name: decode_payload(value) for name, value in attributes.items()}
    return attributes


def _decode_otlp_attributes(otlp_attributes: list[Any], span_id: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    try:
        for attribute in otlp_attributes:
            if isinstance(attribute, dict) and "key" in attribute:  # tags of LangSmith are texts
                attributes[str(attribute["key"])] = _decode_otlp_value(attribute.get("value") or {})
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TraceError(
            f"the attributes of span {span_id!r} cannot be read: {otlp_attributes!r:.80}; "
            "{'key': 'a', 'value': {'stringValue': 'b'}} is one"
        ) from None
    return attributes


def _decode_otlp_value(otlp_value: Mapping[str, Any]) -> Any:
    for value_type, value in otlp_value.items():
        if value_type == "arrayValue":
            return [_decode_otlp_value(element) for element in value.get("values", ())]
        if value_type == "kvlistValue":
            return {pair["key"]: _decode_otlp_value(pair.get("value") or {}) for pair in value.get("values", ())}
        if value_type == "intValue":  # OTLP writes integers as text
            return int(value)
        return value
    return None


def _kind_of_component(span: TraceSpan) -> str:
    """Return the kind of a component of Haystack, by its inputs and outputs."""
    inputs = decode_payload(span.input) or {}
    outputs = decode_payload(span.output)
    returns_documents = isinstance(outputs, dict) and "documents" in outputs
    if "documents" in inputs:
        return RERANKER if returns_documents else OTHER
    if "query" in inputs or "query_embedding" in inputs:
        return RETRIEVER if returns_documents or span.error is not None else OTHER
    if isinstance(outputs, dict) and "replies" in outputs:
        return MODEL
    return OTHER


def _find_error(fields: SpanFields, output: Any) -> str | None:
    """Return why a span failed; None if it did not."""
    status = _find_part(fields, "status")
    if "ERROR" in str(status).upper() or status == OTLP_ERROR:
        return _find_exception(fields) or str(_find_part(fields, "failure") or NO_MESSAGE)
    error = _find_part(fields, "error")
    if error is None and str(_find_part(fields, "outcome")).upper() == "ERROR":
        error = NO_MESSAGE
    if isinstance(error, dict):
        error = error.get("message") or (str(error) if error else None)
    return str(error) if error else find_failure(output)


def _find_exception(fields: SpanFields) -> str | None:
    """Return the class and the message of the exception that an event of a span holds."""
    for event in decode_payload(_find_part(fields, "events")) or ():
        attributes = event.get("attributes") if isinstance(event, dict) else None
        if isinstance(attributes, dict) and "exception.message" in attributes:
            class_name = str(attributes.get("exception.type", "error")).rpartition(".")[2]
            return f"{class_name}: {attributes['exception.message']}"
    return None


def span_metadata(span: TraceSpan) -> dict[str, Any]:
    """Return the metadata of a span, wherever its tool keeps them."""
    own, attributes = span.fields
    metadata: dict[str, Any] = {}
    for fields in (attributes, own):
        nested = decode_payload(fields.get("metadata"))
        if isinstance(nested, Mapping):
            metadata |= nested
    for prefix in METADATA_PREFIXES:
        for name, value in attributes.items():
            if name.startswith(prefix):
                metadata[name.removeprefix(prefix)] = decode_payload(value)
    return metadata


# A clock that begins at 0 with the trace does not reach it; where times are dates, 0 stands for an unknown one.
MIN_SECONDS_SINCE_1970 = 1e8


def parse_seconds(time: Any) -> float:
    """Return a time in seconds: from a text, a datetime, or a number since 1970 in a unit that its size tells."""
    if isinstance(time, str) and time:
        time = int(time) if time.isdigit() else datetime.fromisoformat(time)
    if isinstance(time, datetime):
        return time.timestamp()
    if time is None or time == "":
        return 0.0
    number: Any = time
    if not isinstance(time, Real) or not abs(number) <= sys.float_info.max:
        raise ValueError(f"{time} is not a time")
    for unit in TIME_UNITS:
        if number >= unit.min_time:
            return float(number / unit.per_second)
    return float(number)

"""The forms in which traces are kept: what each calls the parts of a span, and where its spans are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retrieval_metrics.agents.trace_span import (
    MODEL,
    OTHER,
    RERANKER,
    RETRIEVER,
    TOOL,
    UNKNOWN_KIND,
    FlattenedList,
    TraceError,
    TraceSpan,
    decode_payload,
    find_failure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTS = {
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
"""The names of each part in every form, first those that count: with a dot in the attributes, else beside them."""
BESIDE = ("context", "extra", "span_data")
"""Objects with more of a span, beside its attributes: of OpenTelemetry, LangSmith and the OpenAI Agents SDK."""
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
    **{  # what OpenTelemetry itself calls a kind
        f"{before}{kind}": UNKNOWN_KIND
        for before in ("", "span_kind_", "spankind.")
        for kind in ("unspecified", "internal", "server", "client", "producer", "consumer", *"012345")
    },
}
"""The kinds of spans, as each form calls them in any case of letters; any other is unknown."""
BY_NAME = {"haystack.agent.step.tool": TOOL, "haystack.tool.run": TOOL, "haystack.agent.step.llm": MODEL}
BY_NAME |= {"turn": OTHER, "task": OTHER}
"""The kinds that only names tell: of Haystack, whose components are told by what goes in and comes out, and OpenAI."""
NO_SPANS = {
    "tags": "a span of Haystack's tracer; add its trace, its start and its end, or record with the integration",
    "event": "an event of callbacks, not a span; record with the integration for LangChain",
}
"""What is taken for spans, by a key that it has."""
COMPONENT = "haystack.component.run"
LISTED = {RETRIEVER: "retrieval.documents", RERANKER: "reranker.output_documents"}
"""What the names of attributes begin with in which OpenInference lists documents."""
OTLP_ERROR = 2
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on a time is in nanoseconds, in microseconds and in milliseconds, and how many make a second."""


def read_spans(unit: Any) -> Iterator[TraceSpan]:
    """Yield the spans of one object of a file: a span, a whole trace, or an export of many."""
    if not isinstance(unit, dict):
        raise TraceError(f"a trace must hold spans as objects, got {unit!r:.80} ({type(unit).__name__})")
    if not isinstance(unit.get("attributes"), dict):  # the usual form comes first: files hold many of them
        inner = _inside(unit)
        if inner is not None:
            for one in inner:
                yield from read_spans(one)
            return
    yield _span(unit)


def _inside(unit: Mapping[str, Any]) -> list[Any] | None:
    """Return the spans of a whole trace, or of an export of many; None if it is a span."""
    if "resourceSpans" in unit:
        return list(_of_collector(unit))
    if unit.get("object") == "trace":  # of the OpenAI Agents SDK: a heading
        return []
    if isinstance(unit.get("observations"), list):  # of Langfuse's API
        observations: list[Any] = unit["observations"]
        return observations
    if isinstance(trace := decode_payload(unit.get("trace")), dict):  # a row of mlflow.search_traces
        return [trace]
    if isinstance(unit.get("data"), dict) and "spans" in unit["data"]:  # a trace of MLflow
        info, spans = unit.get("info"), unit["data"]["spans"]
        name = info.get("trace_id") if isinstance(info, dict) else None
        if not isinstance(spans, list):
            raise TraceError(f"the spans of a trace of MLflow are a list, got {spans!r:.80}")
        return [one | {"trace": name} if isinstance(one, dict) else one for one in spans]
    return None


def _of_collector(unit: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the spans of an export of OpenTelemetry, in the form of today and of before 2022."""
    try:
        for resource in unit["resourceSpans"]:
            for name in ("scopeSpans", "instrumentationLibrarySpans"):
                for scope in resource.get(name) or ():
                    yield from scope.get("spans") or ()
    except (TypeError, AttributeError):
        raise TraceError("resourceSpans must hold lists of objects, as a collector of OpenTelemetry writes") from None


def _span(unit: Mapping[str, Any]) -> TraceSpan:
    own, attributes = _own(unit), _attributes(unit)

    def part(name: str) -> Any:
        for key in PARTS[name]:
            found = (attributes if "." in key else own).get(key)
            if found is not None:
                return found
        return None

    id_, trace, parent, name = part("id"), part("trace"), part("parent"), str(own.get("name") or "")
    if id_ is None or trace is None:
        said = next((f"this is {what}" for key, what in NO_SPANS.items() if key in unit), None)
        there = f"this one has {', '.join(map(repr, unit)) or 'nothing'}"
        raise TraceError(
            "a span needs an id and a trace, as in {'trace': 't1', 'span': 's1', 'parent': None, 'kind': 'retriever'}; "
            f"{said or there}"
        )
    plain = "span" in unit and not attributes
    kind = _kind(part("kind"), name, str(id_), plain=plain)
    span = TraceSpan(str(trace), str(id_), str(parent) if parent else None, kind, name, root=(own, attributes))
    # Of a step between the others, only its place counts.
    if kind not in {OTHER, UNKNOWN_KIND} or span.parent is None or name == COMPONENT or "output" in own:
        _fill(span, part)
    return span


def _kind(said: Any, name: str, id_: str, *, plain: bool) -> str:
    """Return the kind of a span, an unknown one as the form calls it."""
    kind = UNKNOWN_KIND if said is None else KINDS.get(str(said).lower())
    if kind in {None, OTHER, UNKNOWN_KIND}:
        kind = BY_NAME.get(name, kind)
    if kind is None and plain:
        raise TraceError(
            f"span {id_!r} has the kind {said!r}; a plain span is 'retriever', 'reranker', 'tool', 'model' or 'other'"
        )
    return str(said) if kind is None else kind


def _fill(span: TraceSpan, part: Callable[[str], Any]) -> None:
    """Add to a span when it ran, and what went in and came out."""
    try:
        span.start, span.end = seconds(part("start")), seconds(part("end"))
    except (TypeError, ValueError) as error:
        raise TraceError(f"the time of {span.label} cannot be read: {error}") from None
    span.end = span.end or span.start
    span.input, span.output, span.dropped = part("input"), part("output"), part("dropped") or 0
    span.error = _error(part, span.output)
    if span.name == COMPONENT:
        span.kind = _kind_of_component(span)
    _, attributes = span.root
    if span.kind == TOOL:
        span.name = str(part("name") or "")
        span.call = None if (call := part("call")) is None else str(call)
    elif (name := LISTED.get(span.kind)) is not None:
        with_ids = name in attributes or f"{name}.0.document.id" in attributes
        # Those of LangChain have ids in the output alone.
        if with_ids or not (isinstance(span.output, str) and '"page_content"' in span.output):
            span.listed = FlattenedList(attributes, name)
    elif span.kind == MODEL and any(key.startswith("llm.") for key in attributes):
        span.input = FlattenedList(attributes, "llm.input_messages", span.input, keep_flat=True)
        span.output = FlattenedList(attributes, "llm.output_messages", span.output)


def _own(unit: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands beside the attributes of a span."""
    own: dict[str, Any] = {}
    for key in BESIDE:
        if isinstance(more := unit.get(key), dict):
            own |= more
    own |= unit
    if isinstance(status := unit.get("status"), dict):
        own["status_code"] = status.get("status_code", status.get("code"))
        own["status_message"] = status.get("description") or status.get("message")
    return own


def _attributes(unit: Mapping[str, Any]) -> dict[str, Any]:
    found = unit.get("attributes", unit.get("tags"))
    if isinstance(found, list):  # of OTLP; tags of LangSmith are texts
        said = [one for one in found if isinstance(one, dict) and "key" in one]
        try:
            found = {str(one["key"]): _otlp_value(one.get("value") or {}) for one in said}
        except (AttributeError, KeyError, TypeError, ValueError):
            there = f"{unit.get('spanId')!r} cannot be read: {found!r:.80}"
            raise TraceError(
                f"the attributes of span {there}; {{'key': 'a', 'value': {{'stringValue': 'b'}}}} is one"
            ) from None
    if not isinstance(found, dict):  # a row of a frame of Phoenix
        return {key.removeprefix("attributes."): value for key, value in unit.items() if "." in key}
    if "mlflow.spanType" in found:  # MLflow writes every attribute as JSON
        return {key: decode_payload(value) for key, value in found.items()}
    return found


def _otlp_value(value: Mapping[str, Any]) -> Any:
    for kind, held in value.items():
        if kind == "arrayValue":
            return [_otlp_value(each) for each in held.get("values", ())]
        if kind == "kvlistValue":
            return {each["key"]: _otlp_value(each.get("value") or {}) for each in held.get("values", ())}
        return int(held) if kind == "intValue" else held
    return None


def _kind_of_component(span: TraceSpan) -> str:
    """Return what a component of Haystack is, by what goes in and comes out."""
    given, made = decode_payload(span.input) or {}, decode_payload(span.output)
    documents = isinstance(made, dict) and "documents" in made
    if "documents" in given:
        return RERANKER if documents else OTHER
    if "query" in given or "query_embedding" in given:
        return RETRIEVER if documents or span.error is not None else OTHER
    return MODEL if isinstance(made, dict) and "replies" in made else OTHER


def _error(part: Callable[[str], Any], output: Any) -> str | None:
    """Return why a span failed; None if it did not."""
    status = part("status")
    if "ERROR" in str(status).upper() or status == OTLP_ERROR:
        events = [one.get("attributes") for one in decode_payload(part("events")) or () if isinstance(one, dict)]
        raised = next((said for said in events if isinstance(said, dict) and "exception.message" in said), None)
        if raised is None:
            return str(part("failure") or "failed without a message")
        return f"{str(raised.get('exception.type', 'error')).rpartition('.')[2]}: {raised['exception.message']}"
    said = part("error")
    if said is None and str(part("outcome")).upper() == "ERROR":
        said = "failed without a message"
    if isinstance(said, dict):
        said = said.get("message") or (str(said) if said else None)
    return str(said) if said else find_failure(output)


def span_metadata(span: TraceSpan) -> dict[str, Any]:
    """Return the metadata of a span, wherever its tool keeps them."""
    own, attributes = span.root
    found: dict[str, Any] = {}
    for held in (attributes, own):
        if isinstance(said := decode_payload(held.get("metadata")), Mapping):
            found |= said
    for before in ("langfuse.trace.metadata.", "langfuse.observation.metadata.", "metadata."):
        found |= {
            key.removeprefix(before): decode_payload(at) for key, at in attributes.items() if key.startswith(before)
        }
    return found


def seconds(at: Any) -> float:
    """Return a time in seconds: from a text, a datetime, or a number since 1970 in a unit that its size tells."""
    if isinstance(at, str):
        at = int(at) if at.isdigit() else datetime.fromisoformat(at)
    if isinstance(at, datetime):
        return at.timestamp()
    if at is None:
        return 0.0
    if not math.isfinite(at):
        raise ValueError(f"{at} is no time")
    return next((at / each for least, each in UNITS if at >= least), float(at))

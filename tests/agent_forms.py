"""The scenarios of agents in forms that are written here: other lists of messages, and spans of traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_scenarios import CUT, FAILS, TEXTS, ids_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import retrieval_metrics as rm
    from agent_scenarios import Scenario

Messages = list[dict[str, Any]]


def _parts(message: dict[str, Any]) -> tuple[str, list[tuple[str, str, Any]]]:
    """Return the text of a message of OpenAI's chat, and id, name and arguments of its calls."""
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    return message.get("content") or "", [(id_, call["name"], json.loads(call["arguments"])) for id_, call in calls]


def haystack(messages: Messages) -> Messages:
    """Return the `to_dict` of chat messages of Haystack."""
    converted: Messages = []
    origins: dict[str, dict[str, Any]] = {}
    for message in messages:
        text, calls = _parts(message)
        origins |= {id_: {"id": id_, "tool_name": name, "arguments": arguments} for id_, name, arguments in calls}
        content: list[Any] = [{"tool_call": origins[id_]} for id_, *_ in calls]
        if message["role"] == "tool":
            failed = text.startswith('{"error"')
            result = json.loads(text)["error"] if failed else text
            content = [
                {"tool_call_result": {"result": result, "origin": origins[message["tool_call_id"]], "error": failed}}
            ]
        elif text:
            content.append({"text": text})
        converted.append({"role": message["role"], "meta": {}, "name": None, "content": content})
    return converted


def otel_messages(messages: Messages) -> Messages:
    """Return messages as OpenTelemetry's conventions for GenAI write them."""
    converted: Messages = []
    for message in messages:
        text, calls = _parts(message)
        parts: list[Any] = [
            {"type": "tool_call", "id": i, "name": n, "arguments": arguments} for i, n, arguments in calls
        ]
        if message["role"] == "tool":
            parts = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": text}]
        elif text:
            parts.append({"type": "text", "content": text, "annotations": message.get("annotations", [])})
        converted.append({"role": message["role"], "parts": parts})
    return converted


def llama_index_memory(messages: Messages) -> Messages:
    """Return chat messages of LlamaIndex, as its memory keeps them."""
    converted: Messages = []
    for message in messages:
        additional = {key: message[key] for key in ("tool_calls", "tool_call_id", "annotations") if key in message}
        text = message.get("content") or ""
        blocks = [{"block_type": "text", "text": text}] if text else []
        converted.append({"role": message["role"], "additional_kwargs": additional, "blocks": blocks})
    return converted


def google(messages: Messages) -> Messages:
    """Return contents of Google's API, whose calls have no ids; the results of a turn are one message."""
    converted: Messages = []
    names: dict[str, str] = {}
    for message in messages:
        text, calls = _parts(message)
        names |= {id_: name for id_, name, _ in calls}
        parts: list[Any] = [{"functionCall": {"name": name, "args": arguments}} for _, name, arguments in calls]
        if message["role"] == "tool":
            decoded = json.loads(text)
            response = decoded if isinstance(decoded, dict) else {"result": decoded}
            part = {"functionResponse": {"name": names[message["tool_call_id"]], "response": response}}
            if converted[-1]["role"] == "user" and "functionResponse" in converted[-1]["parts"][0]:
                converted[-1]["parts"].append(part)
                continue
            parts = [part]
        elif text:
            parts.append({"text": text, "citations": message.get("annotations", [])})
        converted.append({"role": "model" if message["role"] == "assistant" else "user", "parts": parts})
    return converted


def run_items(items: Messages) -> Messages:
    """Return the items of a run of the OpenAI Agents SDK, which wrap those of the Responses API."""
    kinds = {"function_call": "tool_call_item", "function_call_output": "tool_call_output_item"}
    return [
        item
        if item.get("role") == "user"
        else {"type": kinds.get(item["type"], "message_output_item"), "raw_item": item}
        for item in items
    ]


WRITTEN: dict[str, tuple[Any, str]] = {
    "haystack": (haystack, "openai_chat"),
    "otel_messages": (otel_messages, "openai_chat"),
    "llama_index_memory": (llama_index_memory, "openai_chat"),
    "google": (google, "openai_chat"),
    "openai_run_items": (run_items, "openai_responses"),
}
"""Forms of messages, each with what writes it and the recording that it is written from."""
RECORDED = Path(__file__).parent / "traces" / "conversations"
MESSAGES: dict[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["conversations"] for path in sorted(RECORDED.glob("*.json"))
}
"""The scenarios in each form: as libraries have kept them, and as others write what these have kept."""
for _form, (_write, _recorded_form) in WRITTEN.items():
    MESSAGES[_form] = {name: _write(messages) for name, messages in MESSAGES[_recorded_form].items()}

D1 = [{"id": "d1", "text": TEXTS["d1"]}]


def chat(*turns: Any) -> list[dict[str, Any]]:
    """Return messages of a chat: texts of the user, lists of calls (id and query), and results (id and content)."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if isinstance(turn, str):
            messages.append({"role": "user", "content": turn})
        elif isinstance(turn, list):
            calls = [{"id": id_, "function": {"name": "search", "arguments": {"query": q}}} for id_, q in turn]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        else:
            id_, content = turn
            messages.append({"role": "tool", "content": content} | ({} if id_ is None else {"tool_call_id": id_}))
    return messages


def _steps(scenario: Scenario) -> Iterator[tuple[str, float, Any, Any]]:
    """Yield models and searches: kind, start, input and output; that of a model is its calls or blocks."""
    time = 0.0
    read = ["Which letter comes when?"]
    turns: list[Any] = [*scenario.turns, *([None] if scenario.blocks else [])]
    for turn in turns:
        time += 1
        yield "model", time, "\n".join(read), scenario.blocks if turn is None else [search.query for search in turn]
        for number, search in enumerate(turn or ()):
            yield search.tool, time + 0.2 + number / 10, search.query, search.found
            read.append(f"[{number}] {search.found}" if isinstance(search.found, str) else json.dumps(search.found))


def plain_spans(scenario: Scenario) -> list[dict[str, Any]]:
    """Return spans in our own form."""
    spans: list[dict[str, Any]] = [{"trace": "t", "span": "0", "parent": None, "kind": "other"}]
    for number, (kind, start, payload, result) in enumerate(_steps(scenario), start=1):
        span = {"trace": "t", "span": str(number), "parent": "0", "name": kind, "start": start, "input": payload}
        if kind != "model":
            failed = result in (FAILS, CUT)
            spans.append({**span, "kind": "retriever"} | ({"error": result} if failed else {"output": result}))
            continue
        output: dict[str, Any] = {"content": [], "tool_calls": []}
        if isinstance(result, list):
            output["tool_calls"] = [
                {"id": f"c{q}{n}", "name": "search", "args": {"query": q}} for n, q in enumerate(result)
            ]
        else:
            output["content"] = [
                {"type": "text", "text": text, "citations": [{"source": source}] if source else None}
                for text, source in result
            ]
        spans.append({**span, "kind": "model", "end": start + 0.1, "output": output})
    return spans


def openinference(scenario: Scenario) -> list[dict[str, Any]]:
    """Return spans of OpenInference: what a model has read and said, and what was found, are attributes."""
    spans: list[dict[str, Any]] = []
    for span in plain_spans(scenario):
        kind = {"retriever": "RETRIEVER", "model": "LLM", "other": "AGENT"}[span["kind"]]
        attributes: dict[str, Any] = {"openinference.span.kind": kind}
        output: Any = span.get("output")
        if kind == "RETRIEVER":
            attributes["input.value"] = span["input"]
            for n, document in enumerate(output or ()):
                named = {"id": document.get("id"), "content": document["text"]}
                attributes |= {
                    f"retrieval.documents.{n}.document.{key}": v for key, v in named.items() if v is not None
                }
            attributes |= {} if output is None else {"output.value": json.dumps(output)}
        if kind == "LLM":
            attributes["llm.input_messages.0.message.content"] = span["input"]
            for n, block in enumerate(output["content"]):
                key = f"llm.output_messages.0.message.contents.{n}.message_content"
                attributes |= {f"{key}.type": "text", f"{key}.text": block["text"]}
            attributes["output.value"] = json.dumps(output)
            for n, call in enumerate(output["tool_calls"]):
                key = f"llm.output_messages.0.message.tool_calls.{n}.tool_call"
                attributes |= {f"{key}.id": call["id"], f"{key}.function.name": "search"}
                attributes[f"{key}.function.arguments"] = json.dumps(call["args"])
        times = {"start_time": span.get("start", 0.0), "end_time": span.get("end", span.get("start", 0.0))}
        failed = {"status_code": "ERROR", "status_message": span["error"]} if "error" in span else {"status_code": "OK"}
        about = {
            "context": {"trace_id": "t", "span_id": span["span"]},
            "parent_id": span["parent"],
            "name": span["kind"],
        }
        spans.append({**about, **times, **failed, "attributes": attributes})
    return spans


def langsmith(scenario: Scenario) -> list[dict[str, Any]]:
    """Return runs of LangSmith."""
    runs: list[dict[str, Any]] = []
    for span in plain_spans(scenario):
        kind = {"retriever": "retriever", "model": "llm", "other": "chain"}[span["kind"]]
        inputs: Any = {"query": span.get("input")}
        outputs: Any = None
        if kind == "retriever" and "output" in span:
            output = span["output"]
            outputs = {"documents": [{"id": d.get("id"), "page_content": d["text"], "metadata": {}} for d in output]}
        if kind == "llm":
            inputs = {"messages": [[{"kwargs": {"content": span["input"], "type": "human"}}]]}
            outputs = {"generations": [[{"text": "", "message": {"kwargs": span["output"]}}]]}
        about = {"id": span["span"], "trace_id": "t", "parent_run_id": span["parent"], "run_type": kind, "name": kind}
        times = {"start_time": span.get("start", 0.0), "end_time": span.get("end", span.get("start", 0.0))}
        runs.append({**about, **times, "inputs": inputs, "outputs": outputs, "error": span.get("error")})
    return runs


def otlp(scenario: Scenario) -> list[dict[str, Any]]:
    """Return an export of OpenTelemetry's conventions for GenAI, whose searches are tools."""
    spans: list[dict[str, Any]] = []
    for span in plain_spans(scenario):
        operation = {"retriever": "execute_tool", "model": "chat", "other": "invoke_agent"}[span["kind"]]
        attributes: dict[str, str] = {"gen_ai.operation.name": operation}
        if operation == "execute_tool":
            attributes |= {"gen_ai.tool.name": "search"}
            attributes["gen_ai.tool.call.arguments"] = json.dumps({"query": span["input"]})
            attributes |= {"gen_ai.tool.call.result": json.dumps(span["output"])} if "output" in span else {}
        if operation == "chat":
            calls = span["output"]["tool_calls"]
            parts = [{"type": "tool_call", "id": c["id"], "name": "search", "arguments": c["args"]} for c in calls]
            parts += [{**b, "content": b["text"]} for b in span["output"]["content"]]
            messages = [{"role": "user", "parts": [{"type": "text", "content": span["input"]}]}]
            attributes["gen_ai.input.messages"] = json.dumps(messages)
            attributes["gen_ai.output.messages"] = json.dumps([{"role": "assistant", "parts": parts}])
        times = (1_760_000_000 + span.get("start", 0.0), 1_760_000_000 + span.get("end", span.get("start", 0.0)))
        about = {"traceId": "t", "spanId": span["span"], "parentSpanId": span["parent"] or "", "name": operation}
        about |= {
            key: str(int(time * 1e9)) for key, time in zip(("startTimeUnixNano", "endTimeUnixNano"), times, strict=True)
        }
        listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        status = {"code": 2, "message": span["error"]} if "error" in span else {}
        spans.append({**about, "attributes": listed, "status": status})
    return [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}]


SPANS: dict[str, tuple[Any, Any]] = {
    "plain_spans": (plain_spans, ()),
    "openinference": (openinference, ()),
    "langsmith": (langsmith, ()),
    "otlp": (otlp, "search"),
}
"""Forms of spans, each with what writes it and the tool that searches."""


# The arguments and the results of tools in the conversations below.
SEARCH_ARGUMENTS = {"query": "a"}
FOUND = [{"id": document_id, "text": TEXTS[document_id]} for document_id in ("d1", "d2")]
TIMEOUT = '{"error": "timeout"}'


def call_ids(trajectory: rm.Trajectory) -> list[list[Any]]:
    """Return the ids that each call found."""
    return [ids_of(call.ranking) for call in trajectory.calls]


def converse_with_tools(*calls: Any, answer: Any = "It is [1] and [2].") -> list[Any]:
    """Return a conversation in which a model asks once, for a tool, arguments and a result each."""
    tool_calls = []
    results = []
    for number, (tool, arguments, result) in enumerate(calls):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        tool_calls.append({"id": f"c{number}", "function": function})
        results.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    question = {"role": "user", "content": "q"}
    return [
        question,
        {"role": "assistant", "tool_calls": tool_calls},
        *results,
        {"role": "assistant", "content": answer},
    ]

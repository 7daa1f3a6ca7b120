# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Reading traces and conversations against `json.loads` of every line of the file, and the memory it takes.

    uv run tests/benchmarks/traces.py --spans 20000
    uv run tests/benchmarks/traces.py --spans 100000 --rounds 1
    uv run tests/benchmarks/traces.py --forms

Every trace is an agent of LangChain recorded by OpenInference: four searches with eight documents, the models' messages
with all that was found so far, and the steps between. Every text is another one, so nothing is read only once.

`--forms` prints the ratio for lists of messages of each form, of the same searches, with texts of 60 and of 250 words,
and beside it the floor: `json.loads` of the file and of the results in its texts, and an item for each document.
"""

import argparse
import json
import random
import resource
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import retrieval_metrics as rm

MAX_RATIO = 3.0
"""Times `json.loads`."""
GIGABYTE = 1_000_000
"""In kilobytes, as the system counts them."""
SEARCHES = 4
DOCUMENTS = 8
STEPS = 2
WORDS = [f"word{number}" for number in range(3_000)]


def trace(rng: random.Random, number: int) -> list[dict[str, Any]]:
    """Return the spans of one question."""
    spans: list[dict[str, Any]] = []
    name = f"trace {number}"
    clock = number * 1_000
    read: list[str] = []

    def add(kind: str, parent: str | None, attributes: dict[str, Any]) -> str:
        nonlocal clock
        clock += 2
        id_ = f"{number}/{len(spans)}"
        position = [f"2026-01-01T00:00:00.{(clock + microseconds) % 1_000_000:06}Z" for microseconds in (0, 1)]
        context = {"trace_id": name, "span_id": id_, "trace_state": "[]"}
        span_attributes = {"openinference.span.kind": kind} | attributes
        times = {"start_time": position[0], "end_time": position[1]}
        status = {"status_code": "OK"}
        spans.append(
            {"name": kind.lower(), "context": context, "kind": "SpanKind.INTERNAL", "parent_id": parent, **times}
            | {
                "status": status,
                "attributes": span_attributes,
                "events": [],
                "links": [],
                "resource": {"attributes": {}},
            }
        )
        return id_

    root = add("CHAIN", None, {"metadata": json.dumps({"question_id": f"q{number}"})})
    for turn in range(SEARCHES):
        query = " ".join(rng.choices(WORDS, k=6))
        call = {"message.tool_calls.0.tool_call.id": f"call_{turn}", "message.role": "assistant"}
        call["message.tool_calls.0.tool_call.function.name"] = "search"
        call["message.tool_calls.0.tool_call.function.arguments"] = json.dumps({"query": query})
        messages = {f"llm.input_messages.{position}.message.content": text for position, text in enumerate(read)}
        call_attributes = {f"llm.output_messages.0.{key}": value for key, value in call.items()}
        add("LLM", root, messages | call_attributes | {"output.value": json.dumps({"generations": [query]})})
        for _ in range(STEPS):
            add("CHAIN", root, {"input.value": query, "output.value": query})
        documents = [
            {"id": f"d{rng.randrange(10**6)}", "page_content": " ".join(rng.choices(WORDS, k=60)), "metadata": {}}
            for _ in range(DOCUMENTS)
        ]
        tool = add("TOOL", root, {"tool.name": "search", "input.value": json.dumps({"query": query})})
        flat = {
            f"retrieval.documents.{position}.document.content": document["page_content"]
            for position, document in enumerate(documents)
        }
        span_attributes = json.dumps({"documents": documents})
        add(
            "RETRIEVER",
            tool,
            flat | {"input.value": query, "output.value": span_attributes, "output.mime_type": "application/json"},
        )
        read += [str(document["page_content"]) for document in documents]
    messages = {f"llm.input_messages.{position}.message.content": text for position, text in enumerate(read)}
    add("LLM", root, messages | {"output.value": json.dumps({"generations": ["an answer"]})})
    return spans


def conversation(rng: random.Random, words: int) -> tuple[list[dict[str, Any]], list[tuple[str, list[Any]]]]:
    """Return messages of OpenAI's chat, and what was asked and found in them."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Which letter comes when?"}]
    searches: list[tuple[str, list[Any]]] = []
    for turn in range(SEARCHES):
        query = " ".join(rng.choices(WORDS, k=6))
        documents = [
            {"id": f"d{rng.randrange(10**6)}", "text": " ".join(rng.choices(WORDS, k=words))} for _ in range(DOCUMENTS)
        ]
        searches.append((query, documents))
        function = {"name": "search", "arguments": json.dumps({"query": query})}
        calls = [{"id": f"c{turn}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": json.dumps(documents)})
    return [*messages, {"role": "assistant", "content": "So it is."}], searches


def anthropic(messages: list[dict[str, Any]], _: Any) -> list[dict[str, Any]]:
    """Return messages of Anthropic."""
    converted = [messages[0]]
    for message in messages[1:]:
        if message["role"] == "tool":
            text = [{"type": "text", "text": message["content"]}]
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text}
            converted.append({"role": "user", "content": [result]})
            continue
        calls = [(call["id"], call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
        used = [
            {"type": "tool_use", "id": id_, "name": "search", "input": json.loads(arguments)}
            for id_, arguments in calls
        ]
        text = [{"type": "text", "text": message["content"] or "Let me look."}]
        converted.append({"role": "assistant", "content": [*text, *used]})
    return converted


def responses(messages: list[dict[str, Any]], _: Any) -> list[dict[str, Any]]:
    """Return items of OpenAI's responses."""
    converted = [messages[0]]
    for message in messages[1:-1]:
        if message["role"] == "tool":
            converted.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
        else:
            call = message["tool_calls"][0]
            converted.append(
                {"type": "function_call", "id": f"f{call['id']}", "call_id": call["id"], **call["function"]}
            )
    text = [{"type": "output_text", "text": messages[-1]["content"], "annotations": []}]
    return [*converted, {"type": "message", "id": "m", "role": "assistant", "content": text}]


def langgraph(_: Any, searches: list[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    """Return the state of an agent of LangGraph, whose results keep documents beside a text."""
    converted: list[dict[str, Any]] = [{"type": "human", "content": "Which?", "id": "h", "additional_kwargs": {}}]
    for turn, (query, documents) in enumerate(searches):
        calls = [{"id": f"c{turn}", "type": "tool_call", "name": "search", "args": {"query": query}}]
        converted.append({"type": "ai", "content": "", "id": f"a{turn}", "additional_kwargs": {}, "tool_calls": calls})
        artifacts = [{"id": d["id"], "metadata": {}, "page_content": d["text"], "type": "Document"} for d in documents]
        text = "\n\n".join(f"[{n}] {d['text']}" for n, d in enumerate(documents))
        result = {
            "type": "tool",
            "tool_call_id": f"c{turn}",
            "id": f"t{turn}",
            "status": "success",
            "artifact": artifacts,
        }
        converted.append({**result, "content": text})
    return [*converted, {"type": "ai", "content": "So it is.", "id": "z", "additional_kwargs": {}, "tool_calls": []}]


def pydantic_ai(_: Any, searches: list[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    """Return messages of Pydantic AI."""
    converted: list[dict[str, Any]] = [
        {"kind": "request", "parts": [{"content": "Which?", "part_kind": "user-prompt"}]}
    ]
    for turn, (query, documents) in enumerate(searches):
        about = {"tool_name": "search", "tool_call_id": f"c{turn}"}
        call = {**about, "args": {"query": query}, "part_kind": "tool-call"}
        converted.append({"kind": "response", "parts": [call]})
        converted.append({"kind": "request", "parts": [{**about, "content": documents, "part_kind": "tool-return"}]})
    return [*converted, {"kind": "response", "parts": [{"content": "So it is.", "part_kind": "text"}]}]


def llama_index(_: Any, searches: list[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    """Return events of a workflow of LlamaIndex, each with all that its model reads."""
    converted: list[dict[str, Any]] = []
    read: list[dict[str, Any]] = [{"role": "user", "blocks": [{"block_type": "text", "text": "Which?"}]}]
    agent = {"current_agent_name": "Agent"}
    for turn, (query, documents) in enumerate(searches):
        call = {"tool_id": f"c{turn}", "tool_name": "search", "tool_kwargs": {"query": query}}
        asks = {"role": "assistant", "additional_kwargs": {}, "blocks": []}
        converted += [{"input": list(read), **agent}, {"response": asks, **agent, "tool_calls": [call]}, call]
        nodes = [{"node": {"id_": d["id"], "metadata": {}, "text": d["text"]}, "score": 0.5} for d in documents]
        blocks = [{"block_type": "text", "text": "\n\n".join(d["text"] for d in documents)}]
        converted.append({**call, "tool_output": {"blocks": blocks, "raw_output": nodes, "is_error": False}})
        read += [asks, {"role": "tool", "additional_kwargs": {"tool_call_id": f"c{turn}"}, "blocks": blocks}]
    answer = {"role": "assistant", "blocks": [{"block_type": "text", "text": "So it is."}]}
    return [*converted, {"input": list(read), **agent}, {"response": answer, **agent, "tool_calls": []}]


FORMS: dict[str, Any] = {
    "OpenAI chat": lambda chat, _: chat,
    "OpenAI responses": responses,
    "Anthropic": anthropic,
    "LangGraph": langgraph,
    "LlamaIndex events": llama_index,
    "Pydantic AI": pydantic_ai,
}
LENGTHS = 60, 250
"""Words of a document: a small chunk and a usual one."""
CONVERSATIONS = 150


def floor(path: Path, searches: list[list[tuple[str, list[Any]]]], *, parsed: bool) -> None:
    """Do what no reader can leave out: read the file, the results in its texts, and make an item of each document."""
    with path.open("rb") as file:
        lines = [json.loads(line) for line in file]
    texts = (
        []
        if parsed
        else [message["content"] for line in lines for message in line["messages"] if message["role"] == "tool"]
    )
    lists = [json.loads(text) for text in texts] or [
        documents for conversation_searches in searches for _, documents in conversation_searches
    ]
    items = [
        [rm.Retrieved(message["id"], message["text"], offsets_unverified=True) for message in documents]
        for documents in lists
    ]
    assert len(items) == len(searches) * SEARCHES


def print_forms(folder: Path, rounds: int) -> None:
    """Print the ratio of each form, and the floor of those whose results are texts and of those that hold objects."""
    for words in LENGTHS:
        rng = random.Random(0)
        conversations = [conversation(rng, words) for _ in range(CONVERSATIONS)]
        searches = [searches_ for _, searches_ in conversations]
        for name, write in FORMS.items():
            path = folder / "messages.jsonl"
            lines = [
                {"id": f"q{n}", "messages": write(*conversation_)} for n, conversation_ in enumerate(conversations)
            ]
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
            t = rm.read_traces(path, tools="search")
            assert all(len(conversation_.context or ()) == SEARCHES * DOCUMENTS for conversation_ in t.values())
            works: list[Any] = [lambda path=path: rm.read_traces(path, tools="search")]
            if name in {"OpenAI chat", "Pydantic AI"}:
                works.append(
                    lambda path=path, searches=searches, parsed=name == "Pydantic AI": floor(
                        path, searches, parsed=parsed
                    )
                )
            ratios = [median_ratio(work, path, rounds) for work in works]
            floors = "".join(f", floor {ratio:.1f}" for ratio in ratios[1:])
            print(f"{name}, {words} words: {ratios[0]:.1f} times json.loads{floors}")


def median_ratio(work: Any, path: Path, rounds: int) -> float:
    """Return how many times longer some work takes than `json.loads` of every line of a file."""

    def loads() -> None:
        with path.open("rb") as file:
            lines = [json.loads(line) for line in file]
        assert lines

    return statistics.median(seconds_of(work) / seconds_of(loads) for _ in range(rounds))


def seconds_of(work: Any) -> float:
    """Return the time of the processor that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> int:
    """Print the ratios, their median, and the memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--forms", action="store_true")
    options = parser.parse_args()
    if options.forms:
        with TemporaryDirectory() as folder:
            print_forms(Path(folder), options.rounds)
        return 0
    with TemporaryDirectory() as folder:
        path = Path(folder) / "spans.jsonl"
        rng = random.Random(0)
        written = 0
        traces = 0
        with path.open("w", encoding="utf-8") as file:
            while written < options.spans:
                spans = trace(rng, traces)
                file.writelines(f"{json.dumps(span)}\n" for span in spans)
                written, traces = written + len(spans), traces + 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        read = rm.read_traces(path, query="metadata.question_id")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert sum(len(trajectory.calls) for trajectory in read.values()) == traces * SEARCHES
        size = path.stat().st_size / 1e6
        print(f"{written} spans, {size:.0f} MB, peak {peak / 1000:.0f} MB, {before / 1000:.0f} MB before")
        del read
        ratios = [
            median_ratio(lambda: rm.read_traces(path, query="metadata.question_id"), path, 1)
            for _ in range(options.rounds)
        ]
    median = statistics.median(ratios)
    print(f"{' '.join(f'{ratio:.2f}' for ratio in ratios)}; median {median:.2f} times json.loads, at most {MAX_RATIO}")
    return int(median > MAX_RATIO or peak > GIGABYTE)


if __name__ == "__main__":
    sys.exit(main())

# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Reading traces against `json.loads` of every line of the file, and the memory it takes.

    uv run tests/benchmarks/traces.py --spans 20000
    uv run tests/benchmarks/traces.py --spans 100000 --rounds 1

Every trace is an agent of LangChain recorded by OpenInference: four searches with eight documents, the models' messages
with all that was found so far, and the steps between. Every text is another one, so nothing is read only once.
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

MOST = 3.0
"""Times `json.loads`."""
GIGABYTE = 1_000_000
"""In kilobytes, as the system counts them."""
SEARCHES, DOCUMENTS, STEPS = 4, 8, 2
WORDS = [f"word{number}" for number in range(3_000)]


def trace(rng: random.Random, number: int) -> list[dict[str, Any]]:
    """Return the spans of one question."""
    name, spans, clock = f"trace {number}", [], number * 1_000
    read: list[str] = []

    def add(kind: str, parent: str | None, attributes: dict[str, Any]) -> str:
        nonlocal clock
        clock += 2
        id_ = f"{number}/{len(spans)}"
        at = [f"2026-01-01T00:00:00.{(clock + more) % 1_000_000:06}Z" for more in (0, 1)]
        context = {"trace_id": name, "span_id": id_, "trace_state": "[]"}
        said = {"openinference.span.kind": kind} | attributes
        times = {"start_time": at[0], "end_time": at[1]}
        status = {"status_code": "OK"}
        spans.append(
            {"name": kind.lower(), "context": context, "kind": "SpanKind.INTERNAL", "parent_id": parent, **times}
            | {"status": status, "attributes": said, "events": [], "links": [], "resource": {"attributes": {}}}
        )
        return id_

    root = add("CHAIN", None, {"metadata": json.dumps({"question_id": f"q{number}"})})
    for turn in range(SEARCHES):
        query = " ".join(rng.choices(WORDS, k=6))
        call = {"message.tool_calls.0.tool_call.id": f"call_{turn}", "message.role": "assistant"}
        call["message.tool_calls.0.tool_call.function.name"] = "search"
        call["message.tool_calls.0.tool_call.function.arguments"] = json.dumps({"query": query})
        messages = {f"llm.input_messages.{at}.message.content": text for at, text in enumerate(read)}
        asked = {f"llm.output_messages.0.{key}": value for key, value in call.items()}
        add("LLM", root, messages | asked | {"output.value": json.dumps({"generations": [query]})})
        for _ in range(STEPS):
            add("CHAIN", root, {"input.value": query, "output.value": query})
        documents = [
            {"id": f"d{rng.randrange(10**6)}", "page_content": " ".join(rng.choices(WORDS, k=60)), "metadata": {}}
            for _ in range(DOCUMENTS)
        ]
        tool = add("TOOL", root, {"tool.name": "search", "input.value": json.dumps({"query": query})})
        flat = {f"retrieval.documents.{at}.document.content": one["page_content"] for at, one in enumerate(documents)}
        said = json.dumps({"documents": documents})
        add(
            "RETRIEVER",
            tool,
            flat | {"input.value": query, "output.value": said, "output.mime_type": "application/json"},
        )
        read += [str(one["page_content"]) for one in documents]
    messages = {f"llm.input_messages.{at}.message.content": text for at, text in enumerate(read)}
    add("LLM", root, messages | {"output.value": json.dumps({"generations": ["an answer"]})})
    return spans


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
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path, rng, written, traces = Path(folder) / "spans.jsonl", random.Random(0), 0, 0
        with path.open("w", encoding="utf-8") as file:
            while written < options.spans:
                spans = trace(rng, traces)
                file.writelines(f"{json.dumps(span)}\n" for span in spans)
                written, traces = written + len(spans), traces + 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        read = rm.read_traces(path, query="metadata.question_id")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert sum(len(one.calls) for one in read.values()) == traces * SEARCHES
        size = path.stat().st_size / 1e6
        print(f"{written} spans, {size:.0f} MB, peak {peak / 1000:.0f} MB, {before / 1000:.0f} MB before")
        del read
        ratios = []
        for _ in range(options.rounds):

            def loads() -> None:
                with path.open("rb") as file:
                    kept = [json.loads(line) for line in file]
                assert len(kept) == written

            ratios.append(seconds_of(lambda: rm.read_traces(path, query="metadata.question_id")) / seconds_of(loads))
    median = statistics.median(ratios)
    print(f"{' '.join(f'{ratio:.2f}' for ratio in ratios)}; median {median:.2f} times json.loads, at most {MOST}")
    return int(median > MOST or peak > GIGABYTE)


if __name__ == "__main__":
    sys.exit(main())

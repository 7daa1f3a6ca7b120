"""What a model asked for, what its provider searched, and what that means for a trace."""

import json
import re
from typing import Any

import pytest

import retrieval_metrics as rm
from agent_forms import D1, call_ids, chat
from agent_scenarios import ids_of
from trace_spans import OTEL_ROOT, RETRIEVAL, ROOT, make_documents, otel, read, search, span


def test_a_tool_of_the_provider_that_is_named_is_counted_and_not_left_out() -> None:
    documents = [{"type": "web_search_result", "url": "https://letters.example", "title": "Letters"}]
    blocks = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "a"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": documents},
        {"type": "text", "text": "It is alpha."},
    ]
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": blocks}]
    t = rm.read_traces([messages], tools="web_search")
    assert [call_ids(trajectory) for trajectory in t.values()] == [[["https://letters.example"]]]
    assert t.notes == ()
    other = [{"role": "user", "content": "q"}, *chat([("1", "a")], ("1", D1))]
    (note,) = rm.read_traces([messages, other], tools="search").notes
    assert note.startswith("1 span with a tool of the model's provider ('server_tool_use') excluded")


def test_a_file_search_of_openai_counts_if_it_is_named() -> None:
    texts = "Alpha is the first letter.", "Alpha was an ox."
    documents = [{"file_id": "f1", "filename": "letters.md", "score": 0.5, "text": text} for text in texts]
    call = {"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["alpha", "first letter"]}
    cites = [{"type": "file_citation", "index": 3, "file_id": "f1", "filename": "letters.md"}]
    answer = [{"type": "output_text", "text": "It is alpha.", "annotations": cites}]
    messages = [{"role": "user", "content": "q"}, {"type": "message", "role": "assistant", "content": answer}]
    messages.insert(1, {**call, "results": documents})
    (trajectory,) = rm.read_traces([messages], tools="file_search_call").values()
    assert [(call.query, call.error) for call in trajectory.calls] == [("alpha; first letter", None)]
    assert call_ids(trajectory) == [["f1", "f1"]]
    assert (ids_of(trajectory.context), ids_of(trajectory.citations)) == (["f1", "f1"], ["f1", "f1"])
    with pytest.raises(ValueError, match=r"name it: tools=\['file_search_call'\]"):
        rm.read_traces([messages])
    without = [messages[0], {**call, "results": None}, messages[2]]
    with pytest.raises(ValueError, match=r"span 'fs' \(file_search_call\) .* names no documents"):
        rm.read_traces([without], tools="file_search_call")
    t = rm.read_traces([messages, without], tools="file_search_call")
    assert [[call.error is None for call in trajectory.calls] for trajectory in t.values()] == [[True], [False]]
    assert t["2"].citations == ["f1"]
    assert t.notes[0].startswith("1 result unreadable, counted as a failed search: span 'fs'")


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"type": "file_search_call", "queries": ["a"], "results": [{"file_id": "x"}]}, "file_search_call"),
        ({"type": "server_tool_call", "name": "search", "id": "c"}, "server_tool_call"),
        ({"type": "server_tool_use", "name": "web_search", "input": {"query": "a"}, "id": "c"}, "server_tool_use"),
        ({"grounding_metadata": {"web_search_queries": ["a"]}}, "web_search_queries"),
    ],
)
def test_what_the_provider_of_a_model_searched_itself_is_not_nothing(part: Any, name: str) -> None:
    answer = span("1", "model", output={"content": [part, {"type": "text", "text": "It is x."}]})
    note = f"1 span with a tool of the model's provider ('{name}') excluded, span '1' (model) of trace 't'"
    with pytest.raises(ValueError, match=re.escape(note)):
        read(answer)
    t = rm.read_traces([ROOT, answer, search("2", 1, "a", make_documents("x"))])
    assert t.notes == (note,)
    flat = {"llm.output_messages.0.message.content": "It is x.", "output.value": json.dumps({"output": [part]})}
    listed = otel("4", "model", "1", attributes={"openinference.span.kind": "LLM", **flat})
    assert len(rm.read_traces([OTEL_ROOT, RETRIEVAL, listed]).notes) == 1
    ungrounded = {"content": "No.", "grounding_metadata": {"web_search_queries": None}}
    assert read(span("1", "model", output=ungrounded)).calls == []


def test_a_message_of_anthropic_asks_for_a_tool() -> None:
    asks = {"content": [{"type": "tool_use", "name": "search", "input": {"query": "a"}, "id": "c"}]}
    with pytest.raises(ValueError, match="the retrieved documents are unknown"):
        read(span("1", "model", output=asks))

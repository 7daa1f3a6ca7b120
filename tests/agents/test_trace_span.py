"""What a span holds: documents, texts that were handed on, and calls of tools; what cannot be told is refused."""

import json
import re
from typing import Any

import pytest

import retrieval_metrics as rm
from trace_spans import OTEL_ROOT, RETRIEVAL, ROOT, found, ids, model, otel, read, search, span


class TestWhatASpanHolds:
    @pytest.mark.parametrize(
        ("part", "said"),
        [
            ({"type": "file_search_call", "queries": ["a"], "results": [{"file_id": "x"}]}, "file_search_call"),
            ({"type": "server_tool_call", "name": "search", "id": "c"}, "server_tool_call"),
            ({"type": "server_tool_use", "name": "web_search", "input": {"query": "a"}, "id": "c"}, "server_tool_use"),
            ({"grounding_metadata": {"web_search_queries": ["a"]}}, "web_search_queries"),
        ],
    )
    def test_what_the_provider_of_a_model_searched_itself_is_not_nothing(self, part: Any, said: str) -> None:
        answer = span("1", "model", output={"content": [part, {"type": "text", "text": "It is x."}]})
        note = f"1 span with a tool of the model's provider ('{said}') left out, span '1' (model) of trace 't'"
        with pytest.raises(ValueError, match=re.escape(note)):
            read(answer)
        t = rm.read_traces([ROOT, answer, search("2", 1, "a", found("x"))])
        assert t.notes == (note,)
        flat = {"llm.output_messages.0.message.content": "It is x.", "output.value": json.dumps({"output": [part]})}
        listed = otel("4", "model", "1", attributes={"openinference.span.kind": "LLM", **flat})
        assert len(rm.read_traces([OTEL_ROOT, RETRIEVAL, listed]).notes) == 1
        ungrounded = {"content": "No.", "grounding_metadata": {"web_search_queries": None}}
        assert read(span("1", "model", output=ungrounded)).calls == []

    def test_documents_whose_texts_were_hidden_and_have_no_ids_are_refused(self) -> None:
        hidden = {"text": "__REDACTED__"}
        with pytest.raises(ValueError, match=re.escape("documents of span '1' (retriever) of trace 't' were hidden")):
            read(search("1", 1, "a", [hidden]))
        (call,) = read(search("1", 1, "a", [{"id": "x", **hidden}])).calls
        assert ids(call) == ["x"]

    def test_a_block_of_a_message_is_no_document(self) -> None:
        block = {"type": "text", "text": "I found nothing."}
        for one in (block, {"block_type": "text", "text": "I found nothing."}):
            with pytest.raises(ValueError, match="does not say which documents it found"):
                read(span("1", "tool", output=[one]), tools="tool")
        (call,) = read(span("1", "tool", output=[{**block, "metadata": {"source": "s"}}]), tools="tool").calls
        assert len(call.ranking) == 1

    def test_a_message_of_anthropic_asks_for_a_tool(self) -> None:
        asks = {"content": [{"type": "tool_use", "name": "search", "input": {"query": "a"}, "id": "c"}]}
        with pytest.raises(ValueError, match="nothing is known of what was found"):
            read(span("1", "model", output=asks))

    @pytest.mark.parametrize(
        "output", [{"documents": [], "rows": found("x")}, {"data": {"documents": []}, "rows": {"page": found("x")}}]
    )
    def test_an_empty_list_beside_a_filled_one_of_an_unknown_name_is_refused(self, output: Any) -> None:
        with pytest.raises(ValueError, match="a filled one under a name that is not known; documents= takes"):
            read(search("1", 1, "a", output))
        (call,) = read(search("1", 1, "a", output), documents=lambda said: [{"id": "x"}] if said else None).calls
        assert ids(call) == ["x"]

    def test_an_empty_list_beside_a_filled_one_says_nothing(self) -> None:
        for output in (
            {"documents": [], "nodes": found("x")},
            {"output": {"documents": found("x")}, "metadata": {"documents": []}},
            {"documents": found("x"), "nodes": found("x")},
            [{"documents": []}, {"documents": found("x")}],
        ):
            (call,) = read(search("1", 1, "a", output)).calls
            assert ids(call) == ["x"]
        (call,) = read(search("1", 1, "a", {"documents": [], "nodes": []})).calls
        assert ids(call) == []

    @pytest.mark.parametrize(
        "output",
        [{"documents": found("x"), "nodes": found("y")}, [{"documents": found("x", "y")}, {"documents": found("y")}]],
    )
    def test_lists_of_documents_that_differ_are_refused(self, output: Any) -> None:
        with pytest.raises(
            ValueError, match=r"span '1' .* it holds 2 lists of documents that differ; documents= takes"
        ):
            read(search("1", 1, "a", output))
        (call,) = read(search("1", 1, "a", output), documents=lambda _: ["x"]).calls
        assert call.ranking == ["x"]

    def test_of_an_error_no_stack_trace_is_kept(self) -> None:
        said = "ConnectionError('offline')Traceback (most recent call last):\n  File '/home/me/secret.py'"
        t = rm.read_traces([ROOT, search("1", 1, "a", error=said)])
        assert t["t"].calls[0].error == "ConnectionError('offline')"
        assert str(t.union().errors["t"]) == "ConnectionError('offline')"

    @pytest.mark.parametrize(
        "text", ["Zoë\u2019s \u201ccafé\u201d \U0001f600", "one\r\ntwo\x0b\x0cthree", r"C:\new\x41\u00e9 \"a\""]
    )
    def test_a_text_that_a_tool_handed_on_as_json_was_read(self, text: str) -> None:
        document = {"id": "x", "text": text}
        for handed_on in (json.dumps([document]), json.dumps(json.dumps([document])), str([document]), text):
            spans = [search("1", 1, "a", [document]), model("m", 2, read=f"Found: {handed_on}", said="so")]
            assert ids(read(*spans).context) == ["x"]

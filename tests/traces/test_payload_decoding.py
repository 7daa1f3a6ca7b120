"""Payloads are decoded from JSON, from what Python prints, and from lists that are flattened into attributes."""

import json
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.traces.payload_decoding import MAX_NESTING, FlattenedList, decode_payload
from trace_spans import ids, model, read, search


@pytest.mark.parametrize(
    "text", ["Zoë\u2019s \u201ccafé\u201d \U0001f600", "one\r\ntwo\x0b\x0cthree", r"C:\new\x41\u00e9 \"a\""]
)
def test_a_text_that_a_tool_handed_on_as_json_was_read(text: str) -> None:
    document = {"id": "x", "text": text}
    for handed_on in (json.dumps([document]), json.dumps(json.dumps([document])), str([document]), text):
        spans = [search("1", 1, "a", [document]), model("m", 2, read=f"Found: {handed_on}", answer="so")]
        assert ids(read(*spans).context) == ["x"]


@pytest.mark.parametrize("depth", [400, 600, 1000, 2000, 100_000])
def test_an_answer_of_brackets_does_not_hide_the_other_traces(depth: int) -> None:
    spans: list[dict[str, Any]] = []
    for trace, answer in (("t1", "see d1"), ("t2", "[" * depth), ("t3", "[" * depth + "]" * depth)):
        documents = [{"id": "d1", "text": "a text"}]
        search = {"trace": trace, "span": "s", "parent": "r", "kind": "retriever", "input": "x", "output": documents}
        model = {"trace": trace, "span": "m", "parent": "r", "kind": "model", "input": "use: a text", "output": answer}
        root = {"trace": trace, "span": "r", "parent": None, "kind": "other", "input": trace, "output": answer}
        spans += [root, search, model]
    run = rm.read_traces(spans, query="input").union()
    assert [[item.id for item in run[trace]] for trace in ("t1", "t2", "t3")] == [["d1"]] * 3


def test_the_attributes_of_the_caller_stay_as_they_were() -> None:
    document = {"content": "a text"}
    attributes = {"retrieval.documents.0.document": document, "retrieval.documents.0.document.id": "d1"}
    decoded = FlattenedList(attributes, "retrieval.documents").decode()
    assert decoded == [{"document": {"content": "a text", "id": "d1"}}]
    assert document == {"content": "a text"}


def test_only_what_is_nested_deeper_than_any_payload_stays_text() -> None:
    wide = json.dumps([[number] for number in range(2 * MAX_NESTING)])
    deep = "[" * (MAX_NESTING + 1) + "]" * (MAX_NESTING + 1)
    assert decode_payload(wide) == [[number] for number in range(2 * MAX_NESTING)]
    assert decode_payload(deep) == deep
    assert decode_payload(deep[1:-1]) == json.loads(deep[1:-1])
